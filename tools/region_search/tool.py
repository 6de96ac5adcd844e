"""`image_search` over live services. The tool that answers from a tape is in `tools.web`; both look the same."""

from __future__ import annotations

from collections.abc import Sequence

from tools.region_search.search import RegionSearch
from tools.web import IMAGE_RESULTS, IMAGE_SEARCH_TEXT, SPARE_RESULTS, ImageSearchArguments, search_of_regions
from tts.domain.photo import Box
from tts.domain.tooling import WebFact
from tts.ports.toolbox import ToolContext
from tts.toolkit.spec import Tool, ToolSpec

TIMEOUT_S = 40.0
"""A lens search takes 2 to 15 s; keeping or putting the picture comes on top."""


def region_search_tool(regions: RegionSearch) -> Tool:
    """Make `image_search`, which runs only for requests that consent.

    Args:
        regions: cuts a region out of the photo and sends it; its `name` is stated as the provider of the tool.

    Returns:
        The tool. Its results are cached for a day.
    """

    async def search(arguments: ImageSearchArguments, box: Box, context: ToolContext) -> Sequence[WebFact]:
        return await regions.search(context, box, limit=IMAGE_RESULTS + SPARE_RESULTS)

    spec = ToolSpec(
        "image_search",
        IMAGE_SEARCH_TEXT,
        timeout_s=TIMEOUT_S,
        provider=regions.name,
        needs_network=True,
        depends_on_photo=True,
        sends_photo=True,
        ttl_s=86400.0,
    )
    return search_of_regions(spec, search)
