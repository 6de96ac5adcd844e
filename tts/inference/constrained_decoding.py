"""Forced turns: JSON schemas for constrained decoding, so that a turn always has the right form; and their parser.

With tools on offer a forced turn is one call of one of them; without, it is the answer object of the generic dialect.
Strings and lists are bounded, because a model that is not allowed to stop would otherwise fill its budget with one.
"""

from __future__ import annotations

import json
from typing import Any

from pydantic import JsonValue

from tts.dialects.hermes_tool_parser import call_from
from tts.domain.tooling import ToolCall
from tts.ports.toolbox import ToolSchema

_MAX_TEXT_CHARS = 48
_MAX_LIST_ITEMS = 4

ANSWER_SCHEMA: dict[str, JsonValue] = {
    "type": "object",
    "properties": {
        "lat": {"type": "number", "minimum": -90, "maximum": 90},
        "lon": {"type": "number", "minimum": -180, "maximum": 180},
        "radius_km": {"type": "integer", "minimum": 1, "maximum": 5000},
        "country": {"type": "string", "maxLength": 24},
        "city": {"type": "string", "maxLength": 24},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
    },
    "required": ["lat", "lon", "radius_km", "country", "city", "confidence"],
    "additionalProperties": False,
}


def turn_schema(tools: tuple[ToolSchema, ...]) -> dict[str, JsonValue]:
    """What a forced turn must look like."""
    if not tools:
        return ANSWER_SCHEMA
    calls: list[JsonValue] = [_call_schema(tool) for tool in tools]
    return calls[0] if len(calls) == 1 and isinstance(calls[0], dict) else {"anyOf": calls}


def forced_calls(text: str, *, turn: int) -> tuple[ToolCall, ...]:
    """The call a forced turn is; none when it was cut off."""
    try:
        read = json.loads(text, strict=False)
    except ValueError:
        return ()
    call = call_from(read, f"call_{turn}_0") if isinstance(read, dict) else None
    return () if call is None else (call,)


def _call_schema(tool: ToolSchema) -> dict[str, JsonValue]:
    return {
        "type": "object",
        "properties": {"name": {"const": tool.name}, "arguments": _bounded_schema(tool.parameters, tool.parameters)},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }


def _bounded_schema(node: Any, root: Any) -> Any:
    """The schema with references resolved, every field required, and a bound on everything that could go on."""
    if "$ref" in node:
        target = root
        for key in str(node["$ref"]).removeprefix("#/").split("/"):
            target = target[key]
        return _bounded_schema(target, root)
    if "anyOf" in node:
        options = [option for option in node["anyOf"] if option.get("type") != "null"]
        return (
            _bounded_schema(options[0], root)
            if len(options) == 1
            else {"anyOf": [_bounded_schema(o, root) for o in options]}
        )
    kind = node.get("type")
    if kind == "object":
        properties = {name: _bounded_schema(below, root) for name, below in node.get("properties", {}).items()}
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }
    if kind == "array":
        return _bounded_list(node, root)
    kept = {key: node[key] for key in ("type", "enum", "const", "minimum", "maximum", "pattern") if key in node}
    if kind == "string" and not {"enum", "const", "pattern"} & kept.keys():
        kept["maxLength"] = min(int(node.get("maxLength", _MAX_TEXT_CHARS)), _MAX_TEXT_CHARS)
        kept["minLength"] = max(int(node.get("minLength", 1)), 1)
    if kind in ("number", "integer"):
        kept.setdefault("minimum", int(node.get("exclusiveMinimum", -180)))
        kept.setdefault("maximum", int(node.get("exclusiveMaximum", 180)))
    return kept


def _bounded_list(node: Any, root: Any) -> dict[str, Any]:
    if "prefixItems" in node:
        items = [_bounded_schema(item, root) for item in node["prefixItems"]]
        return {"type": "array", "prefixItems": items, "items": False, "minItems": len(items), "maxItems": len(items)}
    return {
        "type": "array",
        "items": _bounded_schema(node.get("items", {"type": "string"}), root),
        "minItems": max(1, int(node.get("minItems", 0))),
        "maxItems": min(_MAX_LIST_ITEMS, int(node.get("maxItems", _MAX_LIST_ITEMS))),
    }
