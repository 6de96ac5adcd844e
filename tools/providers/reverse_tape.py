"""REVERSE's recorded searches as a provider, found by its own rules (`matching: reverse`).

Both searches belong to a photo: its path in the tables decides what can be found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tts.domain.photo import Box
from tts.domain.request import RequestContext
from tts.domain.tooling import WebFact
from tts.toolkit.reverse_cache.facts import as_facts
from tts.toolkit.reverse_cache.lookup import IOU_MIN, picture_call, text_call
from tts.toolkit.reverse_cache.recorded_searches import ReverseCache

_BOX_UNITS = 1000.0


class ReverseTapeSearch:
    """An `ImageSearchProvider`, and a `WebProvider` whose results depend on the photo.

    Args:
        cache: the recorded calls.
        iou: the intersection over union, in [0, 1], from which a recorded region matches.
    """

    name: Final = "tape"
    needs_network: Final = False

    def __init__(self, cache: ReverseCache, *, iou: float = IOU_MIN) -> None:
        self.cache = cache
        self._iou = iou

    async def search(self, query: str, *, limit: int, context: RequestContext) -> Sequence[WebFact]:
        """Nothing: without its photo a recorded query is not found."""
        return ()

    async def search_of_photo(
        self, photo_sha256: str, query: str, *, limit: int, context: RequestContext
    ) -> Sequence[WebFact]:
        """The recorded search of this photo whose query is most like `query`, however little."""
        call = text_call(self.cache, self.cache.path_of(photo_sha256), query)
        return () if call is None else as_facts(call.results, call.query)[:limit]

    async def search_image(
        self, photo_sha256: str, box: Box, *, goal: str, limit: int, context: RequestContext
    ) -> Sequence[WebFact]:
        """The first recorded region of this photo, where `box` overlaps it enough."""
        sides = [_BOX_UNITS * side for side in (box.x0, box.y0, box.x1, box.y1)]
        call, iou = picture_call(self.cache, self.cache.path_of(photo_sha256), sides)
        if call is None or iou is None or iou < self._iou:
            return ()
        return as_facts(call.results)[:limit]
