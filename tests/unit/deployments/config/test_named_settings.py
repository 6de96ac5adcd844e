"""Every setting that a finding of an acceptance run names exists in the configuration of the service."""

import pytest
from support.acceptance_records import ENGINES, TRUTH, assess_records, call, record, result, rollout, turn
from support.made_answers import an_answer

from deployments.config import AppArgs
from tts.domain.answer import RunCount, StopReason
from tts.domain.calibration import CalibrationState
from tts.domain.failure import RolloutFailure
from tts.domain.tooling import ToolErrorKind
from tts.domain.usage import Usage
from tts.eval.metrics.name_agreement import PlaceNames


@pytest.fixture(scope="module")
def names(countries):
    return PlaceNames(countries)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine["name"])
def test_every_setting_that_is_named_exists_and_stands_in_the_sentence(engine, names):
    args = AppArgs.model_validate({"engine": engine})
    overflow = RolloutFailure(code="model", detail="too long", about="context")
    away = RolloutFailure(code="model", detail="away")
    bad = [turn(i, problem="no JSON") for i in range(20)] + [turn(20 + i, cut=True) for i in range(20)]
    calls = [
        turn(0, [call(i) for i in range(30)], [result(i, ToolErrorKind.INVALID_ARGUMENTS) for i in range(30)]),
        turn(1, [call(i) for i in range(30)], [result(i, ToolErrorKind.TIMEOUT) for i in range(30)]),
    ]
    rollouts = (
        *(rollout(i, bad, point=TRUTH) for i in range(100)),
        *(rollout(100 + i, stop=StopReason.FAILED, point=None, failure=overflow) for i in range(30)),
        *(rollout(130 + i, stop=StopReason.FAILED, point=None, failure=away) for i in range(30)),
        *(rollout(160 + i, stop=StopReason.DEADLINE) for i in range(60)),
        rollout(220, calls),
    )
    answer = an_answer(
        lat=None, lon=None, radius_km=None, abstained=True, usage=Usage(prompt_tokens=100),
        n=RunCount(asked=2, planned=2, run=2, answered=2),
    )  # fmt: skip
    wrong = an_answer(lat=0.0, lon=0.0, calibration=CalibrationState(state="transferred"), usage=Usage(prompt_tokens=9))
    silent = [record(i, *rollouts, answer=answer) for i in range(2)]
    abstained = [record(10 + i, rollout(0), answer=answer) for i in range(20)]
    lost = [record(40 + i, rollout(0), answer=wrong) for i in range(18)]
    found = assess_records([*silent, *abstained, *lost], args, names, rollouts=1)
    expected = {
        "cut_contexts", "broken_rollouts", "late_rollouts", "parse_failures", "cut_turns", "invalid_calls",
        "repeated_calls", "failed_calls", "rollouts_without_calls", "verifier", "radius_cover",
    }  # fmt: skip
    assert expected <= {finding.about for finding in found.findings}
    assert ("cached_tokens" in {finding.about for finding in found.findings}) == (engine["name"] != "scripted")
    assert found.has_faults
    for finding in found.findings:
        for setting in finding.settings:
            node = args
            for part in setting.split("."):
                assert part in type(node).model_fields, f"{finding.about} names {setting}"
                node = getattr(node, part)
            assert setting in finding.change
