"""The zoom of the training loop (verl/verl/tools/image_zoom_in_tool.py).

Boxes are 0 to 1000. One whose shorter side is below 28 pixels grows around its centre, keeps its shape and is pushed
inside; one that sticks out stays as it is, and what lies outside is black. The crop is not scaled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from PIL import Image

from tools.released.grown_box import (
    SHORTEST,
    Sides,
    box_of_four,
    grow_region,
    is_large_enough,
    picture_of,
    shows_nothing,
    to_photo_pixels,
)
from tools.released.picture import check_crop, picture_observation, png, view_of, zoomed_text
from tools.released.thinking_with_map.texts import SYSTEM, crash_error, object_of
from tools.released.written_arguments import WrittenArguments, verbatim_error
from tts.dialects.released.tool_name import released_tool_name
from tts.domain.photo import Photo
from tts.ports.toolbox import ToolContext
from tts.toolkit.spec import FunctionTool, Observation, Tool, ToolSpec

_BOX_ERRORS: Final = (TypeError, ValueError, OverflowError, OSError, MemoryError)


def zoom_tool() -> Tool:
    """Make `image_zoom_in_tool` of the training loop.

    Returns:
        The tool, which sees the first photo only. Refusals are in the words of the authors' tool.
    """

    async def zoom(arguments: WrittenArguments, context: ToolContext) -> Observation:
        parameters = object_of(arguments.written)
        box, photo = box_of_four(parameters.get("bbox_2d"), crash_error), context.photos[0]
        try:
            crop, region = await asyncio.to_thread(_crop_photo, photo, box)
        except _BOX_ERRORS as error:
            raise verbatim_error(f"Error processing image zoom-in: {error}") from error
        text = zoomed_text(box, parameters.get("label", ""))
        return picture_observation(png(crop, f"crop {box}"), view_of(photo, 0, region), text)

    name = released_tool_name("image_zoom", SYSTEM, "image_zoom_in_tool")
    spec = ToolSpec(name, "image_zoom_in_tool of Thinking with Map, as released", local=True, provider="photo")
    return FunctionTool(spec, WrittenArguments, zoom)


def _crop_photo(photo: Photo, box: Sequence[Any]) -> tuple[Image.Image, Sides]:
    """The crop, and where it lies on the photo."""
    picture = picture_of(photo)
    region = region_of(box, picture.width, picture.height)
    if region is None:
        raise shows_nothing(box)
    check_crop(region[2] - region[0], region[3] - region[1])
    return picture.crop(region), to_photo_pixels(region, picture, photo)


def region_of(box: Sequence[Any], width: int, height: int) -> Sides | None:
    """The region in pixels; None where there is nothing to show.

    Args:
        box: four sides: left, top, right and bottom in thousandths of the picture's sides. It may stick out.
        width, height: of the picture, in pixels.

    Returns:
        (left, top, right, bottom); not always in whole pixels.

    Raises:
        TypeError: the box holds something that is no number.
    """
    x0, y0, x1, y1 = box
    left, right = x0 / 1000.0 * width, x1 / 1000.0 * width
    top, bottom = y0 / 1000.0 * height, y1 / 1000.0 * height
    region: Sides = (left, top, right, bottom)
    if bottom - top < SHORTEST or right - left < SHORTEST:
        if min(right - left, bottom - top) == 0:
            return None
        region = grow_region(region, width, height)
    return region if is_large_enough(region) else None
