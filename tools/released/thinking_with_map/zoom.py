"""The zoom of the training loop (verl/verl/tools/image_zoom_in_tool.py).

Boxes are 0 to 1000. One whose shorter side is below 28 pixels grows around its centre, keeps its shape and is pushed
inside; one that sticks out stays as it is, and what lies outside is black. The crop is not scaled.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from typing import Any, Final

from PIL import Image

from tools.released.picture import as_png, attached, check_crop, view_of
from tools.released.thinking_with_map.texts import crashed, object_of
from tools.released.written_arguments import Written, refused
from tts.dialects.released.tool_name import released_tool_name
from tts.domain.photo import Photo
from tts.domain.picture_rules import ResizeRule
from tts.ports.toolbox import ToolContext
from tts.toolkit.spec import FunctionTool, Observation, Tool, ToolSpec

SYSTEM: Final = "thinking_with_map"
_SHORTEST: Final = 28
_LONGEST_RATIO: Final = 100.0
# the authors read the photo with qwen_vl_utils.fetch_image: sides in multiples of 28, at most 16,384 patches
_PHOTO: Final = ResizeRule(min_pixels=4 * 28 * 28, max_pixels=16_384 * 28 * 28, multiple=28)
_BROKEN: Final = (TypeError, ValueError, OverflowError, OSError, MemoryError)
Pixels = tuple[float, float, float, float]


def zoom_tool() -> Tool:
    """`image_zoom_in_tool` of the training loop, on the first photo. Refusals are in the words of the authors' tool."""

    async def zoom(arguments: Written, context: ToolContext) -> Observation:
        parameters = object_of(arguments.written)
        box, label = parameters.get("bbox_2d"), parameters.get("label", "")
        box = _of_four(box)
        photo = context.photos[0]
        try:
            crop = await asyncio.to_thread(_cropped, photo, box)
        except _BROKEN as error:
            raise refused(f"Error processing image zoom-in: {error}") from error
        image, attachment = attached(as_png(crop[0]), crop[0].size, "image/png", f"crop {box}")
        text = f"Zoomed in on the image to the region {box}"
        return Observation(
            text=f"{text} with label {label}." if label else f"{text}.",
            facts=view_of(photo, 0, crop[1]),
            images=(image,),
            attachments=(attachment,),
        )

    name = released_tool_name("image_zoom", SYSTEM, "image_zoom_in_tool")
    spec = ToolSpec(name, "image_zoom_in_tool of Thinking with Map, as released", local=True, provider="photo")
    return FunctionTool(spec, Written, zoom)


def _of_four(box: Any) -> Sequence[Any]:
    """Anything of length four. Raises ToolError in the words of the tool or of the loop."""
    if not box:
        raise refused("Error: bbox_2d parameter is missing or not a list of 4 numbers.")
    if not hasattr(box, "__len__"):
        raise crashed(f"object of type '{type(box).__name__}' has no len()")
    if len(box) != 4:
        raise refused("Error: bbox_2d parameter is missing or not a list of 4 numbers.")
    four: Sequence[Any] = box
    return four


def _cropped(photo: Photo, box: Sequence[Any]) -> tuple[Image.Image, Pixels]:
    """The crop, and where it lies on the photo."""
    picture = photo.image()
    wide, high = _PHOTO.size(photo.width, photo.height)
    if (wide, high) != picture.size:
        picture = picture.resize((wide, high))
    region = region_of(box, wide, high)
    if region is None:
        raise refused(
            f"Error: The specified bounding box {box} is invalid or results in a crop smaller than "
            f"the minimum size of {_SHORTEST}x{_SHORTEST}."
        )
    check_crop(region[2] - region[0], region[3] - region[1])
    across, down = photo.width / wide, photo.height / high
    on_photo = (region[0] * across, region[1] * down, region[2] * across, region[3] * down)
    return picture.crop(region), on_photo


def region_of(box: Sequence[Any], width: int, height: int) -> Pixels | None:
    """The region in pixels; None where there is nothing to show.

    Raises:
        TypeError: the box holds something that is no number.
    """
    x0, y0, x1, y1 = box
    left, right = x0 / 1000.0 * width, x1 / 1000.0 * width
    top, bottom = y0 / 1000.0 * height, y1 / 1000.0 * height
    region: Pixels | None = (left, top, right, bottom)
    if bottom - top < _SHORTEST or right - left < _SHORTEST:
        region = _grown(left, top, right, bottom, width, height)
    return region if region is not None and _shows_something(region) else None


def _grown(left: float, top: float, right: float, bottom: float, width: int, height: int) -> Pixels | None:
    wide, high = right - left, bottom - top
    if min(wide, high) == 0:
        return None
    ratio = _SHORTEST / min(high, wide)
    grown_wide, grown_high = wide * ratio, high * ratio
    if grown_wide > width:
        grown_wide, grown_high = float(width), grown_high * (width / grown_wide)
    if grown_high > height:
        grown_high, grown_wide = float(height), grown_wide * (height / grown_high)
    from_left = _pushed_in((left + right) / 2.0 - grown_wide / 2.0, grown_wide, width)
    from_top = _pushed_in((top + bottom) / 2.0 - grown_high / 2.0, grown_high, height)
    return (
        math.floor(from_left),
        math.floor(from_top),
        math.ceil(from_left + grown_wide),
        math.ceil(from_top + grown_high),
    )


def _pushed_in(start: float, length: float, limit: int) -> float:
    start = max(start, 0)
    return limit - length if start + length > limit else start


def _shows_something(region: Pixels) -> bool:
    left, top, right, bottom = region
    if not (left < right and top < bottom):
        return False
    wide, high = right - left, bottom - top
    if max(high, wide) / min(high, wide) > _LONGEST_RATIO:
        return False
    across, down = math.floor(right) - math.floor(left), math.floor(bottom) - math.floor(top)
    return down >= _SHORTEST and across >= _SHORTEST
