"""How pictures are scaled before a model sees them. The scaling rule must be the one of the model's training.

A dialect owns its rules because its boxes may be stated in pixels of the scaled picture; engines apply them.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import Field, model_validator

from tts.domain.value import Value

Resampling = Literal["bicubic", "bilinear", "lanczos"]


class ResizeRule(Value):
    """Pixels in [min_pixels, max_pixels], sides snapped to `multiple`, aspect kept as far as that allows.

    The arithmetic is the published image processors' (Qwen2-VL "smart resize"): sides are rounded to the multiple, then
    floored when the picture is too large and raised when it is too small.
    """

    min_pixels: Annotated[int, Field(ge=1)] = Field(
        default=1, description="pictures with fewer pixels (width × height) are scaled up to this"
    )
    max_pixels: Annotated[int, Field(ge=256)] = Field(
        default=2_000_000, description="pictures with more pixels (width × height) are scaled down to this"
    )
    multiple: Annotated[int, Field(ge=1, le=256)] = Field(
        default=1, description="both sides become multiples of this many pixels"
    )
    max_side: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="longest side in pixels, applied first. Default: no limit"
    )
    resample: Resampling = Field(default="bicubic", description="the filter by which a picture is scaled")

    @model_validator(mode="after")
    def _check_order(self) -> ResizeRule:
        if self.min_pixels > self.max_pixels:
            raise ValueError("min_pixels is above max_pixels: lower min_pixels, or raise max_pixels")
        return self

    def size(self, width: float, height: float) -> tuple[int, int]:
        """(width, height) after scaling; both at least one multiple. `max_side` comes first, cut to whole pixels."""
        if self.max_side is not None and max(width, height) > self.max_side:
            scale = self.max_side / max(width, height)
            width, height = max(1, int(width * scale)), max(1, int(height * scale))
        step = self.multiple
        wide, high = (max(step, round(side / step) * step) for side in (width, height))
        if wide * high > self.max_pixels:
            shrink = math.sqrt(width * height / self.max_pixels)
            wide, high = (max(step, math.floor(side / shrink / step) * step) for side in (width, height))
        elif wide * high < self.min_pixels:
            grow = math.sqrt(self.min_pixels / (width * height))
            wide, high = (math.ceil(side * grow / step) * step for side in (width, height))
        return wide, high


class PictureRules(Value):
    """One rule for whole photos and one for everything else."""

    photo: ResizeRule = Field(default=ResizeRule(), description="size of whole photos")
    crop: ResizeRule = Field(
        default=ResizeRule(max_pixels=1_000_000), description="size of everything else: crops and maps"
    )
    boxes_in_pixels: bool = Field(
        default=False,
        description="whether the model states boxes in pixels of the scaled picture; engines must not scale it again",
    )
