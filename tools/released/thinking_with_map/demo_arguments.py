"""Arguments of the notebook's tools: a text, read as JSON and then as JSON5, and held against the tool's schema.

A tool that fails is answered with the exception's name and message (demo/qwen_agent/agent.py, _call_tool). The
traceback that follows there names files of the authors' machine; here it is an ellipsis.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import jsonschema

from tools.released.written_arguments import verbatim_error
from tts.dialects.released.json5 import read_json5
from tts.errors import ToolError, ToolErrorKind


def failed_as(tool: str, exception: str, message: str, kind: ToolErrorKind = ToolErrorKind.UNAVAILABLE) -> ToolError:
    """Report an exception of a tool as the agent does.

    Args:
        tool: the name of the tool in the notebook.
        exception: the name of the exception's class in the authors' code.
        message: the message of the exception.
        kind: what the failure counts as; the model does not read it.

    Returns:
        The error, which the model reads in the agent's words; the caller raises it.
    """
    text = f"An error occurred when calling tool `{tool}`:\n{exception}: {message}\nTraceback:\n…"
    return verbatim_error(text, kind)


def demo_arguments(tool: str, written: Any, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Read the arguments of a call, and check them against the schema.

    Args:
        tool: the name of the tool in the notebook, for refusals.
        written: the arguments as the model wrote them: a text that is read as JSON or JSON5, or any other JSON value.
        schema: the JSON schema that they have to fit; it has to ask for an object.

    Returns:
        The arguments by name.

    Raises:
        ToolError: INVALID_ARGUMENTS where they do not fit or cannot be read, in the words of the agent.
    """
    value = _parse_arguments(tool, written) if isinstance(written, str) else written
    try:
        jsonschema.validate(instance=value, schema=dict(schema))
    except jsonschema.ValidationError as error:
        raise failed_as(tool, "ValidationError", str(error), ToolErrorKind.INVALID_ARGUMENTS) from error
    arguments: dict[str, Any] = value
    return arguments


def _parse_arguments(tool: str, text: str) -> Any:
    text = text.strip("\n")
    if text.startswith("```") and text.endswith("\n```"):
        text = "\n".join(text.split("\n")[1:-1])
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        return read_json5(text)
    except ValueError as error:
        message = "Parameters must be formatted as a valid JSON!"
        raise failed_as(tool, "ValueError", message, ToolErrorKind.INVALID_ARGUMENTS) from error
