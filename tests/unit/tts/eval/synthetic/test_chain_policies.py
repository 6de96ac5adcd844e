"""Samples of one policy about shops of a chain: the same photo at every ρ, and questions find what the samples miss."""

import asyncio

import pytest

from tts.domain.geo import distance_km
from tts.eval.synthetic.atlas import Atlas
from tts.eval.synthetic.chain_policies import chain_scenarios
from tts.eval.synthetic.scenario_inquiry import decide_with_questions
from tts.verify.evidence.world import World

COUNT = 12


@pytest.fixture(scope="module")
def world(gazetteer, countries):
    return World(gazetteer, countries)


@pytest.fixture(scope="module")
def atlas(gazetteer, countries):
    return Atlas(gazetteer, countries)


def places_of(scenario):
    return [run.answer.point for run in scenario.trajectories]


def test_a_photo_is_the_same_at_every_rho_and_samples_are_copies_more_often(atlas):
    independent, dependent = (list(chain_scenarios(atlas, rho, COUNT, 8, seed=3)) for rho in (0.0, 0.9))
    assert [one.truth for one in independent] == [one.truth for one in dependent]
    different = [sum(len(set(places_of(one))) for one in scenarios) for scenarios in (independent, dependent)]
    assert different[1] < 0.5 * different[0]


def test_the_samples_are_the_same_with_and_without_draws(atlas):
    plain, drawn = (list(chain_scenarios(atlas, 0.3, COUNT, 3, seed=3, draws=draws)) for draws in (0, 3))
    assert [places_of(one) for one in plain] == [places_of(one) for one in drawn]
    assert {len(run.answer_draws) for one in drawn for run in one.trajectories} == {3}


def test_an_answer_that_is_drawn_again_never_changes_at_rho_1(atlas):
    for scenario in chain_scenarios(atlas, 1.0, COUNT, 2, seed=3, draws=3):
        assert all(set(run.answer_draws) == {run.answer.point} for run in scenario.trajectories)


def test_questions_find_the_branch_that_most_samples_miss(atlas, world):
    scenarios = list(chain_scenarios(atlas, 0.9, COUNT, 2, seed=3))

    def right(questions):
        answers = [asyncio.run(decide_with_questions(one, world, questions))[0] for one in scenarios]
        return sum(distance_km(answer, one.truth) < 25 for answer, one in zip(answers, scenarios, strict=True))

    assert right(4) > right(0)
