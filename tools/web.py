"""Web search by text and by picture, from any provider.

A list of queries is several searches: each is cached by itself, all run side by side, and their results are numbered
through in the order of the queries. Hosts of photographs, whose pages tell where a photo was taken, can be hidden.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Protocol, runtime_checkable

from pydantic import Field

from tools.photo_hosts import is_photo_host
from tools.tool_provider import ToolProvider
from tools.zoom import BoxArguments
from tts.domain.photo import Box
from tts.domain.request import RequestContext
from tts.domain.tooling import WebFact
from tts.errors import ToolError, ToolErrorKind
from tts.ports.toolbox import ToolContext
from tts.toolkit.spec import Arguments, FunctionTool, Observation, Splitting, Tool, ToolSpec

_RESULTS_A_QUERY = 5
IMAGE_RESULTS = 10
IMAGE_SEARCH_TEXT = "Find pictures on the web that look like a region of the photo; returns title, source and url."
SPARE_RESULTS = 5  # asked for beyond what is shown, so that hiding some leaves enough


class WebProvider(ToolProvider, Protocol):
    """Where web results come from: title, snippet and url, best first. `number` is set by the tool, not here."""

    async def search(self, query: str, *, limit: int, context: RequestContext) -> Sequence[WebFact]:
        """Search the web.

        Args:
            query: what a person would type, 1 to 400 characters.
            limit: most results, 1 or more.
            context: the request: it bounds how long a call waits for its turn, and what is sent is listed under its id.

        Returns:
            The best first; empty when nothing is found.

        Raises:
            ToolError: the provider fails, with a kind such as UNAVAILABLE, TIMEOUT, RATE_LIMITED or QUOTA.
        """
        ...


@runtime_checkable
class PhotoWebProvider(Protocol):
    """A web provider whose results depend on the photo, such as searches that were recorded for it."""

    async def search_of_photo(
        self, photo_sha256: str, query: str, *, limit: int, context: RequestContext
    ) -> Sequence[WebFact]:
        """Search the web for one photo.

        Args:
            photo_sha256: the hash of the photo, as in `ToolContext.photo_hashes`; its pixels are not needed.
            query: as in `WebProvider.search`.
            limit: as in `WebProvider.search`.
            context: as in `WebProvider.search`.

        Returns:
            As in `WebProvider.search`.

        Raises:
            ToolError: as in `WebProvider.search`.
        """
        ...


class ImageSearchProvider(ToolProvider, Protocol):
    """Finds pictures that look like a region of the photo. The photo is named by its hash."""

    async def search_image(
        self, photo_sha256: str, box: Box, *, goal: str, limit: int, context: RequestContext
    ) -> Sequence[WebFact]:
        """Find pages with pictures that look like a region.

        Args:
            photo_sha256: the hash of the photo, as in `ToolContext.photo_hashes`.
            box: the region, in fractions of the photo's sides.
            goal: what the model hopes to recognise, in its words; empty when it does not say.
            limit: most pages, 1 or more.
            context: the request for which it is asked.

        Returns:
            The best first; empty when nothing is found.

        Raises:
            ToolError: the provider fails.
        """
        ...


Query = Annotated[str, Field(min_length=1, max_length=400)]


class WebSearchArguments(Arguments):
    """The arguments of `web_search`: one query, or several."""

    query: Annotated[
        Query | Annotated[tuple[Query, ...], Field(min_length=1)],
        Field(description="what to search for; a list runs several searches at once"),
    ]

    def queries(self) -> tuple[str, ...]:
        """Split the argument into queries.

        Returns:
            The first eight queries, 1 or more; further ones are dropped.
        """
        return (self.query,) if isinstance(self.query, str) else self.query[:8]


class ImageSearchArguments(BoxArguments):
    """The arguments of a search by picture: a box of a photo, and what the model hopes to recognise."""

    goal: Annotated[str, Field(max_length=200, description="what you hope to recognise")] = ""


def web_search_tool(provider: WebProvider) -> Tool:
    """Make `web_search`.

    Args:
        provider: where the results come from. They depend on the photo if it is a `PhotoWebProvider`, too.

    Returns:
        The tool. A query is cached by itself for a day; for its photo, too, where results depend on that.
    """

    async def search(arguments: WebSearchArguments, context: ToolContext) -> Observation:
        """One query: the broker splits lists. All results are kept, what is shown of them is decided by `join`."""
        (query,) = arguments.queries()
        hits = await found_pages(provider, query, limit=_RESULTS_A_QUERY + SPARE_RESULTS, context=context)
        if not hits:
            raise ToolError(f"nothing was found for {query!r}", kind=ToolErrorKind.NOT_FOUND)
        return Observation(text="", facts=tuple(hit.model_copy(update={"query": query}) for hit in hits))

    spec = ToolSpec(
        "web_search",
        "Search the web by text; returns title, snippet and url of the best hits.",
        provider=provider.name,
        needs_network=provider.needs_network,
        depends_on_photo=isinstance(provider, PhotoWebProvider),
        ttl_s=86400.0,
    )
    splitting: Splitting[WebSearchArguments] = Splitting(
        split=lambda arguments: [WebSearchArguments(query=query) for query in arguments.queries()],
        join=lambda arguments, parts, context: number_results(parts, _RESULTS_A_QUERY, context),
    )
    return FunctionTool(spec, WebSearchArguments, search, splitting)


async def found_pages(provider: WebProvider, query: str, *, limit: int, context: ToolContext) -> Sequence[WebFact]:
    """Search the web, for the call's first photo where results depend on it.

    Args:
        provider: is asked once.
        query, limit: as in `WebProvider.search`.
        context: the request, and the hashes of its photos; pixels are not needed.

    Returns:
        At most `limit` pages, best first; empty when nothing is found.

    Raises:
        ToolError: as `WebProvider.search`.
    """
    photos = context.photo_hashes()
    if isinstance(provider, PhotoWebProvider) and photos:
        return await provider.search_of_photo(photos[0], query, limit=limit, context=context.request)
    return await provider.search(query, limit=limit, context=context.request)


def image_search_tool(provider: ImageSearchProvider) -> Tool:
    """Make `image_search` with recorded results; `tools.region_search` has the tool for live services.

    Args:
        provider: where the results come from; photos are named to it by their hash.

    Returns:
        The tool. Its results are cached for a day.
    """

    async def search(arguments: ImageSearchArguments, box: Box, context: ToolContext) -> Sequence[WebFact]:
        photo = context.photo_hashes()[box.photo]
        limit = IMAGE_RESULTS + SPARE_RESULTS
        return await provider.search_image(photo, box, goal=arguments.goal, limit=limit, context=context.request)

    spec = ToolSpec(
        "image_search",
        IMAGE_SEARCH_TEXT,
        provider=provider.name,
        needs_network=provider.needs_network,
        depends_on_photo=True,
        ttl_s=86400.0,
    )
    return search_of_regions(spec, search)


def search_of_regions(
    spec: ToolSpec, search: Callable[[ImageSearchArguments, Box, ToolContext], Awaitable[Sequence[WebFact]]]
) -> Tool:
    """Make a tool that looks for pictures like a region; `search` gets it as a box of a photo that there is.

    Args:
        spec: that of the tool.
        search: finds pages, best first; none is NOT_FOUND. The first ten that are not hidden are shown.

    Returns:
        The tool. It refuses a photo that the request does not have (INVALID_ARGUMENTS).
    """

    async def run(arguments: ImageSearchArguments, context: ToolContext) -> Observation:
        photos = context.photo_hashes()
        if arguments.photo >= len(photos):
            raise ToolError(f"there are only {len(photos)} photos", kind=ToolErrorKind.INVALID_ARGUMENTS)
        left, top, right, bottom = arguments.bbox
        box = Box(x0=left, y0=top, x1=right, y1=bottom, photo=arguments.photo)
        found = await search(arguments, box, context)
        if not found:
            raise ToolError("no picture like this region was found", kind=ToolErrorKind.NOT_FOUND)
        return Observation(text="", facts=tuple(found))

    splitting: Splitting[ImageSearchArguments] = Splitting(
        split=lambda arguments: [arguments],
        join=lambda arguments, parts, context: number_results(parts, IMAGE_RESULTS, context),
    )
    return FunctionTool(spec, ImageSearchArguments, run, splitting)


def number_results(parts: Sequence[Observation | ToolError], limit: int, context: ToolContext) -> Observation:
    """Number the best results of each part, one after the other. A failed part is left out.

    Args:
        parts: an observation or an error for each part of the call, in order.
        limit: most results of each part, 1 or more.
        context: that of the call; its options say whether pages that tell of the photo are hidden.

    Returns:
        An observation with the results that are shown; their numbers begin with 1.

    Raises:
        ToolError: no result is left to show: the first error of a part, or NOT_FOUND where no part failed.
    """
    facts: list[WebFact] = []
    for part in parts:
        hits = [fact for fact in part.facts if isinstance(fact, WebFact)] if isinstance(part, Observation) else []
        shown = [hit for hit in hits if not (context.options.hide_photo_hosts and reveals_place(hit))][:limit]
        facts += [hit.model_copy(update={"number": len(facts) + i}) for i, hit in enumerate(shown, 1)]
    if facts:
        return Observation(text="\n\n".join(_entry_text(fact) for fact in facts), facts=tuple(facts))
    for part in parts:
        if isinstance(part, ToolError):
            raise part
    raise ToolError("nothing was found", kind=ToolErrorKind.NOT_FOUND)


def reveals_place(hit: WebFact) -> bool:
    """Tell whether a page reveals the place of the photo.

    Args:
        hit: a search result; its URL is absolute.

    Returns:
        True if it belongs to a photo site or shows this same picture.
    """
    return hit.same_picture or is_photo_host(hit.url)


def _entry_text(fact: WebFact) -> str:
    return "\n".join(part for part in (f"[{fact.number}] {fact.title}", fact.snippet, fact.url) if part)
