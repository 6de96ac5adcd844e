"""The cost of an answer: tokens, seconds, money, and how much of the prompts came from the prefix cache."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tts.domain.usage import Usage
from tts.domain.value import Value
from tts.eval.metrics.intervals import Interval, bootstrap_mean, bootstrap_ratio
from tts.eval.runs.record import Record


class Costs(Value):
    """Means over answers with bootstrap 95 % intervals; None where nothing is known.

    `cached_percent` is the share of prompt tokens that the engine says it had in its cache. `cost_usd` is None where
    the model has no known price; `whole_cost_usd` is for all answers together.
    """

    answers: int
    tokens: Interval | None
    completion_tokens: Interval | None
    seconds: Interval | None
    median_seconds: float | None
    tool_calls: Interval | None
    cost_usd: Interval | None
    whole_cost_usd: float
    cached_percent: Interval | None


def costs(records: Sequence[Record]) -> Costs:
    """Of the records with an answer."""
    answered = [record for record in records if record.answer is not None]
    usage = [record.answer.usage for record in answered if record.answer is not None]
    seconds = [record.elapsed_s for record in answered]
    money = [one.cost_usd for one in usage]
    return Costs(
        answers=len(answered),
        tokens=_mean([one.prompt_tokens + one.completion_tokens for one in usage]),
        completion_tokens=_mean([one.completion_tokens for one in usage]),
        seconds=_mean(seconds),
        median_seconds=float(np.median(seconds)) if seconds else None,
        tool_calls=_mean([one.tool_calls for one in usage]),
        cost_usd=_mean(money) if any(money) else None,
        whole_cost_usd=sum(money),
        cached_percent=_cached_percent(usage),
    )


def _mean(values: Sequence[float]) -> Interval | None:
    return bootstrap_mean(np.array(values, dtype=np.float64)) if values else None


def _cached_percent(usage: Sequence[Usage]) -> Interval | None:
    prompt = np.array([one.prompt_tokens for one in usage], dtype=np.float64)
    if not prompt.sum():
        return None
    return bootstrap_ratio(100.0 * np.array([one.cached_tokens for one in usage], dtype=np.float64), prompt)
