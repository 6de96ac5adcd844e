"""The port of a gallery: photos of known position that an operator supplies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tts.domain.photo import Photo
from tts.domain.similar_photo import SimilarPhoto


class Gallery(Protocol):
    """Photos of known position."""

    async def similar(self, photos: Sequence[Photo]) -> tuple[SimilarPhoto, ...]:
        """Those that look most like any of the photos, most similar first, each once."""
