"""REVERSE: two readers, three terms and their sum.

github.com/yonglleee/REVERSE, commit e95f7c13aa65560f85d427febd265b2ab9262fef: `eval/eval_benchmark.py` reads answers
for the tables, `reward_score/geoloc.py` for the reward, `reward_manager/limited.py` adds the terms up. The function
that the training scripts name returns no format term; the one with details does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from tts.domain.text_between_marks import Enclosure, between_tags, value_between_tags
from tts.rewards.papers.reverse_reward import place_reward
from tts.rewards.released.distances import haversine_km

_NUMBER = r"[-+]?\d+(?:\.\d+)?"
_ANSWER = between_tags("answer")
_BOXED_ANSWER = Enclosure(re.compile(r"\\boxed\{"), re.compile(r"\}"))
_NAMED_POINT = re.compile(
    rf"lat(?:itude)?\s*[=:]\s*({_NUMBER})\s*(?:[,;]\s*)?lon(?:gitude)?\s*[=:]\s*({_NUMBER})", re.IGNORECASE
)
_NUMBER_PAIR = re.compile(rf"((?:[-+]|(?<!\d))\d+(?:\.\d+)?)\s*,\s*({_NUMBER})")  # tried once for each run of digits
_FORMAT_TAGS = ("<think>", "</think>", "<answer>", "</answer>")
_USEFUL_MARKS = value_between_tags("useful", "[]")
_THRESHOLDS_KM = (1, 25, 200, 750, 2500)
_MIN_IOU = 0.7
_IOU_REWARD = 0.2
_MIN_TOOLS_REWARD = -0.5
_MAX_TOOLS_REWARD = 1.0
_WEIGHTS = (0.6, 0.1, 0.3)

Pair = tuple[float, float]


class PlaceScore(NamedTuple):
    """`place` in [0, 1], `form` one of 0, 0.8 and 1; `km` to a thousandth, None without a position."""

    place: float
    form: float
    km: float | None
    within: dict[str, int]


class Total(NamedTuple):
    """The weighted sum and what went into it."""

    value: float
    place: float
    form: float
    tools: float


def read_for_tables(text: str) -> Pair | None:
    """The last two parts of the last `<answer>` as numbers, unchecked; None for 0, 0 and for anything else."""
    answers = _ANSWER.findall(text)
    if not answers:
        return None
    parts = answers[-1].split(",")
    try:
        lat, lon = float(parts[-2].strip()), float(parts[-1].strip())
    except (ValueError, IndexError):
        return None
    return None if lat == 0.0 and lon == 0.0 else (lat, lon)


def names_for_tables(text: str) -> tuple[str, str]:
    """Country and city of the answer that `read_for_tables` reads; empty where it states none."""
    answers = _ANSWER.findall(text)
    country, *city = [part.strip() for part in answers[-1].split(",")[:-2]] or [""] if answers else [""]
    return country, ", ".join(city)


def read_for_reward(text: str) -> Pair | None:
    """A position anywhere in the first `<answer>`, else in the first box, else in the whole text.

    Values after the words lat and lon win and are not checked; otherwise the last pair in range counts.
    """
    answer = _ANSWER.search(text) or _BOXED_ANSWER.search(text)
    within = text if answer is None else answer.text
    if (named := _NAMED_POINT.search(within)) is not None:
        return float(named[1]), float(named[2])
    pairs = [(float(found[1]), float(found[2])) for found in _NUMBER_PAIR.finditer(within)]
    in_range = [(lat, lon) for lat, lon in pairs if abs(lat) <= 90.0 and abs(lon) <= 180.0]
    return in_range[-1] if in_range else None


def format_reward(text: str) -> float:
    """1 for thought, answer and a list of useful results, 0.8 without the list, 0 for anything else."""
    if not text.startswith(_FORMAT_TAGS[0]) or not _are_in_order(text, _FORMAT_TAGS):
        return 0.0
    return 0.8 if _USEFUL_MARKS.search(text) is None else 1.0


def place(text: str, truth: str) -> PlaceScore:
    """Place and format of a whole output. `truth` is read as an answer is; one without a position asks for equality."""
    form = format_reward(text)
    true, guess = read_for_reward(truth), read_for_reward(text)
    if true is None:
        return PlaceScore(float(text.strip() == truth.strip()), form, None, _hits(None))
    if guess is None:
        return PlaceScore(0.0, form, None, _hits(None))
    km = haversine_km(*guess, *true)
    return PlaceScore(place_reward(km), form, round(km, 3), _hits(km))


def overlap(a: Sequence[float], b: Sequence[float]) -> float:
    """Intersection over union of two boxes (x0, y0, x1, y1) in one unit; 0 where corners are exchanged."""
    width, height = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    if width <= 0.0 or height <= 0.0:
        return 0.0
    shared = width * height
    union = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared
    return shared / union if union > 0.0 else 0.0


def image_search_reward(iou: float) -> float:
    """0.2 · IoU with the recorded region from 0.7 on, else 0."""
    return _IOU_REWARD * iou if iou >= _MIN_IOU else 0.0


def tools_reward(rewards: Sequence[float]) -> float:
    """The sum over all calls and marks, within [−0.5, 1]."""
    return min(max(sum(rewards), _MIN_TOOLS_REWARD), _MAX_TOOLS_REWARD) if rewards else 0.0


def total(placed: PlaceScore, tools: Sequence[float], *, with_format: bool = True) -> Total:
    """0.6 place + 0.1 format + 0.3 tools. `with_format=False` is what the training scripts run."""
    form, tool = placed.form if with_format else 0.0, tools_reward(tools)
    value = _WEIGHTS[0] * placed.place + _WEIGHTS[1] * form + _WEIGHTS[2] * tool
    return Total(value, placed.place, form, tool)


def _hits(km: float | None) -> dict[str, int]:
    return {f"acc_{limit}km": int(km is not None and km <= limit) for limit in _THRESHOLDS_KM}


def _are_in_order(text: str, tags: Sequence[str]) -> bool:
    at = 0
    for tag in tags:
        if (found := text.find(tag, at)) < 0:
            return False
        at = found + len(tag)
    return True
