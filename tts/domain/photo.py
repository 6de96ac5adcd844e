"""The photo as everything behind the gateway sees it: upright, RGB, re-encoded, and without metadata.

`tts.domain.photo_cleaning` makes it.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from PIL import Image
from pydantic import Field

from geotts_client.box import Box as Box
from tts.domain.value import Value


class PhotoProblem(StrEnum):
    """Why bytes are not accepted as a photo: the `reason` of a PhotoError."""

    EMPTY = "empty"
    TOO_LARGE = "too-large"
    TOO_MANY_PIXELS = "too-many-pixels"
    TOO_SMALL = "too-small"
    NOT_AN_IMAGE = "not-an-image"
    DAMAGED = "damaged"


class PhotoLimits(Value):
    """What `load_photo` accepts. Pixels are checked on the header, before anything is decoded."""

    max_bytes: Annotated[int, Field(ge=1024)] = Field(
        default=32 * 2**20, description="largest file of a photo, in bytes"
    )
    max_pixels: Annotated[int, Field(ge=4096)] = Field(
        default=64_000_000, description="most pixels (width × height) of a photo"
    )
    max_side: Annotated[int, Field(ge=64)] = Field(default=30_000, description="longest side of a photo, in pixels")
    min_side: Annotated[int, Field(ge=1)] = Field(default=8, description="shortest side of a photo, in pixels")
    keep_pixels: Annotated[int, Field(ge=4096)] = Field(
        default=16_000_000, description="photos above this are scaled down to it before they are kept"
    )


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True)
class Photo:
    """A clean photo. Compared by identity; `sha256` names its content.

    `data` is an RGB JPEG without metadata, `source_sha256` names the bytes that were sent.
    """

    data: bytes
    sha256: str
    source_sha256: str
    width: int
    height: int
    media_type: str = "image/jpeg"

    def image(self) -> Image.Image:
        """A freshly decoded RGB picture (about 10 ms a megapixel)."""
        with Image.open(io.BytesIO(self.data), formats=("JPEG",)) as picture:
            picture.load()
            return picture.convert("RGB")

    def __repr__(self) -> str:
        return f"Photo({self.sha256[:12]}, {self.width}x{self.height})"
