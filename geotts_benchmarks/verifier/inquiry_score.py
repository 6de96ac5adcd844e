"""Scores the verifier with an inquiry on scenarios: the production code with the tools of the scenario."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from geotts_benchmarks.verifier.scenario_tools import ScenarioTools
from tts.config import VerifierConfig
from tts.domain.geo import LatLon, distance_km
from tts.domain.request import MAX_QUESTIONS, LocateOptions, RequestContext
from tts.eval.synthetic.scenario import RIGHT_KM, Scenario
from tts.ports.verification import VerifierItem, VerifyRequest
from tts.verify.evidence.world import World
from tts.verify.verifiers.consensus import judge
from tts.verify.verifiers.tool_calling import Questioner

_PATIENCE_S = 3600.0


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
        point, calls = await _decide_with_questions(scenario, world, questions)
        moved = False
        if scenario.clean is not None:
            clean, _ = await _decide_with_questions(scenario.clean, world, questions)
            moved = not _is_near(point, clean, 1.0)
        found.append(InquiryScore(scenario.kind, _is_near(point, scenario.truth, RIGHT_KM), calls, moved))
    return found


def right_with_more(scenario: Scenario, world: World) -> bool:
    """Whether the consensus is right with one more rollout of the same policy, and no questions."""
    extra_rollout = () if scenario.extra_rollout is None else (scenario.extra_rollout,)
    clusters = judge((*scenario.trajectories, *extra_rollout), scenario.readings, world).clusters
    return _is_near(clusters[0].centre if clusters else None, scenario.truth, RIGHT_KM)


async def _decide_with_questions(scenario: Scenario, world: World, questions: int) -> tuple[LatLon | None, int]:
    tools = ScenarioTools(scenario, world.gazetteer)
    questioner = Questioner(tools, world, VerifierConfig(max_questions=MAX_QUESTIONS))
    context = RequestContext(id=scenario.key, remaining_s=_PATIENCE_S)
    options = LocateOptions(verifier_questions=questions)
    request = VerifyRequest(context, (), options, scenario.trajectories, scenario.readings)
    judgement = judge(scenario.trajectories, scenario.readings, world)
    clusters = (await questioner.ask_open_questions(request, judgement, _ignore_item)).clusters
    return (clusters[0].centre if clusters else None), tools.calls


async def _ignore_item(_: VerifierItem) -> None:
    """Nobody follows the events of a scenario."""


def _is_near(point: LatLon | None, other: LatLon | None, km: float) -> bool:
    if point is None or other is None:
        return point is other
    return distance_km(point, other) <= km
