"""The status of a request, and how much of its rollouts a reply shows."""

import pytest
from support.made_answers import an_answer

from tts.api.schema import status_of, trajectories_for
from tts.domain.events import Answered, Done, Failed, RolloutFinished, RolloutStarted, Text
from tts.domain.trajectory import fold

FAILED = Failed(seq=9, code="rollouts-failed", status=503, detail="no rollout could work")
ROLLOUT = (
    RolloutStarted(seq=1, rollout_id=0, seed=1),
    Text(seq=2, rollout_id=0, turn=0, text="A sign."),
    RolloutFinished(seq=3, rollout_id=0, stop_reason="answered"),
)


@pytest.mark.parametrize(
    ("end", "status"),
    [
        ((), "running"),
        ((Answered(seq=9, answer=an_answer()), Done(seq=10, stop_reason="answered")), "done"),
        ((FAILED, Done(seq=10, stop_reason="failed")), "failed"),
        ((Done(seq=10, stop_reason="cancelled"),), "cancelled"),
    ],
)
def test_the_status_of_a_request_follows_from_how_its_log_ends(end, status):
    found = status_of("loc_1", fold([*ROLLOUT, *end]), "none")
    assert (found.status, found.rollouts_finished) == (status, 1)
    assert (found.problem is None) == (status != "failed")


def test_the_problem_of_a_failed_request_has_the_title_of_its_status():
    problem = status_of("loc_1", fold([*ROLLOUT, FAILED]), "none").problem
    assert problem is not None
    assert (problem.type, problem.title) == ("urn:geotts:problem:rollouts-failed", "Service Unavailable")


def test_a_summary_of_rollouts_has_no_turns():
    run = fold(ROLLOUT)
    assert trajectories_for(run, "none") == ()
    (summary,), (whole,) = trajectories_for(run, "summary"), trajectories_for(run, "full")
    assert (summary.turns, summary.stop_reason) == ((), "answered")
    assert [turn.text for turn in whole.turns] == ["A sign."]
