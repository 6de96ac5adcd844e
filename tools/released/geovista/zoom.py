"""The zoom of GeoVista's evaluation (eval/utils_agent_tool.py:212-280).

Boxes are pixels of the shown picture; they are scaled to the photo and cut down to whole pixels. What lies outside is
black. The crop is scaled to sides in multiples of 28 and 65,536 to 2,097,152 pixels, bicubic, and sent as JPEG.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from PIL import Image

from tools.released.picture import check_crop, jpeg, picture_observation, view_of
from tools.released.written_arguments import WrittenBox, verbatim_error
from tts.dialects.released.geovista.tool_texts import CROP_FAILED, SYSTEM, no_attribute_get
from tts.dialects.released.tool_name import released_tool_name
from tts.domain.photo import Photo
from tts.domain.picture_rules import ResizeRule
from tts.ports.toolbox import ToolContext
from tts.toolkit.spec import FunctionTool, Observation, Tool, ToolSpec

_CROP_RULE: Final = ResizeRule(min_pixels=256 * 256, max_pixels=2048 * 1024, multiple=28)
_BOX_ERRORS: Final = (TypeError, ValueError, ZeroDivisionError, OverflowError, OSError, MemoryError)
Region = tuple[int, int, int, int]


def zoom_tool() -> Tool:
    """Make the zoom of GeoVista.

    Returns:
        The tool, which sees the first photo only; failures have the words of the released code.
    """

    async def zoom(arguments: WrittenBox, context: ToolContext) -> Observation:
        if not isinstance(arguments.written, dict):
            raise verbatim_error(no_attribute_get(arguments.written))
        photo, box = context.photos[0], arguments.written.get("bbox_2d")
        try:
            crop, region = await asyncio.to_thread(_crop_photo, photo, box, arguments.scale)
        except _BOX_ERRORS as error:
            raise verbatim_error(f"{CROP_FAILED}{CROP_FAILED}{error}") from error
        return picture_observation(jpeg(crop), view_of(photo, 0, region))

    name = released_tool_name("image_zoom", SYSTEM, "image_zoom_in_tool")
    spec = ToolSpec(name, "image_zoom_in_tool of GeoVista, as released", local=True, provider="photo")
    return FunctionTool(spec, WrittenBox, zoom)


def _crop_photo(photo: Photo, box: Any, scale: float) -> tuple[Image.Image, Region]:
    left, top, right, bottom = box
    region = (int(left * scale), int(top * scale), int(right * scale), int(bottom * scale))
    wide, high = region[2] - region[0], region[3] - region[1]
    if wide >= 0 and high >= 0:
        check_crop(wide, high)
    crop = photo.image().crop(region)
    return crop.resize(_CROP_RULE.size(wide, high), Image.Resampling.BICUBIC), region
