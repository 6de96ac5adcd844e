"""Reads tool schemas from a configuration of verl, in the form in which its loading code passes them on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from tts.errors import ConfigError

_KNOWN_KEYS: Final = ("type", "description", "enum")  # verl/verl/tools/schemas.py drops the others


def tools_listed(path: Path) -> dict[str, dict[str, Any]]:
    """Schemas by name, in the order of the file. Raises ConfigError where the file lists none."""
    try:
        listed = yaml.safe_load(path.read_text(encoding="utf-8"))["tools"]
        schemas = [_loaded_schema(tool["tool_schema"]["function"]) for tool in listed]
    except (OSError, UnicodeDecodeError, yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path} lists no tools: {type(error).__name__}") from error
    found: dict[str, dict[str, Any]] = {}
    for schema in schemas:
        found.setdefault(schema["name"], schema)
    return found


def _loaded_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """As the released loading code leaves it."""
    parameters = schema["parameters"]
    properties = {
        name: {key: of[key] for key in _KNOWN_KEYS if key in of} for name, of in parameters["properties"].items()
    }
    kept = {"type": parameters["type"], "properties": properties, "required": list(parameters["required"])}
    return {"name": schema["name"], "description": schema["description"], "parameters": kept}
