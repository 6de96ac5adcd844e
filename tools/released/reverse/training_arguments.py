"""How the tools of training read arguments, and the error texts of their loop."""

from __future__ import annotations

from typing import Any

from tools.released.written_arguments import verbatim_error
from tts.errors import ToolError


def crash_error(problem: str) -> ToolError:
    """Report an exception of a tool in the loop's own words.

    Args:
        problem: the message of the exception.

    Returns:
        The error; the caller raises it.
    """
    return verbatim_error(f"Error when executing tool: {problem}")


def get_from(written: Any, key: str) -> Any:
    """Read one of the arguments.

    Args:
        written: the arguments as the model wrote them, any JSON value.
        key: the name of the argument.

    Returns:
        Its value as the model wrote it; None where it is missing.

    Raises:
        ToolError: the arguments are no object, in the words of the loop.
    """
    if not isinstance(written, dict):
        raise crash_error(f"'{type(written).__name__}' object has no attribute 'get'")
    return written.get(key)
