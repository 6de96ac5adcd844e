"""How the tools of training read arguments, and the error texts of their loop."""

from __future__ import annotations

from typing import Any

from tools.released.written_arguments import refused
from tts.errors import ToolError


def crashed(problem: str) -> ToolError:
    """The loop's own words for an exception of a tool."""
    return refused(f"Error when executing tool: {problem}")


def get_from(written: Any, key: str) -> Any:
    """Raises ToolError in the words of the loop when the arguments are no object."""
    if not isinstance(written, dict):
        raise crashed(f"'{type(written).__name__}' object has no attribute 'get'")
    return written.get(key)
