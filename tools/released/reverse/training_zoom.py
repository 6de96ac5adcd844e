"""The zoom of training (`verl/verl/tools/image_zoom_in_tool.py`): boxes within 0 to 1000, small ones grow.

A box below 28 pixels grows around its centre, keeps its shape and is pushed inside; the crop is scaled as in the
evaluation and sent as it is.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from typing import Any, Final

from PIL import Image

from tools.released.picture import as_png, attached, view_of
from tools.released.reverse.training_words import box_of_four, get_from
from tools.released.reverse.zoom import zoomed_text
from tools.released.written_arguments import Written, refused
from tts.dialects.released.reverse.eval_calls import ZOOM
from tts.dialects.released.reverse.served import RL_SYSTEM
from tts.dialects.released.tool_name import released_tool_name
from tts.domain.photo import Photo
from tts.domain.picture_rules import ResizeRule
from tts.ports.toolbox import ToolContext
from tts.rewards.released.picture_sizes import smart_resize
from tts.toolkit.spec import FunctionTool, Observation, Tool, ToolSpec

_SHORTEST: Final = 28
_LONGEST_RATIO: Final = 100.0
_THOUSAND: Final = 1000.0
# the photo is read with qwen_vl_utils.fetch_image: sides in multiples of 28, at most 16,384 patches
_PHOTO: Final = ResizeRule(min_pixels=4 * 28 * 28, max_pixels=16_384 * 28 * 28, multiple=28)
Sides = tuple[float, float, float, float]


def training_zoom_tool() -> Tool:
    """`image_zoom_in_tool` of the training, on the first photo. Refusals are in the words of the authors' tool."""

    async def zoom(arguments: Written, context: ToolContext) -> Observation:
        box = box_of_four(get_from(arguments.written, "bbox_2d"))
        photo = context.photos[0]
        crop, region = await asyncio.to_thread(_cropped, photo, box)
        image, attachment = attached(as_png(crop), crop.size, "image/png", "crop")
        return Observation(
            text=zoomed_text(box, get_from(arguments.written, "label") or ""),
            facts=view_of(photo, 0, region),
            images=(image,),
            attachments=(attachment,),
        )

    name = released_tool_name("image_zoom", RL_SYSTEM, ZOOM)
    spec = ToolSpec(name, f"{ZOOM} of REVERSE's training, as released", local=True, provider="photo")
    return FunctionTool(spec, Written, zoom)


def _cropped(photo: Photo, box: Sequence[Any]) -> tuple[Image.Image, Sides]:
    picture = photo.image()
    wide, high = _PHOTO.size(photo.width, photo.height)
    if (wide, high) != picture.size:
        picture = picture.resize((wide, high))
    pixels = _pixels(box, wide, high)
    if pixels is None:
        raise refused(
            f"Error: The specified bounding box {box} is invalid. bbox_2d must be normalized coordinates in [0, 1000]."
        )
    region = grown(pixels, wide, high)
    if region is None:
        raise refused(
            f"Error: The specified bounding box {box} is invalid or results in a crop smaller than "
            f"the minimum size of {_SHORTEST}x{_SHORTEST}."
        )
    crop = picture.crop(region)
    height, width = smart_resize(crop.height, crop.width)
    if (width, height) != crop.size:
        crop = crop.resize((width, height), Image.Resampling.BICUBIC)
    across, down = photo.width / wide, photo.height / high
    return crop, (region[0] * across, region[1] * down, region[2] * across, region[3] * down)


def _pixels(box: Sequence[Any], width: int, height: int) -> Sides | None:
    """None where a side is no number or outside 0 to 1000."""
    try:
        left, top, right, bottom = (float(side) for side in box)
    except (TypeError, ValueError):
        return None
    if min(left, top, right, bottom) < 0.0 or max(left, top, right, bottom) > _THOUSAND:
        return None
    across, down = width / _THOUSAND, height / _THOUSAND
    return left * across, top * down, right * across, bottom * down


def grown(box: Sides, width: int, height: int) -> Sides | None:
    """The region to crop, in pixels of a picture of that size; None where nothing can be shown."""
    region = (max(0.0, box[0]), max(0.0, box[1]), min(float(width), box[2]), min(float(height), box[3]))
    if not _has_shape(region):
        return None
    if min(region[2] - region[0], region[3] - region[1]) < _SHORTEST:
        region = _enlarged(region, width, height)
    across, down = math.floor(region[2]) - math.floor(region[0]), math.floor(region[3]) - math.floor(region[1])
    return region if _has_shape(region) and min(across, down) >= _SHORTEST else None


def _enlarged(region: Sides, width: int, height: int) -> Sides:
    wide, high = region[2] - region[0], region[3] - region[1]
    ratio = _SHORTEST / min(wide, high)
    new_wide, new_high = wide * ratio, high * ratio
    if new_wide > width:
        new_wide, new_high = float(width), new_high * (width / new_wide)
    if new_high > height:
        new_high, new_wide = float(height), new_wide * (height / new_high)
    left = _pushed_in((region[0] + region[2]) / 2.0 - new_wide / 2.0, new_wide, width)
    top = _pushed_in((region[1] + region[3]) / 2.0 - new_high / 2.0, new_high, height)
    return math.floor(left), math.floor(top), math.ceil(left + new_wide), math.ceil(top + new_high)


def _pushed_in(start: float, length: float, limit: int) -> float:
    start = max(start, 0.0)
    return limit - length if start + length > limit else start


def _has_shape(region: Sides) -> bool:
    wide, high = region[2] - region[0], region[3] - region[1]
    return wide > 0 and high > 0 and max(wide, high) / min(wide, high) <= _LONGEST_RATIO
