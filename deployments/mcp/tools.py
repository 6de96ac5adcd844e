"""The definitions of the MCP tools: names, descriptions, arguments and schemas, and the form of their results.

`tool_execution.py` has the work that they do.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import mcp_types as types

from deployments.mcp.call_arguments import (
    ClaimArguments,
    ContinueArguments,
    LocateArguments,
    PlacesArguments,
    arguments_of,
)
from deployments.mcp.checked_claim import CheckedClaim, checked_claim
from deployments.mcp.continued_place import ContinuedPlace, continued_place
from deployments.mcp.located_place import LocatedPlace, located_place, text_of_place
from deployments.mcp.tool_execution import Call, McpTools
from tts.domain.answer import Answer
from tts.domain.value import Value
from tts.errors import RequestError
from tts.ports.toolbox import ToolSchema

_LOCATE_DESCRIPTION = (
    "Where was this photo taken? Several agents read the photo, use maps and search, and a verifier weighs them. "
    "Returns a point with two radii and a confidence, or an abstention with what is known."
)
_CHECK_DESCRIPTION = (
    "Was this photo taken where somebody says? Agents look at the photo without knowing the claim, others test it. "
    "Returns supported, contradicted or not_decidable, with the evidence for and against."
)
_COMPARE_DESCRIPTION = "Which of 2 to 8 places does this photo show? As check_claim, for several places at once."
_CONTINUE_DESCRIPTION = (
    "It is not there, or more is known by now: continues an earlier request with places that are ruled out, a fact, an "
    "area or further photos. It knows what was found, does not ask maps again, and says what changed. With nothing "
    "added, the earlier answer is ruled out."
)
_RESULT_SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "description": "the result as a model reads it"},
        "facts": {"type": "array", "items": {"type": "object"}, "description": "places, countries, views; typed"},
        "cached": {"type": "boolean"},
        "retrieved_at": {"type": "string", "description": "RFC 3339, UTC"},
    },
    "required": ["text", "facts"],
}


@dataclass(frozen=True, slots=True)
class RequestTool:
    """A tool that makes a request: its arguments, and how its answer becomes a result."""

    title: str
    description: str
    arguments: type[Any]
    result: type[Value]
    run: Callable[[Any, Call], Awaitable[tuple[str, Answer]]]
    to_result: Callable[[str, Answer], types.CallToolResult]


def request_tools(tools: McpTools) -> dict[str, RequestTool]:
    """The four tools that make a request, by their names."""
    locating, claim, places, continuing = (
        arguments_of(model, tools.photo)
        for model in (LocateArguments, ClaimArguments, PlacesArguments, ContinueArguments)
    )
    return {
        "locate_photo": RequestTool(
            "Locate a photo", _LOCATE_DESCRIPTION, locating, LocatedPlace, tools.locate, _place_result
        ),
        "check_claim": RequestTool(
            "Check a claim", _CHECK_DESCRIPTION, claim, CheckedClaim, tools.locate, _check_result
        ),
        "compare_places": RequestTool(
            "Compare places", _COMPARE_DESCRIPTION, places, CheckedClaim, tools.locate, _check_result
        ),
        "continue_photo": RequestTool(
            "Continue an earlier request",
            _CONTINUE_DESCRIPTION,
            continuing,
            ContinuedPlace,
            tools.continue_,
            _continued_result,
        ),
    }


def _place_result(request_id: str, answer: Answer) -> types.CallToolResult:
    found = located_place(request_id, answer)
    return _tool_result(found, text_of_place(found), found.report, found.map)


def _check_result(request_id: str, answer: Answer) -> types.CallToolResult:
    if answer.check is None:
        raise RequestError("the claim could not be checked in time")
    found = checked_claim(request_id, answer, answer.check)
    return _tool_result(found, found.text, found.report)


def _continued_result(request_id: str, answer: Answer) -> types.CallToolResult:
    found = continued_place(request_id, answer)
    return _tool_result(found, found.text(), found.report, found.map)


def _tool_result(found: Value, text: str, report: str, drawn: str | None = None) -> types.CallToolResult:
    """Text and links beside the structured form: the report, and the map of an answer that names a point."""
    links: list[Any] = [types.ResourceLink(uri=report, name="report", mime_type="text/html")]
    if drawn is not None:
        links.append(types.ResourceLink(uri=drawn, name="map", mime_type="image/jpeg"))
    return types.CallToolResult(content=[types.TextContent(text=text), *links], structured_content=found.jsonable())


def tool_of_request(name: str, tool: RequestTool) -> types.Tool:
    """The definition that clients list, with the schemas of arguments and result."""
    return types.Tool(
        name=name,
        title=tool.title,
        description=tool.description,
        input_schema=_inline_references(tool.arguments.model_json_schema()),
        output_schema=_inline_references(tool.result.model_json_schema(mode="serialization")),
        annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=True),
    )


def tool_of_map(schema: ToolSchema) -> types.Tool:
    """The definition of a tool that rollouts have too, such as a map or a place search."""
    return types.Tool(
        name=schema.name,
        description=schema.description,
        input_schema={"type": "object", **schema.parameters},
        output_schema=_RESULT_SCHEMA,
        annotations=types.ToolAnnotations(read_only_hint=True, idempotent_hint=True),
    )


def _inline_references(schema: dict[str, Any]) -> dict[str, Any]:
    """Without references and titles: many clients resolve none."""
    definitions = schema.pop("$defs", {})

    def walk(node: Any, inside_properties: bool = False) -> Any:
        if isinstance(node, list):
            return [walk(one) for one in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            return walk(
                {**definitions[node["$ref"].rpartition("/")[2]], **{k: v for k, v in node.items() if k != "$ref"}}
            )
        return {k: walk(v, k == "properties") for k, v in node.items() if inside_properties or k != "title"}

    inlined: dict[str, Any] = walk(schema)
    return inlined
