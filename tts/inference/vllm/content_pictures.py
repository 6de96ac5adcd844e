"""Prepares pictures for an engine in this process: crops them, scales them by the dialect's rule, names them by
content.

The name is the content hash with the box, the size and the filter of scaling. It is what the engine's own caches are
keyed by, so the same region of the same photo is processed and encoded once, whoever asks.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from PIL import Image

from tts.domain.tooling import ImageRef
from tts.inference.picture_scaling import picture_of, rule_for, source_of
from tts.latest_entries import LatestEntries
from tts.ports.model_client import ModelRequest

_MAX_CACHED = 64


@dataclass(frozen=True, slots=True)
class Picture:
    """Pixels and the name they have in the engine's caches."""

    uuid: str
    image: Image.Image


class ContentPictures:
    """Makes the pictures of a request; the last few are kept decoded."""

    def __init__(self) -> None:
        self._cached_pictures: LatestEntries[str, Picture] = LatestEntries(_MAX_CACHED)

    async def pictures_of(self, request: ModelRequest, refs: tuple[ImageRef, ...]) -> list[Picture]:
        """One picture a reference, in order. Raises ModelError when one is gone."""
        return [await self._load_picture(ref, request) for ref in refs]

    async def _load_picture(self, ref: ImageRef, request: ModelRequest) -> Picture:
        rule = rule_for(ref, request)
        width, height = rule.size(ref.width, ref.height)
        box = ref.box
        region = "" if box is None else f":{box.x0:.5f},{box.y0:.5f},{box.x1:.5f},{box.y1:.5f}"
        uuid = f"{ref.sha256}{region}:{width}x{height}:{rule.resample}"
        picture = self._cached_pictures.get(uuid)
        if picture is None:
            source = source_of(ref, request)
            picture = Picture(uuid, await asyncio.to_thread(picture_of, source, ref, (width, height), rule.resample))
        self._cached_pictures[uuid] = picture
        return picture
