"""The zoom of training (`verl/verl/tools/image_zoom_in_tool.py`): boxes within 0 to 1000, small ones grow.

A box below 28 pixels grows around its centre, keeps its shape and is pushed inside; the crop is scaled as in the
evaluation and sent as it is.
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
    has_shape,
    is_large_enough,
    picture_of,
    shows_nothing,
    to_photo_pixels,
)
from tools.released.picture import picture_observation, png, view_of, zoomed_text
from tools.released.reverse.training_arguments import crash_error, get_from
from tools.released.written_arguments import WrittenArguments, verbatim_error
from tts.dialects.released.reverse.eval_tool_parser import ZOOM
from tts.dialects.released.reverse.served_tools import RL_SYSTEM
from tts.dialects.released.tool_name import released_tool_name
from tts.domain.photo import Photo
from tts.ports.toolbox import ToolContext
from tts.rewards.released.picture_sizes import smart_resize
from tts.toolkit.spec import FunctionTool, Observation, Tool, ToolSpec

_BOX_UNITS: Final = 1000.0


def training_zoom_tool() -> Tool:
    """Make `image_zoom_in_tool` of the training.

    Returns:
        The tool, which sees the first photo only. Refusals are in the words of the authors' tool.
    """

    async def zoom(arguments: WrittenArguments, context: ToolContext) -> Observation:
        box = box_of_four(get_from(arguments.written, "bbox_2d"), crash_error)
        photo = context.photos[0]
        crop, region = await asyncio.to_thread(_crop_photo, photo, box)
        text = zoomed_text(box, get_from(arguments.written, "label") or "")
        return picture_observation(png(crop), view_of(photo, 0, region), text)

    name = released_tool_name("image_zoom", RL_SYSTEM, ZOOM)
    spec = ToolSpec(name, f"{ZOOM} of REVERSE's training, as released", local=True, provider="photo")
    return FunctionTool(spec, WrittenArguments, zoom)


def _crop_photo(photo: Photo, box: Sequence[Any]) -> tuple[Image.Image, Sides]:
    picture = picture_of(photo)
    pixels = _pixel_sides(box, picture.width, picture.height)
    if pixels is None:
        raise verbatim_error(
            f"Error: The specified bounding box {box} is invalid. bbox_2d must be normalized coordinates in [0, 1000]."
        )
    region = region_of(pixels, picture.width, picture.height)
    if region is None:
        raise shows_nothing(box)
    crop = picture.crop(region)
    height, width = smart_resize(crop.height, crop.width)
    if (width, height) != crop.size:
        crop = crop.resize((width, height), Image.Resampling.BICUBIC)
    return crop, to_photo_pixels(region, picture, photo)


def _pixel_sides(box: Sequence[Any], width: int, height: int) -> Sides | None:
    """None where a side is no number or outside 0 to 1000."""
    try:
        left, top, right, bottom = (float(side) for side in box)
    except (TypeError, ValueError):
        return None
    if min(left, top, right, bottom) < 0.0 or max(left, top, right, bottom) > _BOX_UNITS:
        return None
    across, down = width / _BOX_UNITS, height / _BOX_UNITS
    return left * across, top * down, right * across, bottom * down


def region_of(box: Sides, width: int, height: int) -> Sides | None:
    """The region to crop, in pixels of a picture of that size; None where nothing can be shown.

    Args:
        box: (left, top, right, bottom) in pixels of the picture; what lies outside is cut off.
        width, height: of the picture, in pixels.

    Returns:
        (left, top, right, bottom); not always in whole pixels.
    """
    region = (max(0.0, box[0]), max(0.0, box[1]), min(float(width), box[2]), min(float(height), box[3]))
    if not has_shape(region):
        return None
    if min(region[2] - region[0], region[3] - region[1]) < SHORTEST:
        region = grow_region(region, width, height)
    return region if is_large_enough(region) else None
