"""The photos of a gallery that look most like those of a request."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

import numpy as np

from tts.config.gallery import GalleryConfig
from tts.domain.photo import Photo
from tts.domain.similar_photo import SimilarPhoto
from tts.gallery.encoder import ImageEncoder
from tts.gallery.table import read_gallery

_MAX_REMEMBERED: Final = 256


class PhotoGallery:
    """The `Gallery` port. A photo is encoded once for all groups of a request that run in one process.

    Raises ConfigError or DataError at start, as encoder and table do.
    """

    def __init__(self, config: GalleryConfig) -> None:
        self._n_shown = config.shown
        self._encoder = ImageEncoder(config)
        self._table = read_gallery(config, self._encoder.dimensions)
        self._found_photos: OrderedDict[str, tuple[SimilarPhoto, ...]] = OrderedDict()
        self._search_lock = asyncio.Lock()

    async def similar(self, photos: Sequence[Photo]) -> tuple[SimilarPhoto, ...]:
        """The nearest of all the photos together, nearest first, each once."""
        best: dict[str, SimilarPhoto] = {}
        for photo in photos:
            for found in await self._find_similar(photo):
                if found.id not in best or best[found.id].similarity < found.similarity:
                    best[found.id] = found
        return tuple(sorted(best.values(), key=lambda found: -found.similarity)[: self._n_shown])

    async def _find_similar(self, photo: Photo) -> tuple[SimilarPhoto, ...]:
        async with self._search_lock:
            if photo.sha256 not in self._found_photos:
                self._found_photos[photo.sha256] = await asyncio.to_thread(self._search_nearest, photo)
            self._found_photos.move_to_end(photo.sha256)
            while len(self._found_photos) > _MAX_REMEMBERED:
                self._found_photos.popitem(last=False)
            return self._found_photos[photo.sha256]

    def _search_nearest(self, photo: Photo) -> tuple[SimilarPhoto, ...]:
        table = self._table
        similarities = table.similarities(self._encoder.encode(photo.image()))
        shown = min(self._n_shown, len(similarities))
        unordered = np.argpartition(-similarities, shown - 1)[:shown]
        order = sorted(unordered.tolist(), key=lambda i: (-float(similarities[i]), i))
        return tuple(
            SimilarPhoto(id=table.ids[i], point=table.points[i], similarity=round(float(similarities[i]), 4))
            for i in order
        )
