"""How the tools of training read arguments, and the error texts of their loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tools.released.written_arguments import refused

_NOT_FOUR = "Error: bbox_2d parameter is missing or not a list of 4 numbers."


def get_from(written: Any, key: str) -> Any:
    """Raises ToolError in the words of the loop when the arguments are no object."""
    if not isinstance(written, dict):
        raise refused(f"Error when executing tool: '{type(written).__name__}' object has no attribute 'get'")
    return written.get(key)


def box_of_four(box: Any) -> Sequence[Any]:
    """Anything with four items, whatever they are. Raises ToolError in the words of the tool or of the loop."""
    if not box:
        raise refused(_NOT_FOUR)
    if not hasattr(box, "__len__"):
        raise refused(f"Error when executing tool: object of type '{type(box).__name__}' has no len()")
    if len(box) != 4:
        raise refused(_NOT_FOUR)
    four: Sequence[Any] = box
    return four
