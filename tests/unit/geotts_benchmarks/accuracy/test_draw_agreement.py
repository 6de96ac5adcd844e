"""What draws of an answer say about it, on rollouts whose draws are known."""

import pytest
from support.verifier_runs import COIMBRA, OSAKA, PORTO, trajectory

from geotts_benchmarks.accuracy.draw_agreement import draw_agreement
from tts.domain.request import LocateOptions
from tts.domain.trajectory import Run
from tts.eval.runs.record import Record
from tts.eval.sample import Truth


def record(truth, *draws, answered=COIMBRA):
    """One rollout whose answer was drawn again."""
    rollout = trajectory(0, answered).model_copy(update={"answer_draws": draws})
    return Record(
        dataset="made", sample="s", truth=Truth(point=truth), options=LocateOptions(), elapsed_s=1.0,
        run=Run(rollouts={0: rollout}),
    )  # fmt: skip


def test_draws_that_agree_only_with_right_answers_have_an_auroc_of_1():
    runs = [record(COIMBRA, COIMBRA, COIMBRA), record(OSAKA, OSAKA, PORTO), record(OSAKA, None, None)]
    assert draw_agreement(runs)["draw_agreement"] == {"n": 3, "brier": 0.0, "auroc": 1.0}


def test_draws_that_always_agree_have_an_auroc_of_one_half():
    runs = [record(COIMBRA, COIMBRA), record(OSAKA, COIMBRA)]
    assert draw_agreement(runs)["draw_agreement"] == {"n": 2, "brier": 0.5, "auroc": 0.5}


def test_the_share_of_agreeing_draws_is_scored_as_a_probability():
    found = draw_agreement([record(COIMBRA, COIMBRA, PORTO, None, OSAKA)])["draw_agreement"]
    assert (found["brier"], found["auroc"]) == (pytest.approx(0.75**2), None)


def test_rollouts_without_draws_give_no_figure():
    assert draw_agreement([record(COIMBRA)]) == {}
