"""Which picture an image reference names, in which size a model sees it, and the picture itself, cropped and scaled.

Every engine sends pictures by these rules, so that the same reference is the same picture for each of them.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from typing import Final

from PIL import Image

from tts.domain.photo import Photo
from tts.domain.photo_cleaning import DECODER_ERRORS
from tts.domain.picture_rules import Resampling, ResizeRule
from tts.domain.tooling import ImageRef
from tts.errors import ModelError
from tts.ports.model_client import ModelRequest

_FILTERS: Final[Mapping[Resampling, Image.Resampling]] = {
    "bicubic": Image.Resampling.BICUBIC,
    "bilinear": Image.Resampling.BILINEAR,
    "lanczos": Image.Resampling.LANCZOS,
}


def size_of(ref: ImageRef, request: ModelRequest, max_pixels: int | None = None) -> tuple[int, int]:
    """(width, height) in pixels in which a picture is sent."""
    width, height = rule_for(ref, request).size(ref.width, ref.height)
    if max_pixels is None or width * height <= max_pixels:
        return width, height
    shrink = math.sqrt(max_pixels / (width * height))
    return max(1, math.floor(width * shrink)), max(1, math.floor(height * shrink))


def rule_for(ref: ImageRef, request: ModelRequest) -> ResizeRule:
    """The rule of whole photos, or the one of crops and maps."""
    whole = ref.box is None and any(photo.sha256 == ref.sha256 for photo in request.photos)
    return request.pictures.photo if whole else request.pictures.crop


def source_of(ref: ImageRef, request: ModelRequest) -> Photo | bytes:
    """What a reference names: a photo of the request, or a file a tool made."""
    photo = next((photo for photo in request.photos if photo.sha256 == ref.sha256), None)
    source = photo or request.files.get(ref.sha256)
    if source is None:
        raise ModelError(f"the conversation names a picture that is gone: {ref.sha256[:12]}")
    return source


def picture_of(source: Photo | bytes, ref: ImageRef, size: tuple[int, int], resample: Resampling) -> Image.Image:
    """The RGB picture a reference names, cropped to its box and scaled to `size` (width, height). CPU-bound."""
    try:
        whole = source.image() if isinstance(source, Photo) else Image.open(io.BytesIO(source)).convert("RGB")
    except DECODER_ERRORS as error:
        raise ModelError(f"a picture could not be decoded: {ref.sha256[:12]}") from error
    picture = whole if ref.box is None else whole.crop(ref.box.pixels(whole.width, whole.height))
    return picture if picture.size == size else picture.resize(size, _FILTERS[resample])
