"""The searches of training: a recorded call of the photo, its useful results mixed with useless ones."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tools.released.grown_box import box_of_four
from tools.released.reverse.training_arguments import crash_error
from tools.released.written_arguments import verbatim_error
from tts.domain.tooling import WebFact
from tts.rewards.released.reverse_reward import image_search_reward
from tts.toolkit.reverse_cache.facts import as_facts
from tts.toolkit.reverse_cache.lookup import IOU_MIN, picture_call, query_text, text_call
from tts.toolkit.reverse_cache.recorded_searches import ReverseCache
from tts.toolkit.reverse_cache.result_choice import ChosenResults, choose_results

_TEXT_CHARS = 200
_TEXT_REWARD = 0.1
_NO_PICTURES = "No search results available for this region."
Chance = Callable[[], random.Random]


@dataclass(frozen=True, slots=True)
class RecordedResult:
    """What a search of training gives.

    Attributes:
        text: what the model reads.
        reward: what the training adds for this call, 0 or more.
        meta: what the search tells its loop, by the names of the authors.
        facts: the results that are shown.
    """

    text: str
    reward: float = 0.0
    meta: dict[str, Any] = field(default_factory=dict)
    facts: tuple[WebFact, ...] = ()


def recorded_pictures(cache: ReverseCache, path: str, written: Any, chance: Chance) -> RecordedResult:
    """Search by picture in the recorded calls.

    Args:
        cache: the recorded calls.
        path: the path under which the photo was recorded (`ReverseCache.path_of`).
        written: the box as the model wrote it, any JSON value; a good one has four sides in thousandths of the photo's.
        chance: makes the generator that draws the results to show; called only if the recorded box overlaps enough.

    Returns:
        The text for the model and its reward. A photo without a call, or too little overlap, gives a text that says so
        and the reward 0.

    Raises:
        ToolError: the box has not four sides, or one that is no number from 0 to 1000.
    """
    box = _box_numbers(box_of_four(written, crash_error))
    call, iou = picture_call(cache, path, box)
    if call is None or iou is None:
        return RecordedResult(_NO_PICTURES, meta={"success": False, "cache_hit": False, "iou": None})
    shown = choose_results(call.results, chance()) if iou >= IOU_MIN else ChosenResults(())
    if not shown.results:
        return RecordedResult(_NO_PICTURES, meta={"success": False, "cache_hit": False, "iou": iou})
    reward = image_search_reward(iou)
    lines = [f"Image search results for region {[round(side) for side in box]}:\n"]
    for number, result in enumerate(shown.results, 1):
        lines += [f"[{number}] {result.title}", f"    Source: {result.source}", f"    Link: {result.link}"]
    meta = {
        "success": True,
        "cache_hit": True,
        "iou": iou,
        "iou_reward": reward,
        "reward": reward,
        **_released_fields(shown),
    }
    return RecordedResult("\n".join(lines), reward, meta, as_facts(shown.results))


def recorded_pages(cache: ReverseCache, path: str, written: Any, chance: Chance) -> RecordedResult:
    """Search by text in the recorded calls.

    Args:
        cache, path: as in `recorded_pictures`.
        written: the query as the model wrote it: a text, a list of texts, or any other JSON value.
        chance: as in `recorded_pictures`; called only if the photo has a recorded search by text.

    Returns:
        The text for the model and its reward. A photo without a call gives a text that says so and the reward 0.
    """
    query = query_text(written)
    call = text_call(cache, path, query)
    if call is None:
        return RecordedResult(_no_pages_text(query), meta={"success": False, "cache_hit": False})
    asked = call.query or query
    shown = choose_results(call.results, chance())
    if not shown.results:
        return RecordedResult(_no_pages_text(asked), meta={"success": False, "cache_hit": True, "n_pos": 0})
    lines = []
    for number, result in enumerate(shown.results, 1):
        lines.append(f"[{number}] {result.title}")
        lines += [f"    URL: {result.link}"] if result.link else []
        lines += [f"    {result.text[:_TEXT_CHARS]}"] if result.text else []
    text = f"Web search results for: {asked}\n\n" + "\n".join(lines)
    meta = {"success": True, "cache_hit": True, "reward": _TEXT_REWARD, **_released_fields(shown)}
    return RecordedResult(text, _TEXT_REWARD, meta, as_facts(shown.results, asked))


def _box_numbers(box: Sequence[Any]) -> list[float]:
    try:
        sides = [float(side) for side in box]
    except (TypeError, ValueError):
        raise verbatim_error("Error: bbox_2d contains non-numeric values.") from None
    if any(side < 0 or side > 1000 for side in sides):
        raise verbatim_error("Error: bbox_2d must be normalized in [0, 1000].")
    return sides


def _no_pages_text(query: str) -> str:
    return f"Web search results for: {query}\n\nNo results found."


def _released_fields(shown: ChosenResults) -> dict[str, Any]:
    return {"_pos_indices_in_mixed": sorted(shown.useful), "_n_total_results": len(shown.results)}
