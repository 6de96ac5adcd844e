"""The zoom of the evaluation (`execute_crop`)."""

from __future__ import annotations

import asyncio
from typing import Any

from tools.released.picture import jpeg, picture_observation, view_of, zoomed_text
from tools.released.reverse.crop import crop_photo
from tools.released.reverse.eval_arguments import as_call_error, object_of, whole_numbers
from tools.released.written_arguments import WrittenArguments
from tts.dialects.released.reverse.eval_tool_parser import ZOOM
from tts.dialects.released.reverse.served_tools import EVAL_SYSTEM
from tts.dialects.released.tool_name import released_tool_name
from tts.ports.toolbox import ToolContext
from tts.toolkit.spec import FunctionTool, Observation, Tool, ToolSpec


def zoom_tool() -> Tool:
    """Make `image_zoom_in_tool` of the evaluation.

    Returns:
        The tool: it gives a JPEG crop of the first photo, or a failure as `call_error` tells it.
    """

    async def zoom(arguments: WrittenArguments, context: ToolContext) -> Observation:
        photo = context.photos[0]
        with as_call_error():
            given = object_of(arguments.written)
            crop, region = await asyncio.to_thread(crop_photo, photo, _parse_box(given.get("bbox_2d")))
        text = zoomed_text(given.get("bbox_2d", []), given.get("label", ""))
        return picture_observation(jpeg(crop), view_of(photo, 0, region), text)

    name = released_tool_name("image_zoom", EVAL_SYSTEM, ZOOM)
    spec = ToolSpec(name, f"{ZOOM} of REVERSE, as released", local=True, provider="photo")
    return FunctionTool(spec, WrittenArguments, zoom)


def _parse_box(box: Any) -> list[int]:
    """Raises ValueError when it is no list of four, and what Python says of sides that are no numbers."""
    if not isinstance(box, list) or len(box) != 4:
        raise ValueError(f"Invalid bbox_2d: {box}")
    return whole_numbers(box[0] if isinstance(box[0], list) else box)
