"""The first calls of siblings, compared photo by photo: every difference has its paired interval."""

import pytest

from geotts_benchmarks.depth_and_stops import first_calls
from tts.domain.tooling import ToolCall
from tts.domain.trajectory import Run, Trajectory, Turn


def a_run(*asked):
    """A request whose rollouts ask these things first, one word for each call."""
    rollouts = {}
    for i, words in enumerate(asked):
        calls = tuple(ToolCall(id=f"{i}{word}", name="search", arguments={"query": word}) for word in words.split())
        rollouts[i] = Trajectory(rollout_id=i, turns=(Turn(index=0, calls=calls),))
    return Run(rollouts=rollouts)


def test_shares_calls_and_accuracy_are_compared_with_paired_intervals():
    alike = [a_run("inn", "inn"), a_run("inn mill", "inn mill"), a_run("inn", "inn mill")]
    diverse = [a_run("inn", "mill"), a_run("inn", "inn"), a_run("inn", "mill pond")]
    found = first_calls._compare_ways("made", [alike, diverse], [[0.0, 0.5, 1.0], [0.25, 0.5, 1.0]])
    assert found["shared_without"][0] == pytest.approx(100.0 * 8 / 9, abs=0.01)
    assert found["shared_with"][0] == pytest.approx(100.0 * 2 / 7, abs=0.01)
    assert found["shared_difference"][0] == pytest.approx(100.0 * (2 / 7 - 8 / 9), abs=0.01)
    assert found["calls_difference"][0] == pytest.approx(found["calls_with"] - found["calls_without"], abs=0.01)
    assert found["accuracy_difference"][0] == pytest.approx(25.0 / 3, abs=0.01)
    for name in ("shared_difference", "calls_difference", "accuracy_difference"):
        value, low, high = found[name]
        assert low <= value <= high


def test_equal_runs_have_differences_of_zero():
    runs = [a_run("inn", "inn mill"), a_run("inn", "mill")]
    found = first_calls._compare_ways("made", [runs, runs], [[0.5, 1.0], [0.5, 1.0]])
    names = ("shared_difference", "calls_difference", "accuracy_difference")
    assert [found[name] for name in names] == [[0.0, 0.0, 0.0]] * 3
