"""The crop of the evaluation: whole thousandths to whole pixels, scaled for the model, JPEG.

What lies beyond the edge is black. The crop is scaled to sides in multiples of 28 and 65,536 to 2,097,152 pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PIL import Image

from tools.released.picture import check_crop
from tts.domain.photo import Photo
from tts.rewards.released.picture_sizes import smart_resize

_BOX_UNITS: Final = 1000.0
Region = tuple[int, int, int, int]


def region_of(box: Sequence[int], width: int, height: int) -> Region:
    """Pixels of a box in thousandths.

    Args:
        box: left, top, right and bottom in thousandths of the picture's sides; beyond 0 to 1000 it sticks out.
        width, height: of the picture, in pixels.

    Returns:
        (left, top, right, bottom), rounded.

    Raises:
        ValueError: the box has not four sides.
    """
    left, top, right, bottom = box
    return (
        round(left / _BOX_UNITS * width),
        round(top / _BOX_UNITS * height),
        round(right / _BOX_UNITS * width),
        round(bottom / _BOX_UNITS * height),
    )


def checked_size(region: Region) -> tuple[int, int]:
    """Compute the size to which a crop is scaled, and check it.

    Args:
        region: (left, top, right, bottom) in pixels; it may stick out of the picture.

    Returns:
        (width, height) of the scaled crop, in pixels.

    Raises:
        ValueError: corners are exchanged, or the crop is far too large.
        ZeroDivisionError: the region has no area, and is not more than about 2,340 pixels long.
    """
    left, top, right, bottom = region
    if right < left:
        raise ValueError("Coordinate 'right' is less than 'left'")
    if bottom < top:
        raise ValueError("Coordinate 'lower' is less than 'upper'")
    check_crop(right - left, bottom - top)
    height, width = smart_resize(bottom - top, right - left)
    return width, height


def crop_photo(photo: Photo, box: Sequence[int]) -> tuple[Image.Image, Region]:
    """The scaled crop, and where it lies on the photo.

    Args:
        photo: a clean photo; it is decoded anew with each call.
        box: as in `region_of`.

    Returns:
        The crop, and (left, top, right, bottom) in pixels of the photo.

    Raises:
        ValueError, ZeroDivisionError: as `region_of` and `checked_size`.
    """
    region = region_of(box, photo.width, photo.height)
    size = checked_size(region)
    return photo.image().crop(region).resize(size, Image.Resampling.BICUBIC), region
