"""How the training loop's client wraps what its server and its tools say (map_tool.py, api_utils.py:214)."""

from __future__ import annotations

import json
from typing import Any, Final

from tools.released.written_arguments import verbatim_error
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
    """The client's refusal of a call without a usable `query`."""
    return verbatim_error(_result(_NO_QUERY))


def no_point() -> ToolError:
    """The client's refusal of a call whose latitude or longitude is missing, zero, or no floating-point number."""
    return verbatim_error(_result(_NO_POINT))


def no_reply(query: str, kind: ToolErrorKind) -> ToolError:
    """Nothing found and nothing reached read alike.

    Args:
        query: what was searched for; the model reads it.
        kind: which of the two it was; the model does not read it.
    """
    return verbatim_error(server_reply(f"Api call failed for query: {query}"), kind)


def no_picture(kind: ToolErrorKind) -> ToolError:
    """What the model reads when no picture came, whatever the reason; `kind` keeps the reason.

    Args:
        kind: the reason; the model does not read it.
    """
    return verbatim_error(_result(_NO_PICTURE), kind)


def crash_error(problem: str) -> ToolError:
    """The loop's own words for an exception of a tool (tool_agent_loop.py:455).

    Args:
        problem: the message of the exception.
    """
    return verbatim_error(f"Error when executing tool: {problem}", ToolErrorKind.UNKNOWN_TOOL)


def object_of(written: Any) -> dict[str, Any]:
    """The arguments where they are an object.

    Args:
        written: the arguments as the model wrote them, any JSON value.

    Raises:
        ToolError: they are no object, in the loop's words.
    """
    if isinstance(written, dict):
        return written
    raise crash_error(f"'{type(written).__name__}' object has no attribute 'get'")


def _result(text: str) -> str:
    return json.dumps({"result": text})
