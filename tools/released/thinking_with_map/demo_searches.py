"""The searches of the notebook (demo/qwen_agent/tools): JSON of AMap's places, texts of Google's results.

Nothing is cut and nothing is asked twice. AMap's keyword search and details are those of version 5.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from http.client import responses
from typing import Any, Final

from tools.released.facts import amap_facts, serper_pages, serper_places
from tools.released.sources import amap, serper
from tools.released.sources.amap import AmapSource
from tools.released.sources.reply import JsonObject, RawReply
from tools.released.sources.serper import SerperSource
from tools.released.thinking_with_map.demo_arguments import demo_arguments, failed_as
from tools.released.thinking_with_map.formats import pages_text, places_text
from tools.released.written_arguments import WrittenArguments, spec_of_written
from tts.dialects.released.thinking_with_map.demo import DEMO_SYSTEM, demo_tool
from tts.domain.request import RequestContext
from tts.domain.tooling import Fact
from tts.errors import ToolError, ToolErrorKind
from tts.ports.toolbox import ToolContext, ToolSchema
from tts.toolkit.spec import FunctionTool, Observation, Tool

Ask = Callable[[str, RequestContext], Awaitable[RawReply]]
Texts = Sequence[ToolSchema]
_SERPER_URL: Final = "https://google.serper.dev"
_CALL_ERROR_PREFIX: Final = "20"  # how AMap's codes for wrong parameters, or for no result, begin
_KEY_ERROR_STATUSES: Final = (401, 402, 403, 429)
_UNREADABLE_ERRORS: Final = (KeyError, IndexError, TypeError, AttributeError)


def demo_amap_searches(source: AmapSource, texts: Texts = ()) -> list[Tool]:
    """Make the searches of the notebook with AMap.

    Args:
        source: AMap, or what answers in its form.
        texts: the schemas of the tools as they are listed to the model. Arguments are held against them, and a refusal
            quotes them. A tool that is not among them uses the schema that GeoTTS lists.

    Returns:
        `amap_input_tips`, `amap_keyword_search` and `amap_poi_detail`.
    """

    def asks(service: str, key: str, **more: str) -> Ask:
        return lambda value, context: source.ask(service, {key: value, **more}, context)

    return [
        _search_tool("amap_input_tips", source, asks(amap.TIPS, "keywords"), _tips_text, _facts_without_points, texts),
        _search_tool(
            "amap_keyword_search",
            source,
            asks(amap.TEXT_V5, "keywords", page_size="25"),
            _places_text,
            _facts_without_points,
            texts,
        ),
        _search_tool("amap_poi_detail", source, asks(amap.DETAIL_V5, "id"), _detail_text, _facts_with_points, texts),
    ]


def demo_google_searches(source: SerperSource, texts: Texts = ()) -> list[Tool]:
    """Make the searches of the notebook with Google.

    Args:
        source: Serper, or what answers in its form.
        texts: as in `demo_amap_searches`.

    Returns:
        `web_search`, for China and in Chinese, and `google_map_search`.
    """

    def search(query: str, context: RequestContext) -> Awaitable[RawReply]:
        return source.ask(serper.SEARCH, {"q": query, "gl": "cn", "hl": "zh-cn"}, context)

    def places(query: str, context: RequestContext) -> Awaitable[RawReply]:
        return source.ask(serper.MAPS, {"q": query}, context)

    return [
        _search_tool("web_search", source, search, _google_text(serper.SEARCH, pages_text), serper_pages, texts),
        _search_tool("google_map_search", source, places, _google_text(serper.MAPS, places_text),
                lambda reply, query: serper_places(reply), texts),
    ]  # fmt: skip


def _search_tool(
    name: str,
    source: AmapSource | SerperSource,
    ask: Ask,
    show: Callable[[RawReply], str],
    facts: Callable[[Any, str], Sequence[Fact]],
    texts: Texts,
) -> Tool:
    served = demo_tool(name)
    schema = next((text.parameters for text in texts if text.name == name), served.schema().parameters)
    (key,) = served.required

    async def search(arguments: WrittenArguments, context: ToolContext) -> Observation:
        value = demo_arguments(name, arguments.written, schema)[key]
        reply: RawReply | None = None
        try:
            reply = await ask(value, context.request)
            return Observation(text=show(reply), facts=tuple(facts(reply.body, value)))
        except _RefusedReply as error:
            raise failed_as(name, error.exception, error.message, error.kind) from error
        except ToolError as error:
            raise failed_as(name, "ConnectionError", error.detail, error.kind) from error
        except _UNREADABLE_ERRORS as error:
            answered = reply is not None and reply.status < 400
            kind = ToolErrorKind.NOT_FOUND if answered else ToolErrorKind.UNAVAILABLE
            raise failed_as(name, type(error).__name__, str(error), kind) from error

    spec = spec_of_written(
        served.target,
        f"{name} of {DEMO_SYSTEM}, as released",
        source,
    )
    return FunctionTool(spec, WrittenArguments, search)


class _RefusedReply(Exception):
    """What the authors' tool raises for a reply it does not take. `passing`: another call would get it too."""

    def __init__(self, exception: str, message: str, *, passing: bool) -> None:
        super().__init__(message)
        self.exception = exception
        self.message = message
        self.kind = ToolErrorKind.UNAVAILABLE if passing else ToolErrorKind.BLOCKED


def _amap_object(reply: RawReply) -> JsonObject:
    """AMap's object, whatever the HTTP status; a refusal becomes the exception it is with the authors."""
    body: JsonObject = reply.body
    if body["status"] != "1":
        raise _RefusedReply(
            "RuntimeError", str(body), passing=not str(body.get("infocode", "")).startswith(_CALL_ERROR_PREFIX)
        )
    return body


def _tips_text(reply: RawReply) -> str:
    tips = [_pick_keys(tip, "id", "name", "address", "typecode", "city") for tip in _amap_object(reply).get("tips", [])]
    return _json_text({"tips": tips})


def _places_text(reply: RawReply) -> str:
    body = _amap_object(reply)
    suggestion = body.get("suggestion", {})
    suggested = {
        "keywords": suggestion.get("keywords"),
        "cities": [{"name": city.get("name")} for city in suggestion.get("cities") or []],
    }
    pois = [_pick_keys(poi, "id", "name", "address", "typecode") for poi in body.get("pois", [])]
    return _json_text({"suggestion": suggested, "pois": pois})


def _detail_text(reply: RawReply) -> str:
    body = _amap_object(reply)
    if not body.get("pois"):
        return _json_text({"error": "No POI found"})
    poi = body["pois"][0]
    shown = {
        **_pick_keys(poi, "id", "name", "location", "address", "business_area"),
        "city": poi.get("cityname"),
        **_pick_keys(poi, "type", "alias"),
    }
    return _json_text(shown | (poi.get("biz_ext") or {}))


def _google_text(service: str, show: Callable[[Any], str]) -> Callable[[RawReply], str]:
    def text(reply: RawReply) -> str:
        if reply.status >= 400:
            side = "Client" if reply.status < 500 else "Server"
            reason = responses.get(reply.status, "")
            message = f"{reply.status} {side} Error: {reason} for url: {_SERPER_URL}/{service}"
            spent = reply.status == 400 and "credits" in str(reply.body).lower()
            raise _RefusedReply(
                "HTTPError", message, passing=spent or reply.status >= 500 or reply.status in _KEY_ERROR_STATUSES
            )
        return show(reply.body)

    return text


def _facts_without_points(reply: Any, value: str) -> Sequence[Fact]:
    return amap_facts(reply, with_points=False)


def _facts_with_points(reply: Any, value: str) -> Sequence[Fact]:
    return amap_facts(reply, with_points=True)


def _pick_keys(found: Any, *keys: str) -> JsonObject:
    return {key: found.get(key) for key in keys}


def _json_text(value: JsonObject) -> str:
    return json.dumps(value, ensure_ascii=False, indent=4)
