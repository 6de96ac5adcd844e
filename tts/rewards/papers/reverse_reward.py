"""REVERSE (arXiv:2605.26861): place, format and the process of tool use, weighted 0.6, 0.1 and 0.3.

The process part pays for looking at the right region, for searching at all, and for telling useful results from useless
ones; it takes a little away for zooms onto nothing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from tts.domain.value import Value

_REWARD_BY_KM = ((1.0, 1.0), (25.0, 0.8), (200.0, 0.6), (750.0, 0.4), (2500.0, 0.2))
_MIN_IOU = 0.7
_FORMAT_REWARDS = {"strict": 1.0, "loose": 0.8, "broken": 0.0}

Format = Literal["strict", "loose", "broken"]
"""strict: as the prompt asks. loose: an answer can be read although the tags are not all in place. broken: none can."""


class ToolUse(Value):
    """What one trajectory did with its tools.

    `image_search_ious` has one overlap with the reference region for each image search, `valid_text_queries` counts
    searches that ran, `useful_tagged` and `useful_true` say for every result shown whether the model trusted it and
    whether it was right to.
    """

    image_search_ious: tuple[Annotated[float, Field(ge=0, le=1)], ...] = ()
    valid_text_queries: Annotated[int, Field(ge=0)] = 0
    degenerate_zooms: Annotated[int, Field(ge=0)] = 0
    useful_tagged: tuple[bool, ...] = ()
    useful_true: tuple[bool, ...] = ()


def place_reward(distance_km: float | None) -> float:
    """In [0, 1]: 1 up to 1 km, linear through (25, 0.8) (200, 0.6) (750, 0.4) (2500, 0.2), 0 beyond."""
    if distance_km is None or distance_km > _REWARD_BY_KM[-1][0]:
        return 0.0
    for (near_km, high), (far_km, low) in itertools.pairwise(_REWARD_BY_KM):
        if distance_km <= near_km:
            return high
        if distance_km <= far_km:
            return high + (low - high) * (distance_km - near_km) / (far_km - near_km)
    return _REWARD_BY_KM[-1][1]


def format_reward(form: Format) -> float:
    """1 for strict, 0.8 for loose, 0 for broken."""
    return _FORMAT_REWARDS[form]


def matthews(tagged: Sequence[bool], true: Sequence[bool]) -> float:
    """Matthews correlation in [−1, 1]; 0 when either side is constant.

    Raises:
        ValueError: when the two have different lengths.
    """
    if len(tagged) != len(true):
        raise ValueError(f"{len(tagged)} tags for {len(true)} results")
    both = sum(a and b for a, b in zip(tagged, true, strict=True))
    neither = sum(not a and not b for a, b in zip(tagged, true, strict=True))
    wrongly = sum(a and not b for a, b in zip(tagged, true, strict=True))
    missed = len(true) - both - neither - wrongly
    scale = (both + wrongly) * (both + missed) * (neither + wrongly) * (neither + missed)
    return 0.0 if scale == 0 else (both * neither - wrongly * missed) / math.sqrt(scale)


def tool_reward(use: ToolUse) -> float:
    """In [−0.5, 1]: 0.2·IoU for image searches with IoU ≥ 0.7, 0.1 a valid text query, −0.05 a degenerate zoom, and
    0.3·Matthews of the useful tags; the sum is clipped."""
    looked = sum(0.2 * iou for iou in use.image_search_ious if iou >= _MIN_IOU)
    tagged_differently = 0.3 * matthews(use.useful_tagged, use.useful_true)
    total = looked + 0.1 * use.valid_text_queries - 0.05 * use.degenerate_zooms + tagged_differently
    return max(-0.5, min(1.0, total))


def total_reward(distance_km: float | None, form: Format, use: ToolUse) -> float:
    """In [−0.15, 1]."""
    return 0.6 * place_reward(distance_km) + 0.1 * format_reward(form) + 0.3 * tool_reward(use)
