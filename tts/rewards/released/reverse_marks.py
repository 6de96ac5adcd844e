"""REVERSE: the reward for telling useful results from useless ones, `<useful>[1, 3]</useful>` after a search.

Each turn after a search is judged against the latest search whose labels are known: Matthews correlation times 0.3
(`experimental/agent_loop/tool_agent_loop.py` of the commit in `reverse_reward.py`).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection
from typing import Any, NamedTuple

_OPENING = re.compile(r"<useful>\s*\[")
_CLOSING = re.compile(r"\s*</useful>")
_EXAMPLE = "i, j, ..."  # the placeholder of the prompt, written back by the model
_MCC_FACTOR = 0.3


class Marks(NamedTuple):
    """What the model marked against what was useful. `mcc` in [−1, 1], `reward` in [−0.3, 0.3]."""

    reward: float
    mcc: float
    tp: int
    fp: int
    fn: int
    tn: int


def marked_values(text: str) -> frozenset[Any] | None:
    """What the first mark of a turn names, as JSON values; empty without a mark, None when it is no list of JSON."""
    inside = _first_list(text).strip()
    if inside in ("", _EXAMPLE):
        return frozenset()
    try:
        return frozenset(json.loads(f"[{inside}]"))
    except (ValueError, TypeError):
        return None


def _first_list(text: str) -> str:
    """What stands in the first list whose own bracket and tag close it; empty without one."""
    end = 0
    while (opened := _OPENING.search(text, end)) is not None and (end := text.find("]", opened.end())) >= 0:
        if _CLOSING.match(text, end + 1):
            return text[opened.end() : end]
    return ""


def discrimination(text: str, useful: Collection[int], results: int) -> Marks | None:
    """The reward of one turn for a search with `results` results, of which those at `useful` (from 1) help.

    Nothing marked where nothing helps is right. None, which is no reward at all, when the marks cannot be read.
    """
    marks, true = marked_values(text), frozenset(useful)
    if marks is None:
        return None
    tp, fp, fn = len(marks & true), len(marks - true), len(true - marks)
    tn = len(frozenset(range(1, results + 1)) - marks - true)
    mcc = 1.0 if not marks and not true else _matthews_correlation(tp, fp, fn, tn)
    return Marks(mcc * _MCC_FACTOR, mcc, tp, fp, fn, tn)


def _matthews_correlation(tp: int, fp: int, fn: int, tn: int) -> float:
    scale = math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return 0.0 if scale == 0.0 else (tp * tn - fp * fn) / scale
