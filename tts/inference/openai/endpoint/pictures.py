"""From an image reference to the JPEG a model is sent: cropped, scaled once by the dialect's rule, and kept.

N rollouts of several turns send the same photo again and again; it is scaled and encoded the first time only. The cache
holds a bounded number of bytes and forgets the least recently used.
"""

from __future__ import annotations

import asyncio
import base64
import io
import math
from collections import OrderedDict
from collections.abc import Mapping
from typing import Final

from PIL import Image

from tts.domain.imaging import Resampling, ResizeRule
from tts.domain.photo import Photo
from tts.domain.photo_cleaning import DECODER_ERRORS
from tts.domain.tooling import ImageRef
from tts.errors import ModelError
from tts.inference.openai.endpoint.held_pictures import picture_name
from tts.ports import ModelRequest

_Key = tuple[str, str, int, int, Resampling]
_FILTERS: Final[Mapping[Resampling, Image.Resampling]] = {
    "bicubic": Image.Resampling.BICUBIC,
    "bilinear": Image.Resampling.BILINEAR,
    "lanczos": Image.Resampling.LANCZOS,
}


class PictureCache:
    """Data URLs by content, box, size and filter. One task encodes a picture; others meanwhile do so too."""

    def __init__(self, *, quality: int, max_bytes: int = 64 * 2**20) -> None:
        self._quality = quality
        self._max_bytes = max_bytes
        self._kept: OrderedDict[_Key, bytes] = OrderedDict()
        self._bytes = 0

    async def data_url(self, ref: ImageRef, request: ModelRequest, max_pixels: int | None = None) -> bytes:
        """`data:image/jpeg;base64,…` as ASCII bytes, of at most `max_pixels` where the endpoint has such a limit.

        Raises:
            ModelError: when the reference names nothing the request carries, or bytes that are no picture.
        """
        width, height = size_of(ref, request, max_pixels)
        resample = rule_for(ref, request).resample
        key = (ref.sha256, str(ref.box), width, height, resample)
        if (kept := self._kept.get(key)) is not None:
            self._kept.move_to_end(key)
            return kept
        source = source_of(ref, request)
        made = await asyncio.to_thread(_encode, source, ref, (width, height), resample, self._quality)
        if key not in self._kept:
            self._kept[key] = made
            self._bytes += len(made)
        while self._bytes > self._max_bytes and len(self._kept) > 1:
            _, dropped = self._kept.popitem(last=False)
            self._bytes -= len(dropped)
        return made

    def name(self, ref: ImageRef, request: ModelRequest, max_pixels: int | None = None) -> str:
        """The name of what `data_url` gives: equal names are equal pictures."""
        resample = rule_for(ref, request).resample
        return picture_name(ref.sha256, ref.box, *size_of(ref, request, max_pixels), self._quality, resample)


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


def _encode(source: Photo | bytes, ref: ImageRef, size: tuple[int, int], resample: Resampling, quality: int) -> bytes:
    if isinstance(source, Photo) and ref.box is None and (source.width, source.height) == size:
        return b"data:image/jpeg;base64," + base64.b64encode(source.data)
    out = io.BytesIO()
    picture_of(source, ref, size, resample).save(out, "JPEG", quality=quality)
    return b"data:image/jpeg;base64," + base64.b64encode(out.getvalue())
