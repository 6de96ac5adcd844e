"""Makes the picture that is sent: a region of a photo, encoded from its pixels, so that the file has no other data."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Final

from PIL import Image

from tts.domain.photo import Box, Photo
from tts.errors import ToolError, ToolErrorKind

MEDIA_TYPE: Final = "image/jpeg"
_JPEG_QUALITY = 90
_MIN_SIDE_PX = 16


@dataclass(frozen=True, slots=True)
class RegionPicture:
    """A JPEG without metadata: the region that is searched for, which may be as large as the photo.

    Attributes:
        data: the bytes of the file.
        width: pixels.
        height: pixels.
    """

    data: bytes
    width: int
    height: int


def cut_region(photo: Photo, box: Box, *, max_side_px: int) -> Image.Image:
    """Cut a region out of a photo. CPU-bound: call it in a thread.

    Args:
        photo: the photo, whichever number `box` states.
        box: the region, in fractions of the photo's sides.
        max_side_px: longest side of the result, in pixels; a smaller region keeps its size.

    Returns:
        The pixels of the box, scaled down to `max_side_px`.

    Raises:
        ToolError: INVALID_ARGUMENTS for a region of less than 16 pixels a side.
    """
    left, top, right, bottom = box.pixels(photo.width, photo.height)
    if min(right - left, bottom - top) < _MIN_SIDE_PX:
        raise ToolError(
            f"the region covers {right - left}x{bottom - top} pixels; take at least {_MIN_SIDE_PX} each way",
            kind=ToolErrorKind.INVALID_ARGUMENTS,
        )
    region = photo.image().crop((left, top, right, bottom))
    region.thumbnail((max_side_px, max_side_px), Image.Resampling.LANCZOS)
    return region


def encode_picture(pixels: Image.Image) -> RegionPicture:
    """Encode the pixels alone: whatever else the picture carries is not written.

    Args:
        pixels: a picture of any mode; it is written in RGB.

    Returns:
        A fresh JPEG.
    """
    bare = Image.frombytes("RGB", pixels.size, pixels.convert("RGB").tobytes())
    out = io.BytesIO()
    bare.save(out, "JPEG", quality=_JPEG_QUALITY)
    return RegionPicture(out.getvalue(), bare.width, bare.height)
