"""Reduces the argument schema of an external tool to the part of JSON Schema that a model needs and that is safe.

Patterns and references are left out: a pattern of a stranger can keep a regular expression busy for hours, and a
reference can name another machine.
"""

from __future__ import annotations

from typing import Any, ClassVar

import jsonschema
from pydantic import ConfigDict, JsonValue, model_validator

from tts.toolkit.spec import Arguments

_KEPT_KEYWORDS = ("type", "description", "enum", "minimum", "maximum", "default")
_MAX_DEPTH = 5
_MAX_FIELDS = 32
_MAX_TEXT_CHARS = 300
_JSON_TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})


class ExternalArguments(Arguments):
    """Checked against `SCHEMA`. Fields that are not in it are passed on: the server decides about them."""

    model_config = ConfigDict(frozen=True, extra="allow")
    SCHEMA: ClassVar[dict[str, JsonValue]] = {"type": "object"}

    @model_validator(mode="before")
    @classmethod
    def _check_schema(cls, given: Any) -> Any:
        found = next(iter(jsonschema.Draft202012Validator(cls.SCHEMA).iter_errors(given)), None)
        if found is not None:
            raise ValueError(f"{'/'.join(map(str, found.path)) or 'arguments'}: {found.message[:200]}")
        return given

    @classmethod
    def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
        """Give pydantic's JSON schema for a model.

        Returns:
            `SCHEMA`, as the model sees it.
        """
        return dict(cls.SCHEMA)


def arguments_of(name: str, stated: Any) -> type[ExternalArguments]:
    """The arguments of one tool. What is no schema of an object becomes one that takes any field.

    Args:
        name: the name of the tool in the toolbox; it is part of the name of the class.
        stated: what the server says is the JSON schema of the arguments: any JSON value, not trusted.

    Returns:
        A new class. Its `SCHEMA` is the part of `stated` that is safe: no patterns and no references.
    """
    kept = _reduced_schema(stated, 0)
    schema = kept if isinstance(kept, dict) and kept.get("type") == "object" else {"type": "object", "properties": {}}
    return type(f"Arguments of {name}", (ExternalArguments,), {"SCHEMA": schema, "__annotations__": {}})


def _reduced_schema(node: Any, depth: int) -> dict[str, JsonValue]:
    if not isinstance(node, dict) or depth > _MAX_DEPTH:
        return {}
    made: dict[str, Any] = {}
    for key in _KEPT_KEYWORDS:
        if (value := _keyword_value(key, node.get(key))) is not None:
            made[key] = value
    if isinstance(fields := node.get("properties"), dict):
        named = [(name[:64], one) for name, one in fields.items() if isinstance(name, str)][:_MAX_FIELDS]
        made["properties"] = {name: _reduced_schema(one, depth + 1) for name, one in named}
        required = node.get("required")
        made["required"] = (
            [name for name in required if name in made["properties"]] if isinstance(required, list) else []
        )
    if isinstance(node.get("items"), dict):
        made["items"] = _reduced_schema(node["items"], depth + 1)
    return made


def _keyword_value(key: str, value: Any) -> Any:
    """The value of a keyword when it is one that this keyword may have; None for any other."""
    if key == "type":
        return value if isinstance(value, str) and value in _JSON_TYPES else None
    if key == "description":
        return value[:_MAX_TEXT_CHARS] if isinstance(value, str) else None
    if key in ("minimum", "maximum"):
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None
    if key == "enum":
        plain = [one for one in value if isinstance(one, str | int | float)] if isinstance(value, list) else []
        return plain[:64] or None
    return value if isinstance(value, str | int | float | bool) else None
