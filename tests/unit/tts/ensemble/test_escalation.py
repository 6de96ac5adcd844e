"""When the rollouts so far are not enough."""

from typing import Any

import pytest
from support.rollouts import COIMBRA, OSAKA, answered_rollout

from tts.domain.answer import Evidence, StopReason, Verdict
from tts.domain.hypothesis import Level
from tts.domain.plan import Depth, PlanDepth
from tts.domain.request import LocateOptions
from tts.domain.trajectory import Run, Trajectory
from tts.ensemble.escalation import reason_to_escalate

AGREED = (2.0, 2.0)


def verdict(*, confidence: float = 0.9, abstained: bool = False, against: str = "") -> Verdict:
    evidence = (Evidence(id="e1", claim=against, supports=False),) if against else ()
    where: dict[str, Any] = (
        {"lat": None, "lon": None, "radius_km": None, "level": Level.NONE}
        if abstained
        else {"lat": 40.2, "lon": -8.4, "radius_km": {"p50": 1.0, "p90": 10.0}, "level": Level.CITY}
    )
    return Verdict(**where, abstained=abstained, confidence=confidence, target_radius_km=25.0, evidence=evidence)


def why_escalate(
    *trajectories: Trajectory, agreement=AGREED, depth=PlanDepth.STANDARD, asked=Depth.AUTO, **verdict_fields: Any
):
    options = LocateOptions(n_parallel=8, depth=asked)
    return reason_to_escalate(
        options,
        depth,
        Run(rollouts={t.rollout_id: t for t in trajectories}),
        lambda: agreement,
        verdict(**verdict_fields),
    )


def test_an_agreed_answer_calls_for_no_escalation():
    assert why_escalate(answered_rollout(0, COIMBRA), answered_rollout(1, COIMBRA)) is None


def test_an_abstention_calls_for_more_rollouts():
    assert why_escalate(answered_rollout(0, None), abstained=True) == "nothing was found"


def test_witnesses_who_contradict_each_other_call_for_more_rollouts():
    assert "no two of 2 independent answers agree" in why_escalate(
        answered_rollout(0, COIMBRA), answered_rollout(1, OSAKA), agreement=(1.0, 2.0)
    )


@pytest.mark.parametrize(("confidence", "expected"), [(0.4, True), (0.9, False)])
def test_facts_against_a_doubtful_answer_call_for_more_rollouts(confidence, expected):
    found = why_escalate(answered_rollout(0, COIMBRA), confidence=confidence, against="the phone number is Japanese")
    assert (found is not None and "the phone number is Japanese" in found) is expected


def test_a_model_that_asks_for_depth_gets_it():
    deep, short = answered_rollout(0, COIMBRA, wants_depth="deep"), answered_rollout(1, COIMBRA, wants_depth="short")
    assert why_escalate(deep) == "the model asks to think longer"
    assert why_escalate(deep, short) is None
    assert why_escalate(deep, depth=PlanDepth.DEEP) is None


def test_a_depth_the_caller_chose_and_a_hopeless_photo_are_left_alone():
    assert why_escalate(answered_rollout(0, None), abstained=True, asked=Depth.STANDARD) is None
    assert why_escalate(answered_rollout(0, None), abstained=True, depth=PlanDepth.HOPELESS) is None


def test_an_engine_that_is_down_is_not_given_more_work():
    dead = answered_rollout(0, None).model_copy(update={"stop_reason": StopReason.FAILED, "answer": None})
    assert why_escalate(dead, abstained=True) is None
