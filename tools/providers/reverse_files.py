"""REVERSE's SQLite files of evaluation as a provider: it answers recorded calls only, by their exact key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tts.domain.photo import Box
from tts.domain.request import RequestContext
from tts.domain.tooling import WebFact
from tts.toolkit.reverse_cache.evaluation import EvaluationCache

_BOX_UNITS = 1000.0


class ReverseFilesSearch:
    """A `WebProvider` and an `ImageSearchProvider`.

    Args:
        cache: the recorded replies.
        paths: the path under which each photo was recorded, by the SHA-256 of the photo.
    """

    name: Final = "tape"
    needs_network: Final = False

    def __init__(self, cache: EvaluationCache, paths: Mapping[str, str]) -> None:
        self._cache = cache
        self._paths = paths

    async def search(self, query: str, *, limit: int, context: RequestContext) -> Sequence[WebFact]:
        """Hits of the recorded query that differs in case and outer blanks at most; else nothing."""
        found = self._cache.text(query)
        return [] if found is None else _facts(found[1], found[0])[:limit]

    async def search_image(
        self, photo_sha256: str, box: Box, *, goal: str, limit: int, context: RequestContext
    ) -> Sequence[WebFact]:
        """The box is cut to whole thousandths, as the released code does before it asks."""
        sides = [int(round(_BOX_UNITS * side, 6)) for side in (box.x0, box.y0, box.x1, box.y1)]
        found = self._cache.picture(self._paths.get(photo_sha256, photo_sha256), sides)
        return _facts(found or (), "")[:limit]


def _facts(hits: Sequence[Mapping[str, Any]], query: str) -> list[WebFact]:
    return [
        WebFact(
            number=number,
            title=str(hit.get("title") or ""),
            snippet=str(hit.get("content") or ""),
            url=str(hit.get("url") or hit.get("link") or ""),
            query=query,
            source=str(hit.get("source") or "tape"),
        )
        for number, hit in enumerate(hits, 1)
    ]
