"""The five searches of the training loop: AMap's three and Google's two, and the search of a smaller set."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from tools.released.facts import amap_facts, serper_pages, serper_places
from tools.released.sources import amap, serper
from tools.released.sources.amap import AmapSource
from tools.released.sources.reply import RawReply
from tools.released.sources.serper import SerperSource
from tools.released.thinking_with_map.formats import detail_text, pages_text, places_text, pois_text, tips_text
from tools.released.thinking_with_map.texts import SYSTEM, no_query, no_reply, object_of, server_reply
from tools.released.written_arguments import WrittenArguments, spec_of_written
from tts.dialects.released.tool_name import released_tool_name
from tts.domain.request import RequestContext
from tts.domain.tooling import Fact
from tts.errors import ToolError, ToolErrorKind
from tts.ports.toolbox import ToolContext
from tts.toolkit.spec import FunctionTool, Observation, Tool

Ask = Callable[[str, RequestContext], Awaitable[RawReply]]
_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_KANA: Final = re.compile(r"[\u3040-\u30ff]")
_UNREADABLE_ERRORS: Final = (KeyError, IndexError, TypeError, AttributeError)


def amap_searches(source: AmapSource) -> list[Tool]:
    """Make the searches of the training with AMap.

    Args:
        source: AMap, or what answers in its form.

    Returns:
        `amap_input_tips`, `amap_keyword_search` and `amap_poi_detail`, for queries in any script.
    """

    def asks(service: str, key: str, **more: str) -> Ask:
        return lambda query, context: source.ask(service, {key: query, **more}, context)

    def named(with_points: bool) -> Callable[[Any, str], tuple[Fact, ...]]:
        return lambda reply, query: amap_facts(reply, with_points=with_points)

    return [
        _search_tool("amap_input_tips", "poi_input_tips", source, asks(amap.TIPS, "keywords"), tips_text, named(False)),
        # version 3 of the service does not know page_size; the authors send it all the same
        _search_tool("amap_keyword_search", "poi_keyword_search", source,
                asks(amap.TEXT, "keywords", page_size="15"), pois_text, named(False)),
        _search_tool("amap_poi_detail", "poi_detail", source, asks(amap.DETAIL, "id"), detail_text, named(True)),
    ]  # fmt: skip


def google_searches(source: SerperSource) -> list[Tool]:
    """Make the searches of the training with Google.

    Args:
        source: Serper, or what answers in its form.

    Returns:
        `google_search`, the same tool as `web_search` (its name in the set with zoom and search), and
        `google_map_search`.
    """

    def search(query: str, context: RequestContext) -> Awaitable[RawReply]:
        return source.ask(serper.SEARCH, {"q": query, "hl": "zh-CN" if _is_chinese(query) else "en-US"}, context)

    def places(query: str, context: RequestContext) -> Awaitable[RawReply]:
        return source.ask(serper.MAPS, {"q": query}, context)

    return [
        _search_tool("google_search", "web_search", source, search, pages_text, serper_pages),
        _search_tool("web_search", "web_search", source, search, pages_text, serper_pages),
        _search_tool("google_map_search", "poi_keyword_search", source, places, places_text,
                lambda reply, query: serper_places(reply)),
    ]  # fmt: skip


def _search_tool(
    name: str,
    ability: str,
    source: AmapSource | SerperSource,
    ask: Ask,
    show: Callable[[Any], str],
    facts: Callable[[Any, str], Sequence[Fact]],
) -> Tool:
    async def search(arguments: WrittenArguments, context: ToolContext) -> Observation:
        query = object_of(arguments.written).get("query")
        if not query or not isinstance(query, str):
            raise no_query()
        try:
            reply = await ask(query, context.request)
            text = show(reply.body) if reply.status < 400 else ""
            known = tuple(facts(reply.body, query)) if text else ()
        except ToolError as error:
            raise no_reply(query, error.kind) from error
        except _UNREADABLE_ERRORS:
            text, known = "", ()
        if not text:
            raise no_reply(query, ToolErrorKind.NOT_FOUND)
        return Observation(text=server_reply(text), facts=known)

    spec = spec_of_written(
        released_tool_name(ability, SYSTEM, name),
        f"{name} of Thinking with Map, as released",
        source,
    )
    return FunctionTool(spec, WrittenArguments, search)


def _is_chinese(query: str) -> bool:
    """The released server asks a language detector; Han without kana is Chinese."""
    return bool(_HAN.search(query)) and not _KANA.search(query)
