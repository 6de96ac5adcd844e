"""What the verifier's own questions recover, what they cost, and what they lose elsewhere.

`left_behind` is the family they are for. On it they are compared with no questions, and with one more rollout of the
same policy for the same calls. `recovered` is about its scenarios in which no rollout answers the truth, `lost` about
the others. Every other family is judged with and without them, and so are the logs, whose models had no tools: nothing
was read there, so that there is nothing to ask. Differences are paired over scenarios, with 95 % bootstrap intervals.
`lost` is the share of scenarios whose answer is right without questions and wrong with them; answers that become right
are not counted against it. Its interval is that of a share (Wilson), because the bootstrap has no width at 0.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

import numpy as np

from geotts_benchmarks.harness import Result, print_progress
from geotts_benchmarks.verifier.inquiry_score import InquiryScore, right_with_more, score_inquiry
from tts.domain.geo import Floats
from tts.eval.metrics.intervals import paired_difference, share_interval
from tts.eval.panel import Panel
from tts.eval.synthetic.families import FAMILIES, LOST, generate
from tts.eval.synthetic.scenario import Scenario
from tts.verify.evidence.world import World

_ANSWERED_KIND = "answered"  # the kind in which nothing is to be recovered


def measure_questions(world: World, panels: Sequence[Panel], count: int, seed: int, questions: int) -> Result:
    """Figures for so many questions over `count` scenarios a family; nothing for 0."""
    if not questions:
        return {}
    lost = {family: _measure_recovery(world, family, count, seed, questions) for family in LOST}
    elsewhere: dict[str, Result] = {}
    lost_elsewhere: list[Floats] = []
    for family in FAMILIES:
        elsewhere[family], lost_here = _measure_elsewhere(world, family, count, seed, questions)
        lost_elsewhere.append(lost_here)
    logs = _measure_logs(world, panels, questions)
    found: Result = {
        "questions": questions,
        **lost,
        "elsewhere": elsewhere,
        "elsewhere_lost": _share_row(np.concatenate(lost_elsewhere)),
        "elsewhere_lost_most": max(row["lost"] for row in elsewhere.values()),
        "attacks_moved": max((row["moved"] for row in elsewhere.values() if "moved" in row), default=0.0),
        "logs": logs,
    }
    return {"verifier_questions": found}


def _measure_recovery(world: World, family: str, count: int, seed: int, questions: int) -> Result:
    scenarios = generate(family, count, seed, world.gazetteer, world.countries)
    without, asked = (asyncio.run(score_inquiry(scenarios, world, n)) for n in (0, questions))
    more = _hit_percents(right_with_more(scenario, world) for scenario in scenarios)
    before, after = _hit_percents(one.right for one in without), _hit_percents(one.right for one in asked)
    open_ones = np.array([scenario.kind != _ANSWERED_KIND for scenario in scenarios])
    share = share_interval(after[open_ones] > 0)
    gain, against = paired_difference(before, after), paired_difference(more, after)
    gained = paired_difference(before[open_ones], after[open_ones])
    lost = _losses(before[~open_ones], after[~open_ones])
    result: Result = {
        "right_without": round(float(before.mean()), 2),
        "right": round(float(after.mean()), 2),
        "right_with_one_more_rollout": round(float(more.mean()), 2),
        "recovered": round(float(after[open_ones].mean()), 2),
        "recovered_interval": [round(share.low, 2), round(share.high, 2)],
        "recovered_gain": _round_row(gained.value, gained.low, gained.high),
        **({"lost": _share_row(lost)} if len(lost) else {}),
        "gain": _round_row(gain.value, gain.low, gain.high),
        "over_one_more_rollout": _round_row(against.value, against.low, against.high),
        "calls": _mean_calls(asked),
        "by_kind": {kind: round(float(np.mean([100.0 * one.right for one in asked if one.kind == kind])), 2)
                    for kind in sorted({one.kind for one in asked})},
    }  # fmt: skip
    print_progress(f"{family} with {questions} questions: {result}")
    return result


def _losses(before: Floats, after: Floats) -> Floats:
    """(n,) 1 for a scenario whose answer was right before and is wrong after, 0 for the others."""
    return (after < before).astype(np.float64)


def _share_row(shares: Floats) -> list[float]:
    share = share_interval(shares)
    return _round_row(share.value, share.low, share.high)


def _measure_elsewhere(world: World, family: str, count: int, seed: int, questions: int) -> tuple[Result, Floats]:
    """The figures of a family, and (count,) which scenarios lost their right answer."""
    scenarios: list[Scenario] = generate(family, count, seed, world.gazetteer, world.countries)
    without, asked = (asyncio.run(score_inquiry(scenarios, world, n)) for n in (0, questions))
    losses = _losses(_hit_percents(one.right for one in without), _hit_percents(one.right for one in asked))
    lost, *lost_interval = _share_row(losses)
    attacked = [one for one, scenario in zip(asked, scenarios, strict=True) if scenario.clean is not None]
    result: Result = {
        "lost": lost,
        "lost_interval": lost_interval,
        "calls": _mean_calls(asked),
        **_moved_share(attacked),
    }
    print_progress(f"{family} with {questions} questions: {result}")
    return result, losses


def _moved_share(attacked: Sequence[InquiryScore]) -> Result:
    """The share of attacks that moved the answer, with its interval; nothing without attacks."""
    if not attacked:
        return {}
    share = share_interval(np.array([one.moved for one in attacked]))
    return {"moved": round(share.value, 2), "moved_interval": [round(share.low, 2), round(share.high, 2)]}


def _measure_logs(world: World, panels: Sequence[Panel], questions: int) -> Result:
    """How many photos of the logs anything is asked about, and how many answers change."""
    scenarios = [Scenario(panel.key, "logs", "logs", panel.truth, tuple(panel.trajectories)) for panel in panels]
    without, asked = (asyncio.run(score_inquiry(scenarios, world, n)) for n in (0, questions))
    changed = sum(a.right != b.right for a, b in zip(without, asked, strict=True))
    return {"photos": len(panels), "asked": sum(one.calls > 0 for one in asked), "changed": changed}


def _hit_percents(right: Iterable[bool]) -> Floats:
    return np.array([100.0 * one for one in right])


def _round_row(*values: float) -> list[float]:
    return [round(value, 2) for value in values]


def _mean_calls(scores: Sequence[InquiryScore]) -> float:
    return round(float(np.mean([one.calls for one in scores])), 2)
