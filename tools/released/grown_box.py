"""The zooms of two trainings (`verl/verl/tools/image_zoom_in_tool.py`): a box that is too small grows.

It grows around its centre until its shorter side has 28 pixels, keeps its shape and is pushed inside.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from PIL import Image

from tools.released.written_arguments import verbatim_error
from tts.domain.photo import Photo
from tts.domain.picture_rules import ResizeRule
from tts.errors import ToolError

SHORTEST: Final = 28
_LONGEST_RATIO: Final = 100.0
_BOX_ERROR_TEXT: Final = "Error: bbox_2d parameter is missing or not a list of 4 numbers."
# the authors read the photo with qwen_vl_utils.fetch_image: sides in multiples of 28, at most 16,384 patches
_PHOTO_RULE: Final = ResizeRule(min_pixels=4 * 28 * 28, max_pixels=16_384 * 28 * 28, multiple=28)
Sides = tuple[float, float, float, float]


def box_of_four(box: Any, crashed: Callable[[str], ToolError]) -> Sequence[Any]:
    """Check that a box has four items, whatever they are.

    Args:
        box: the box as the model wrote it, any JSON value.
        crashed: makes the error in the words of the loop from the message of an exception of the tool.

    Returns:
        The box, with its items as the model wrote them.

    Raises:
        ToolError: `box` is empty or has another number of items, in the words of the tool; or it cannot have any, from
            `crash_error`.
    """
    if not box:
        raise verbatim_error(_BOX_ERROR_TEXT)
    if not hasattr(box, "__len__"):
        raise crashed(f"object of type '{type(box).__name__}' has no len()")
    if len(box) != 4:
        raise verbatim_error(_BOX_ERROR_TEXT)
    four: Sequence[Any] = box
    return four


def picture_of(photo: Photo) -> Image.Image:
    """The photo in the size in which the authors read it.

    Args:
        photo: a clean photo; it is decoded anew with each call.

    Returns:
        An RGB picture whose sides are multiples of 28 pixels.
    """
    picture, size = photo.image(), _PHOTO_RULE.size(photo.width, photo.height)
    return picture if size == picture.size else picture.resize(size)


def to_photo_pixels(region: Sides, picture: Image.Image, photo: Photo) -> Sides:
    """A region of the picture in pixels of the photo.

    Args:
        region: (left, top, right, bottom) in pixels of the picture.
        picture: the photo as `picture_of` gives it.
        photo: the photo itself.

    Returns:
        (left, top, right, bottom), not rounded.
    """
    across, down = photo.width / picture.width, photo.height / picture.height
    return region[0] * across, region[1] * down, region[2] * across, region[3] * down


def shows_nothing(box: Sequence[Any]) -> ToolError:
    """Refuse a box of which no region can be cropped.

    Args:
        box: as the model wrote it; the refusal quotes it.

    Returns:
        The error; the caller raises it.
    """
    return verbatim_error(
        f"Error: The specified bounding box {box} is invalid or results in a crop smaller than "
        f"the minimum size of {SHORTEST}x{SHORTEST}."
    )


def grow_region(region: Sides, width: int, height: int) -> Sides:
    """A region with an area, in a picture of that size, in whole pixels.

    Args:
        region: (left, top, right, bottom) in pixels; its shorter side is below 28.
        width, height: of the picture, in pixels.

    Returns:
        (left, top, right, bottom). The shorter side is less than 28 where the picture is too small for the shape.
    """
    wide, high = region[2] - region[0], region[3] - region[1]
    ratio = SHORTEST / min(high, wide)
    new_wide, new_high = wide * ratio, high * ratio
    if new_wide > width:
        new_wide, new_high = float(width), new_high * (width / new_wide)
    if new_high > height:
        new_high, new_wide = float(height), new_wide * (height / new_high)
    left = _shift_inside((region[0] + region[2]) / 2.0 - new_wide / 2.0, new_wide, width)
    top = _shift_inside((region[1] + region[3]) / 2.0 - new_high / 2.0, new_high, height)
    return math.floor(left), math.floor(top), math.ceil(left + new_wide), math.ceil(top + new_high)


def has_shape(region: Sides) -> bool:
    """Tell whether a region can be a picture.

    Args:
        region: (left, top, right, bottom). One side may be 100 times as long as the other.

    Returns:
        True if it has an area, and is not too long for its width.
    """
    wide, high = region[2] - region[0], region[3] - region[1]
    return wide > 0 and high > 0 and not max(high, wide) / min(high, wide) > _LONGEST_RATIO


def is_large_enough(region: Sides) -> bool:
    """Tell whether a region can be cropped.

    Args:
        region: (left, top, right, bottom) in pixels; they are cut to whole pixels before the 28 are counted.

    Returns:
        True if it has a shape (`has_shape`), and 28 pixels each way.
    """
    if not has_shape(region):
        return False
    across, down = math.floor(region[2]) - math.floor(region[0]), math.floor(region[3]) - math.floor(region[1])
    return min(across, down) >= SHORTEST


def _shift_inside(start: float, length: float, limit: int) -> float:
    start = max(start, 0.0)
    return limit - length if start + length > limit else start
