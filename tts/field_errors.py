"""Turns pydantic's error about a field into a text for the person who wrote the value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from geotts_client.options import STOP_PATTERN

_PATTERN_TEXTS: Mapping[str, str] = {
    STOP_PATTERN: "must be none, quorum[:k], first:m, beta[:p], worth[:p] or loss[:points], "
    "such as quorum:3 or loss:1.0",
    r"^https?://": "must be a URL that starts with http:// or https://",
}


def field_error_text(wrong: ErrorDetails, model: type[BaseModel], noun: str = "field") -> str:
    """One error of validating a `model`, without the name of the field. What was given is not repeated."""
    if wrong["type"] == "extra_forbidden":
        near = get_close_matches(str(wrong["loc"][-1]), sorted(_names_beside(wrong["loc"], model)), n=1)
        return f"no such {noun}" + (f"; did you mean {near[0]}?" if near else "")
    if wrong["type"] == "string_pattern_mismatch":
        return _PATTERN_TEXTS.get(str(wrong.get("ctx", {}).get("pattern", "")), wrong["msg"])
    return wrong["msg"]


def _names_beside(path: Sequence[int | str], model: type[BaseModel]) -> set[str]:
    """The fields there are where the last of `path` is none. A path names the member of a union by its tag."""
    models = [model]
    for part in path[:-1]:
        below = [found for one in models if part in one.model_fields for found in _models(one.model_fields[str(part)])]
        tagged = [one for one in models if any(field.default == part for field in one.model_fields.values())]
        models = below or tagged or models
    return {name for one in models for name in one.model_fields}


def _models(field: Any) -> Iterator[type[BaseModel]]:
    """The models in an annotation, whatever they are wrapped in."""
    kind = getattr(field, "annotation", field)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield kind
    for inner in get_args(kind):
        yield from _models(inner)
