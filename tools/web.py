"""Web search by text and by picture, from any provider."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Protocol

from pydantic import Field

from tools.zoom import BoxArguments
from tts.domain.photo import Box, Photo
from tts.domain.tooling import WebFact
from tts.errors import ToolError, ToolErrorKind
from tts.ports import ToolContext
from tts.toolkit.spec import Arguments, FunctionTool, Observation, Tool, ToolSpec

_RESULTS_A_QUERY = 5
_IMAGE_RESULTS = 10


class WebProvider(Protocol):
    """Where web results come from: title, snippet and url, best first. `number` is set by the tool, not here."""

    @property
    def name(self) -> str: ...

    @property
    def needs_network(self) -> bool: ...

    async def search(self, query: str, *, limit: int) -> Sequence[WebFact]: ...


class ImageSearchProvider(Protocol):
    """Where pictures like a region of the photo are found."""

    @property
    def name(self) -> str: ...

    @property
    def needs_network(self) -> bool: ...

    async def search_image(self, photo: Photo, box: Box, *, goal: str, limit: int) -> Sequence[WebFact]: ...


Query = Annotated[str, Field(min_length=1, max_length=400)]


class WebSearchArguments(Arguments):
    query: Annotated[
        Query | tuple[Query, ...], Field(description="what to search for; a list runs several searches at once")
    ]

    def queries(self) -> tuple[str, ...]:
        return (self.query,) if isinstance(self.query, str) else self.query[:8]


class ImageSearchArguments(BoxArguments):
    goal: Annotated[str, Field(max_length=200, description="what you hope to recognise")] = ""


def web_search_tool(provider: WebProvider) -> Tool:
    """Queries run side by side; results keep the order of the queries and are numbered through."""

    async def search(arguments: WebSearchArguments, context: ToolContext) -> Observation:
        queries = arguments.queries()
        found = await asyncio.gather(*(provider.search(query, limit=_RESULTS_A_QUERY) for query in queries))
        return _numbered([(query, list(facts)[:_RESULTS_A_QUERY]) for query, facts in zip(queries, found, strict=True)])

    spec = ToolSpec(
        "web_search",
        "Search the web by text; returns title, snippet and url of the best hits.",
        provider=provider.name,
        needs_network=provider.needs_network,
    )
    return FunctionTool(spec, WebSearchArguments, search)


def image_search_tool(provider: ImageSearchProvider) -> Tool:
    async def search(arguments: ImageSearchArguments, context: ToolContext) -> Observation:
        box = arguments.box(context)
        photo = context.photos[box.photo]
        found = await provider.search_image(photo, box, goal=arguments.goal, limit=_IMAGE_RESULTS)
        return _numbered([(arguments.goal, list(found)[:_IMAGE_RESULTS])])

    spec = ToolSpec(
        "image_search",
        "Find pictures on the web that look like a region of the photo; returns title, source and url.",
        local=True,
        provider=provider.name,
        needs_network=provider.needs_network,
    )
    return FunctionTool(spec, ImageSearchArguments, search)


def _numbered(found: list[tuple[str, list[WebFact]]]) -> Observation:
    facts: list[WebFact] = []
    for query, hits in found:
        for hit in hits:
            facts.append(hit.model_copy(update={"number": len(facts) + 1, "query": query}))
    if not facts:
        raise ToolError("nothing was found", kind=ToolErrorKind.NOT_FOUND)
    return Observation(text="\n\n".join(_entry(fact) for fact in facts), facts=tuple(facts))


def _entry(fact: WebFact) -> str:
    return "\n".join(part for part in (f"[{fact.number}] {fact.title}", fact.snippet, fact.url) if part)
