"""The search by picture of the evaluation (`execute_search`): each box by itself, the goal only in the heading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tools.photo_hosts import PHOTO_HOSTS
from tools.released.reverse.crop import checked_size, region_of
from tools.released.reverse.eval_arguments import as_call_error, call_error, object_of, whole_numbers
from tools.released.reverse.lens import LensSource
from tools.released.written_arguments import WrittenArguments
from tts.dialects.released.reverse.eval_tool_parser import IMAGE_SEARCH
from tts.dialects.released.reverse.served_tools import EVAL_SYSTEM
from tts.dialects.released.tool_name import released_tool_name
from tts.domain.tooling import WebFact
from tts.errors import ToolError, ToolErrorKind
from tts.ports.toolbox import ToolContext
from tts.toolkit.spec import FunctionTool, Observation, Splitting, Tool, ToolSpec

_UNKNOWN_SIDE = 1000  # behind the broker there are no pixels: thousandths stand in for them


class BoxPart(WrittenArguments):
    """One of the boxes of a call. What makes the call invalid stands in `invalid`."""

    box: tuple[int, ...] = ()
    invalid: str = ""


def image_search_tool(source: LensSource, excluded: Sequence[str] = tuple(sorted(PHOTO_HOSTS))) -> Tool:
    """Make the search by picture of the evaluation.

    Args:
        source: where the hits come from; it is asked for each box of a call by itself.
        excluded: host names in lower case; a hit is of a host if its source, or else its link, contains the name.

    Returns:
        The tool. It leaves out the `excluded` hosts where the request hides photo hosts.
    """

    async def search(part: BoxPart, context: ToolContext) -> Observation:
        if part.invalid:
            raise call_error(part.invalid)
        with as_call_error():
            checked_size(region_of(part.box, *_photo_size(context)))
        hits = await source.hits(part.box, context)
        hidden = excluded if context.options.hide_photo_hosts else ()
        shown = [hit for hit in hits if not _is_from_hosts(hit, hidden)]
        lines = [line for hit in shown for line in _lines(hit)]
        return Observation(text="\n".join(["", *lines]), facts=_facts(shown))

    spec = ToolSpec(
        released_tool_name("image_search", EVAL_SYSTEM, IMAGE_SEARCH),
        f"{IMAGE_SEARCH} of REVERSE, as released",
        provider=source.name,
        needs_network=source.needs_network,
        depends_on_photo=True,
        sends_photo=source.sends_photo,
        hides_hosts=True,
        ttl_s=86400.0,
    )
    return FunctionTool(spec, BoxPart, search, Splitting(split=_split_boxes, join=_join_results))


def _split_boxes(arguments: BoxPart) -> list[BoxPart]:
    try:
        with as_call_error():
            return [BoxPart(box=tuple(whole_numbers(box))) for box in _parse_boxes(arguments.written)]
    except ToolError as error:
        return [BoxPart(invalid=error.detail.removeprefix("Tool call error: "))]


def _parse_boxes(written: Any) -> list[Any]:
    """Raises ValueError, and what Python says of a box that cannot be taken apart."""
    box = object_of(written).get("bbox_2d")
    if not box:
        raise ValueError(f"Invalid bbox_2d: {box}")
    return list(box) if isinstance(box[0], list) else [box]


def _join_results(arguments: BoxPart, parts: Sequence[Observation | ToolError], context: ToolContext) -> Observation:
    """Texts one after another, an empty line between; a box whose search failed says so and leaves its siblings."""
    texts: list[str] = []
    facts: list[WebFact] = []
    for number, part in enumerate(parts):
        if isinstance(part, Observation):
            texts.append(f"{_heading(arguments.written, number)}{part.text}")
            facts += [fact for fact in part.facts if isinstance(fact, WebFact)]
        elif part.kind is ToolErrorKind.INVALID_ARGUMENTS:
            raise part
        else:
            texts.append(f"Image search failed (API error): {part.detail}")
    return Observation(text="\n\n".join(texts), facts=tuple(facts))


def _heading(written: Any, number: int) -> str:
    given = object_of(written)
    goal = given.get("goal")
    asked = f" (goal: {goal})" if goal else ""
    return f"Image search results for region {whole_numbers(_parse_boxes(written)[number])}{asked}:\n"


def _lines(hit: Mapping[str, Any]) -> list[str]:
    return [f"[{hit['pos']}] {hit['title']}", f"    Source: {hit['source']}", f"    Link: {hit['link']}"]


def _facts(hits: Sequence[Mapping[str, Any]]) -> tuple[WebFact, ...]:
    return tuple(
        WebFact(
            number=hit["pos"] if isinstance(hit["pos"], int) else number,
            title=str(hit["title"]),
            url=str(hit["link"]),
            source=str(hit["source"]),
        )
        for number, hit in enumerate(hits, 1)
    )


def _photo_size(context: ToolContext) -> tuple[int, int]:
    if not context.photos:
        return _UNKNOWN_SIDE, _UNKNOWN_SIDE
    return context.photos[0].width, context.photos[0].height


def _is_from_hosts(hit: Mapping[str, Any], hosts: Sequence[str]) -> bool:
    where = str(hit["source"] or hit["link"]).lower()
    return any(host in where for host in hosts)
