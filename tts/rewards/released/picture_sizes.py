"""The picture sizes of Qwen-VL processors, as REVERSE and GeoVista compute them for their crops."""

from __future__ import annotations

import math

FACTOR = 28
MIN_PIXELS = 256 * 256
MAX_PIXELS = 2048 * 1024


def smart_resize(
    height: int, width: int, *, factor: int = FACTOR, min_pixels: int = MIN_PIXELS, max_pixels: int = MAX_PIXELS
) -> tuple[int, int]:
    """(height, width) in multiples of `factor` within the limits of area, with about the same shape."""
    tall = max(factor, round(height / factor) * factor)
    wide = max(factor, round(width / factor) * factor)
    if tall * wide > max_pixels:
        shrink = math.sqrt(height * width / max_pixels)
        return math.floor(height / shrink / factor) * factor, math.floor(width / shrink / factor) * factor
    if tall * wide < min_pixels:
        grow = math.sqrt(min_pixels / (height * width))
        return math.ceil(height * grow / factor) * factor, math.ceil(width * grow / factor) * factor
    return tall, wide
