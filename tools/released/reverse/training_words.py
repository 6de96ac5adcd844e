"""How the tools of training read arguments, and the error texts of their loop."""

from __future__ import annotations

from typing import Any

from tools.released.written_arguments import verbatim_error
from tts.errors import ToolError


def crash_error(problem: str) -> ToolError:
    """The loop's own words for an exception of a tool.

    Args:
        problem: the message of the exception.
    """
    return verbatim_error(f"Error when executing tool: {problem}")


def get_from(written: Any, key: str) -> Any:
    """One of the arguments; None where it is missing.

    Args:
        written: the arguments as the model wrote them, any JSON value.
        key: the name of the argument.

    Raises:
        ToolError: the arguments are no object, in the words of the loop.
    """
    if not isinstance(written, dict):
        raise crash_error(f"'{type(written).__name__}' object has no attribute 'get'")
    return written.get(key)
