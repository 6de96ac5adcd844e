"""The port of a gallery: photos of known position that an operator supplies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tts.domain.photo import Photo
from tts.domain.similar_photo import SimilarPhoto


class Gallery(Protocol):
    """Photos of known position."""

    async def similar(self, photos: Sequence[Photo]) -> tuple[SimilarPhoto, ...]:
        """Find the photos of the gallery that look most like any of the photos.

        Args:
            photos: the photos of one request, 1 or more.

        Returns:
            The most similar first, each once, as many as the configuration shows.
        """
