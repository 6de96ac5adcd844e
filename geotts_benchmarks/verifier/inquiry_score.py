"""Scores the verifier with an inquiry on scenarios: the production code with the tools of the scenario."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tts.domain.geo import LatLon, distance_km
from tts.eval.synthetic.scenario import RIGHT_KM, Scenario
from tts.eval.synthetic.scenario_inquiry import decide_with_questions
from tts.verify.evidence.world import World
from tts.verify.verifiers.consensus import judge


@dataclass(frozen=True, slots=True)
class InquiryScore:
    """One scenario: whether the answer is right, and how many calls the verifier made."""

    kind: str
    right: bool
    calls: int
    moved: bool = False


async def score_inquiry(scenarios: Iterable[Scenario], world: World, questions: int) -> list[InquiryScore]:
    """Each scenario with so many calls for the verifier. An attack has moved the answer when it lies elsewhere than
    without the attack, with the same number of calls."""
    found = []
    for scenario in scenarios:
        point, calls = await decide_with_questions(scenario, world, questions)
        moved = False
        if scenario.clean is not None:
            clean, _ = await decide_with_questions(scenario.clean, world, questions)
            moved = not _is_near(point, clean, 1.0)
        found.append(InquiryScore(scenario.kind, _is_near(point, scenario.truth, RIGHT_KM), calls, moved))
    return found


def right_with_more(scenario: Scenario, world: World) -> bool:
    """Whether the consensus is right with one more rollout of the same policy, and no questions."""
    extra_rollout = () if scenario.extra_rollout is None else (scenario.extra_rollout,)
    clusters = judge((*scenario.trajectories, *extra_rollout), scenario.readings, world).clusters
    return _is_near(clusters[0].centre if clusters else None, scenario.truth, RIGHT_KM)


def _is_near(point: LatLon | None, other: LatLon | None, km: float) -> bool:
    if point is None or other is None:
        return point is other
    return distance_km(point, other) <= km
