"""How the training loop's client wraps what its server and its tools say (map_tool.py, api_utils.py:214)."""

from __future__ import annotations

import json
from typing import Any, Final

from tools.released.written_arguments import verbatim_error
from tts.dialects.released.thinking_with_map.tool_sets import SYSTEM as SYSTEM
from tts.errors import ToolError, ToolErrorKind

_NO_QUERY: Final = "Error: 'query' is missing, empty, or not a list in parameters."
_NO_POINT: Final = "Error: 'latitude/longitude' is missing, empty, or not a list in parameters."
# what the model reads whenever no picture came: the client trips over a variable of its own (map_tool.py:445)
_NO_PICTURE: Final = (
    "API call execution failed: cannot access local variable 'metrics' where it is not associated with a value"
)


def server_reply(text: str) -> str:
    """The server answers with a JSON string, in which the client opens the line breaks again.

    Args:
        text: what the server says, before it is written as JSON.

    Returns:
        What the model reads: the text between quotation marks, with escapes for all but line breaks.
    """
    return json.dumps(text, ensure_ascii=False, separators=(",", ":")).replace("\\n", "\n")


def no_query() -> ToolError:
    """Refuse a call without a usable `query`.

    Returns:
        The error in the words of the client; the caller raises it.
    """
    return verbatim_error(_result_text(_NO_QUERY))


def no_point() -> ToolError:
    """Refuse a call whose latitude or longitude is missing, zero, or no floating-point number.

    Returns:
        The error in the words of the client; the caller raises it.
    """
    return verbatim_error(_result_text(_NO_POINT))


def no_reply(query: str, kind: ToolErrorKind) -> ToolError:
    """Report that nothing was found, or that nothing was reached: both read alike.

    Args:
        query: what was searched for; the model reads it.
        kind: which of the two it was; the model does not read it.

    Returns:
        The error in the words of the client; the caller raises it.
    """
    return verbatim_error(server_reply(f"Api call failed for query: {query}"), kind)


def no_picture(kind: ToolErrorKind) -> ToolError:
    """Report that no picture came.

    Args:
        kind: the reason; the model does not read it.

    Returns:
        The error, in the same words whatever the reason; the caller raises it.
    """
    return verbatim_error(_result_text(_NO_PICTURE), kind)


def crash_error(problem: str) -> ToolError:
    """Report an exception of a tool in the loop's own words (tool_agent_loop.py:455).

    Args:
        problem: the message of the exception.

    Returns:
        The error; the caller raises it.
    """
    return verbatim_error(f"Error when executing tool: {problem}", ToolErrorKind.UNKNOWN_TOOL)


def object_of(written: Any) -> dict[str, Any]:
    """Check that the arguments are an object.

    Args:
        written: the arguments as the model wrote them, any JSON value.

    Returns:
        The arguments by name, as the model wrote them.

    Raises:
        ToolError: they are no object, in the loop's words.
    """
    if isinstance(written, dict):
        return written
    raise crash_error(f"'{type(written).__name__}' object has no attribute 'get'")


def _result_text(text: str) -> str:
    return json.dumps({"result": text})
