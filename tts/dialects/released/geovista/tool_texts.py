"""The text of GeoVista's evaluation for a failed tool: the error, and the last lines of the Python traceback.

Each line is one of the loop's own (eval/inference_agent_tool_mode.py:215-330, eval/utils_agent_tool.py:212-330), with
the paths of files cut and without line numbers.
"""

from __future__ import annotations

from typing import Any, Final

SYSTEM: Final = "geovista"
CROP_FAILED: Final = "Crop tool execution failed: "
SEARCH_FAILED: Final = "Search tool execution failed: "
_LOOP_FRAME: Final = '  File ".../inference_agent_tool_mode.py", in run_inference_for_image'
_TOOLS_FRAME: Final = '  File ".../utils_agent_tool.py", in '
# of each tool: the line that calls it, the function, the argument that is read first
_CROP_FRAME: Final = (
    "    result = manager.execute_crop_tool(bbox_2d, label, debug=False, abs_scaling=adaptive_scaling)",
    "execute_crop_tool",
    'bbox_2d = arguments.get("bbox_2d")',
)
_SEARCH_FRAME: Final = (
    "    result = manager.execute_search_tool(query, debug=False)",
    "execute_search_tool",
    'query = arguments.get("query")',
)


def no_attribute_get(written: Any) -> str:
    """Python's message for arguments that are no object."""
    return f"'{type(written).__name__}' object has no attribute 'get'"


def too_often(tool: str, limit: int) -> str:
    """The error of a zoom or search beyond the `limit` of its tool."""
    what = "crop" if tool == "image_zoom_in_tool" else "search"
    return f"Maximum {what} tool calls ({limit}) exceeded"


def error_text(tool: str, error: str) -> str:
    """The whole of what the model reads of a failed call, without the tags."""
    return f"Tool call error: {error}\n\nError details:\n{_traceback(tool, error)}"


def _traceback(tool: str, error: str) -> str:
    call, function, reading = _CROP_FRAME if tool == "image_zoom_in_tool" else _SEARCH_FRAME
    if error.endswith("has no attribute 'get'"):
        marks = f"{' ' * reading.index('arguments')}{'^' * len('arguments.get')}"
        lines = ["Traceback (most recent call last):", _LOOP_FRAME, f"    {reading}", f"    {marks}"]
        return "\n".join([*lines, f"AttributeError: {error}", ""])
    at = call.index("manager")
    raised = _TRACEBACKS["limit_" + function] if error.startswith("Maximum") else _TRACEBACKS[function]
    lines = [_LOOP_FRAME, call, f"{' ' * at}{'^' * (len(call) - at)}", f"{_TOOLS_FRAME}{function}", f"    {raised}"]
    return "\n".join([*lines, f"Exception: {error}"])


_TRACEBACKS: Final = {
    "execute_crop_tool": 'raise Exception(f"Crop tool execution failed: {str(e)}")',
    "execute_search_tool": 'raise Exception(f"Search tool execution failed: {str(e)}")',
    "limit_execute_crop_tool": 'raise Exception(f"Maximum crop tool calls ({MAX_CROP_CALLS}) exceeded")',
    "limit_execute_search_tool": 'raise Exception(f"Maximum search tool calls ({MAX_SEARCH_CALLS}) exceeded")',
}
