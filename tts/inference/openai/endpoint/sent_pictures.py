"""From an image reference to the JPEG a model is sent: cropped, scaled once by the dialect's rule, and kept.

N rollouts of several turns send the same photo again and again; it is scaled and encoded the first time only. The cache
holds a bounded number of bytes and forgets the least recently used.
"""

from __future__ import annotations

import asyncio
import base64
import io
from collections import OrderedDict

from tts.domain.photo import Photo
from tts.domain.picture_rules import Resampling
from tts.domain.tooling import ImageRef
from tts.inference.openai.endpoint.held_pictures import picture_name
from tts.inference.picture_scaling import picture_of, rule_for, size_of, source_of
from tts.ports.model_client import ModelRequest

_Key = tuple[str, str, int, int, Resampling]


class PictureCache:
    """Data URLs by content, box, size and filter. One task encodes a picture; others meanwhile do so too."""

    def __init__(self, *, quality: int, max_bytes: int = 64 * 2**20) -> None:
        self._quality = quality
        self._max_bytes = max_bytes
        self._cached_pictures: OrderedDict[_Key, bytes] = OrderedDict()
        self._cached_bytes = 0

    async def data_url(self, ref: ImageRef, request: ModelRequest, max_pixels: int | None = None) -> bytes:
        """`data:image/jpeg;base64,…` as ASCII bytes, of at most `max_pixels` where the endpoint has such a limit.

        Raises:
            ModelError: when the reference names nothing the request carries, or bytes that are no picture.
        """
        width, height = size_of(ref, request, max_pixels)
        resample = rule_for(ref, request).resample
        key = (ref.sha256, str(ref.box), width, height, resample)
        if (kept := self._cached_pictures.get(key)) is not None:
            self._cached_pictures.move_to_end(key)
            return kept
        source = source_of(ref, request)
        made = await asyncio.to_thread(_encode, source, ref, (width, height), resample, self._quality)
        if key not in self._cached_pictures:
            self._cached_pictures[key] = made
            self._cached_bytes += len(made)
        while self._cached_bytes > self._max_bytes and len(self._cached_pictures) > 1:
            _, dropped = self._cached_pictures.popitem(last=False)
            self._cached_bytes -= len(dropped)
        return made

    def name(self, ref: ImageRef, request: ModelRequest, max_pixels: int | None = None) -> str:
        """The name of what `data_url` gives: equal names are equal pictures."""
        resample = rule_for(ref, request).resample
        return picture_name(ref.sha256, ref.box, *size_of(ref, request, max_pixels), self._quality, resample)


def _encode(source: Photo | bytes, ref: ImageRef, size: tuple[int, int], resample: Resampling, quality: int) -> bytes:
    if isinstance(source, Photo) and ref.box is None and (source.width, source.height) == size:
        return b"data:image/jpeg;base64," + base64.b64encode(source.data)
    out = io.BytesIO()
    picture_of(source, ref, size, resample).save(out, "JPEG", quality=quality)
    return b"data:image/jpeg;base64," + base64.b64encode(out.getvalue())
