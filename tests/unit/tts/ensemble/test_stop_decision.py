"""Why running rollouts are stopped: tokens before agreement, agreement before spare rollouts; stragglers by time."""

import pytest

from tts.domain.answer import StopReason
from tts.domain.trajectory import Run, Trajectory
from tts.domain.usage import Usage
from tts.ensemble.stop_decision import StopDecision

STARTED = dict.fromkeys(range(4), 100.0)


def run_of(tokens):
    return Run(rollouts={i: Trajectory(rollout_id=i, usage=Usage(completion_tokens=tokens)) for i in STARTED})


@pytest.mark.parametrize(
    ("most", "agreed", "wanted", "ended", "reason"),
    [
        (None, False, 4, 3, None),
        (401, False, 4, 3, None),
        (400, False, 4, 3, StopReason.BUDGET),
        (400, True, 4, 3, StopReason.BUDGET),
        (None, True, 3, 3, StopReason.QUORUM),
        (None, False, 3, 3, StopReason.CANCELLED),
        (None, False, 3, 2, None),
    ],
)
def test_the_reason_to_stop_follows_from_the_latest_news(most, agreed, wanted, ended, reason):
    took = dict.fromkeys(range(ended), 1.0)
    stop = StopDecision(most, cuts_stragglers=True)
    assert stop.reason_to_stop(run_of(100), STARTED, took, wanted=wanted, agreed=agreed) is reason


def test_stragglers_are_known_once_most_have_ended_and_only_where_they_are_cut():
    took = dict.fromkeys(range(3), 20.0)
    cuts, waits = (StopDecision(None, cuts_stragglers=cuts) for cuts in (True, False))
    at = cuts.straggler_time(STARTED, took)
    assert at is not None
    assert at >= 100.0 + 1.5 * 20.0
    assert cuts.straggler_time(STARTED, {}) is None
    assert cuts.straggler_time(STARTED, dict.fromkeys(STARTED, 20.0)) is None
    assert waits.straggler_time(STARTED, took) is None
