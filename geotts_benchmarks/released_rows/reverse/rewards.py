"""REVERSE: the terms of its reward one by one, the marks of useful results, and the sum."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from geotts_benchmarks.released_rows.corpus import Corpus, Row
from geotts_benchmarks.released_rows.corpus_spelling import to_corpus_spelling
from geotts_benchmarks.released_rows.row_result import RowResult, compare_pairs, is_same
from tts.rewards.papers.reverse_reward import place_reward
from tts.rewards.released import reverse_marks, reverse_reward

_PLAIN_FUNCTION = "compute_score"


async def judge(row: Row, corpus: Corpus) -> RowResult:
    """Compute the term of the reward that the row's `kind` names; KeyError for an unknown kind."""
    return _COMPARISONS[row["kind"]](row)


def _compare_place(row: Row) -> RowResult:
    return compare_pairs(value=(row["value"], place_reward(row["input"]["km"])))


def _compare_format(row: Row) -> RowResult:
    return compare_pairs(value=(row["value"], reverse_reward.format_reward(row["input"]["text"])))


def _compare_coordinates(row: Row) -> RowResult:
    return compare_pairs(value=(row["value"], to_corpus_spelling(reverse_reward.read_for_reward(row["input"]["text"]))))


def _compare_score(row: Row) -> RowResult:
    placed = reverse_reward.place(row["input"]["text"], row["input"]["ground_truth"])
    made: Mapping[str, Any] = {"score": placed.place, "acc": placed.place, "km": placed.km, **placed.within}
    return compare_pairs(value=(row["value"], dict(made)))


def _compare_detailed_score(row: Row) -> RowResult:
    placed = reverse_reward.place(row["input"]["text"], row["input"]["ground_truth"])
    terms = {"reward": placed.place, "format_reward": placed.form, "acc_reward": placed.place, "km": placed.km}
    return compare_pairs(value=(row["value"], {**terms, **placed.within}))


def _compare_discrimination(row: Row) -> RowResult:
    made = reverse_marks.discrimination(row["input"]["text"], row["input"]["useful"], row["input"]["results"])
    counts: JsonValue = None if made is None else {"tp": made.tp, "fp": made.fp, "fn": made.fn, "tn": made.tn}
    return compare_pairs(
        value=(row["value"], None if made is None else made.reward),
        mcc=(row["mcc"], None if made is None else made.mcc),
        counts=(row["counts"], counts),
    )


def _compare_image_search(row: Row) -> RowResult:
    iou = reverse_reward.overlap(row["input"]["bbox_2d"], row["input"]["recorded"])
    return compare_pairs(iou=(row["iou"], iou), value=(row["value"], reverse_reward.image_search_reward(iou)))


def _compare_total(row: Row) -> RowResult:
    given = row["input"]
    placed = reverse_reward.place(given["text"], given["ground_truth"])
    made = reverse_reward.total(placed, given["tool_rewards"] or [], with_format=given["function"] != _PLAIN_FUNCTION)
    turns = _sums_by_turn(given["tool_rewards"])
    if not is_same(row["per_turn"], turns) and _can_be_turns(given["tool_rewards"], row["per_turn"]):
        turns = row["per_turn"]
    return compare_pairs(
        value=(row["value"], made.value),
        breakdown=(row["breakdown"], {"acc": made.place, "fmt": made.form, "tool": made.tools}),
        per_turn=(row["per_turn"], turns),
    )


def _sums_by_turn(rewards: Sequence[float] | None) -> JsonValue:
    """Sums by turn where every turn has one reward; one turn without any where there is none."""
    if rewards is None:
        return None
    return [reverse_reward.tools_reward([reward]) for reward in rewards] or [reverse_reward.tools_reward([])]


def _can_be_turns(rewards: Sequence[float] | None, per_turn: Sequence[float] | None) -> bool:
    """Whether the rewards, cut into that many turns, give these sums. The row does not say where the turns end."""
    if rewards is None or per_turn is None:
        return rewards is None and per_turn is None
    inner = range(len(rewards) + 1)
    for cuts in itertools.combinations_with_replacement(inner, max(0, len(per_turn) - 1)):
        edges = (0, *cuts, len(rewards))
        sums = [reverse_reward.tools_reward(rewards[a:b]) for a, b in itertools.pairwise(edges)]
        if is_same(list(per_turn), list(sums)):
            return True
    return False


_COMPARISONS: Mapping[str, Callable[[Row], RowResult]] = {
    "place": _compare_place,
    "format": _compare_format,
    "coordinates": _compare_coordinates,
    "compute_score": _compare_score,
    "compute_score_detailed": _compare_detailed_score,
    "discrimination": _compare_discrimination,
    "image_search": _compare_image_search,
    "total": _compare_total,
}
