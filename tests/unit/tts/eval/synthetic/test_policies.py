"""Scripted policies: their posterior is calibrated, and ρ is seen in what their samples rest on."""

import numpy as np
import pytest

from tts.domain.geo import distance_km
from tts.eval.synthetic.atlas import Atlas
from tts.eval.synthetic.policies import policy_cases
from tts.verify.consensus.dependence import dependence_of
from tts.verify.evidence.ledger_builder import build_ledger
from tts.verify.evidence.world import World


@pytest.fixture(scope="module")
def atlas(gazetteer, countries):
    return Atlas(gazetteer, countries)


@pytest.mark.parametrize("rho", [0.0, 0.6, 0.9])
def test_the_estimated_dependence_follows_the_dependence_of_the_scripted_policy(atlas, rho):
    world = World(atlas.gazetteer, atlas.countries)
    cases = policy_cases(atlas, rho, 60, 6, seed=3)
    ledgers = [[build_ledger(run, (), world) for run in case.trajectories] for case in cases]
    found = [dependence_of(row) for row in ledgers]
    assert np.mean([value for value in found if value is not None]) == pytest.approx(rho, abs=0.12)


def test_a_dependence_without_rollouts_is_unknown():
    assert dependence_of([]) is None


def test_the_photo_is_the_same_for_every_rho(atlas):
    truths = [[case.truth for case in policy_cases(atlas, rho, 5, 2, seed=1)] for rho in (0.0, 0.9)]
    assert truths[0] == truths[1]


def test_copies_agree_more_often_than_independent_samples(atlas):
    def agreeing(rho):
        cases = policy_cases(atlas, rho, 80, 2, seed=2)
        pairs = [[run.answer.point for run in case.trajectories] for case in cases]
        return np.mean([distance_km(*pair) < 25 for pair in pairs])

    assert agreeing(0.9) > agreeing(0.0) + 0.1
