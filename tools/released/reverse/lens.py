"""Where the evaluation's search by picture gets its results: hits of a lens search in the form of its cache."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol
from urllib.parse import urlsplit

from pydantic import ValidationError

from tools.region_search.search import RegionSearch
from tools.tool_provider import StandIn, ToolProvider
from tools.web import ImageSearchProvider, reveals_place
from tts.domain.photo import Box
from tts.domain.tooling import WebFact
from tts.errors import ToolError, ToolErrorKind
from tts.ports.toolbox import ToolContext

_BOX_UNITS = 1000.0
_MAX_RESULTS = 15
Hits = Sequence[dict[str, Any]]


class LensSource(ToolProvider, Protocol):
    """Searches by picture, in the form of the evaluation's cache."""

    @property
    def sends_photo(self) -> bool:
        """Whether asking it sends the region to somebody else."""
        ...

    async def hits(self, box: Sequence[int], context: ToolContext) -> Hits:
        """Search for a region of the first photo.

        Args:
            box: left, top, right and bottom in whole thousandths of the photo's sides.
            context: the photos, or their hashes where the source needs no pixels.

        Returns:
            Hits with `pos`, `title`, `link` and `source`, best first; empty when nothing is found.

        Raises:
            ToolError: no reply came, or the region lies outside the photo (NOT_FOUND).
        """
        ...


class LensStandIn(StandIn[ImageSearchProvider]):
    """Another provider of region search in the same form. It is asked with an empty goal, by the hash of the photo."""

    sends_photo = False

    async def hits(self, box: Sequence[int], context: ToolContext) -> Hits:
        """At most 15 hits for the region of the first photo, by its hash."""
        photo = context.photo_hashes()[0]
        return _hits_from_facts(
            await self._provider.search_image(photo, _to_box(box), goal="", limit=_MAX_RESULTS, context=context.request)
        )


class LiveLens:
    """Live region search in the same form.

    Args:
        regions: cuts the region out of the photo and sends it.
    """

    needs_network = True
    sends_photo = True

    def __init__(self, regions: RegionSearch) -> None:
        self._regions = regions
        self.name = regions.name

    async def hits(self, box: Sequence[int], context: ToolContext) -> Hits:
        """At most 15 hits, `source` their host; none that reveals the place of the photo, if
        photo hosts are hidden."""
        found = await self._regions.search(context, _to_box(box), limit=_MAX_RESULTS)
        shown = [hit for hit in found if not (context.options.hide_photo_hosts and reveals_place(hit))]
        return _hits_from_facts([hit.model_copy(update={"source": urlsplit(hit.url).hostname or ""}) for hit in shown])


def _to_box(box: Sequence[int]) -> Box:
    x0, y0, x1, y1 = (min(1.0, max(0.0, side / _BOX_UNITS)) for side in box)
    try:
        return Box(x0=x0, y0=y0, x1=x1, y1=y1)
    except ValidationError:
        raise ToolError("the region lies outside the photo", kind=ToolErrorKind.NOT_FOUND) from None


def _hits_from_facts(found: Sequence[WebFact]) -> Hits:
    return [
        {"pos": number, "title": hit.title, "link": hit.url, "source": hit.source}
        for number, hit in enumerate(found, 1)
    ]


def hits_of_organic(organic: Sequence[dict[str, Any]], excluded: Sequence[str] = ()) -> list[dict[str, Any]]:
    """The first fifteen results of a parsed lens page, without excluded hosts; numbers are the page's own.

    Args:
        organic: the results as the page has them: `pos`, `title`, `url` and `domain`, each of which may be missing.
        excluded: host names in either case; a result whose domain, or else whose URL, contains one of them is left out.

    Returns:
        The `pos`, `title`, `link` and `source` of each result, as `LensSource.hits` gives them.
    """
    kept = [hit for hit in organic[:_MAX_RESULTS] if not _is_from_hosts(hit, excluded)]
    return [
        {
            "pos": hit.get("pos", number),
            "title": hit.get("title", ""),
            "link": hit.get("url", ""),
            "source": hit.get("domain", ""),
        }
        for number, hit in enumerate(kept, 1)
    ]


def _is_from_hosts(hit: dict[str, Any], hosts: Sequence[str]) -> bool:
    where = str(hit.get("domain", "") or hit.get("url", "")).lower()
    return any(host.lower() in where for host in hosts)
