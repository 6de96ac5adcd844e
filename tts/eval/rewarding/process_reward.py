"""REVERSE's rewards of single calls and marks, from the labels of recorded searches.

As in its loop: every turn after a search is judged by its marks, then by its calls; the search that counts is the last
one whose results have labels. What was shown is matched to the labels by its link.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tts.domain.tooling import ToolCall, ToolResult, WebFact
from tts.domain.trajectory import Turn
from tts.errors import ToolErrorKind
from tts.rewards.released.reverse_marks import Marks, discrimination
from tts.rewards.released.reverse_reward import image_search_reward
from tts.toolkit.reverse_cache.lookup import picture_call
from tts.toolkit.reverse_cache.recorded_searches import ReverseCache

_TEXT_SEARCH_REWARD = 0.1
_BAD_BOX_REWARD = -0.05


def tool_rewards(turns: Sequence[Turn], cache: ReverseCache, photo: str) -> list[float]:
    """The rewards in the order in which the loop gives them. `photo` is the photo's hash."""
    path = cache.path_of(photo)
    rewards: list[float] = []
    for turn, marks in _judge_marks(turns, cache, path):
        rewards += [] if marks is None else [marks.reward]
        rewards += [_reward(call, result, cache, path) for call, result in calls_with_results(turn)]
    return rewards


def judged_marks(turns: Sequence[Turn], cache: ReverseCache, photo: str) -> list[Marks]:
    """What was marked after each search, against the labels."""
    return [marks for _, marks in _judge_marks(turns, cache, cache.path_of(photo)) if marks is not None]


def calls_with_results(turn: Turn) -> list[tuple[ToolCall, ToolResult]]:
    """The calls of a turn that have a result, in order."""
    results = {result.call_id: result for result in reversed(turn.results)}
    return [(call, results[call.id]) for call in turn.calls if call.id in results]


def searched_box(call: ToolCall) -> tuple[float, ...] | None:
    """The four sides of a call's box; None when it has none that can be read."""
    return _box(call.arguments.get("bbox_2d"))


def _judge_marks(turns: Sequence[Turn], cache: ReverseCache, path: str) -> Iterator[tuple[Turn, Marks | None]]:
    """Every turn with the judgement of its marks; None where no search came before or nothing is marked."""
    useful = _useful_links(cache, path)
    searched: tuple[WebFact, ...] | None = None
    for turn in turns:
        marks = None
        if searched is not None:
            true = {fact.number for fact in searched if fact.url in useful}
            marks = discrimination(turn.text, true, len(searched))
        yield turn, marks
        for _, result in calls_with_results(turn):
            searched = tuple(fact for fact in result.facts if isinstance(fact, WebFact)) or searched


def _reward(call: ToolCall, result: ToolResult, cache: ReverseCache, path: str) -> float:
    if result.failure is not None and result.failure.kind is ToolErrorKind.INVALID_ARGUMENTS:
        return _BAD_BOX_REWARD if "bbox_2d" in call.arguments else 0.0
    if not any(isinstance(fact, WebFact) for fact in result.facts):
        return 0.0
    box = searched_box(call)
    if box is None:
        return _TEXT_SEARCH_REWARD
    _, iou = picture_call(cache, path, box)
    return image_search_reward(iou or 0.0)


def _box(written: Any) -> tuple[float, ...] | None:
    try:
        sides = tuple(float(side) for side in written)
    except (TypeError, ValueError):
        return None
    return sides if len(sides) == 4 else None


def _useful_links(cache: ReverseCache, path: str) -> frozenset[str]:
    return frozenset(result.link for result in cache.results_of(path) if result.useful)
