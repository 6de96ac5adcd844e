"""Recorded searches as a provider: texts are found by common words, pictures by the overlap of their boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tts.domain.photo import Box
from tts.domain.request import RequestContext
from tts.domain.tooling import WebFact
from tts.toolkit.tape.similar_searches import SearchTape


class TapeSearch:
    """The `WebProvider` and the `ImageSearchProvider` over a tape. What is not on it is an empty result.

    Args:
        tape: the recorded searches.
    """

    name: Final = "tape"
    needs_network: Final = False

    def __init__(self, tape: SearchTape) -> None:
        self._tape = tape

    async def search(self, query: str, *, limit: int, context: RequestContext) -> Sequence[WebFact]:
        """Hits of the recorded query that shares the most words with this one; none where they are too few."""
        return (self._tape.find_text(query) or ())[:limit]

    async def search_image(
        self, photo_sha256: str, box: Box, *, goal: str, limit: int, context: RequestContext
    ) -> Sequence[WebFact]:
        """Hits of the recorded box of this photo that overlaps `box` most; none where that is too little."""
        return (self._tape.find_picture(photo_sha256, box) or ())[:limit]
