"""Claims about scenes: which are true, which nothing decides, and how their probabilities are fitted and measured."""

import numpy as np
import pytest

from geotts_benchmarks.claims.attacked_claims import attacked_claims
from geotts_benchmarks.claims.claim_fitting import WeighedCase, fit_claims, probabilities
from geotts_benchmarks.claims.scene_claims import CLAIM_FAMILIES, ClaimCase, claims_about
from tts.eval.metrics.calibration_error import auroc, expected_calibration_error
from tts.eval.scenes.generate import SceneMaker
from tts.eval.synthetic.families import generate
from tts.verify.claims.claim_calibration import ClaimCalibration, shipped_claim_calibration
from tts.verify.consensus.calibration import shipped_calibration
from tts.verify.evidence.world import World
from tts.verify.verifiers.claim import ClaimVerifier
from tts.verify.verifiers.consensus import ConsensusVerifier

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cases(gazetteer, countries):
    maker = SceneMaker(seed=5, split="dev")
    return [(maker.plan(k), claims_about(maker.plan(k), gazetteer, countries)) for k in range(60)]


def test_scenes_make_claims_of_every_family_and_the_same_ones_again(cases, gazetteer, countries):
    families = {case.family for _, found in cases for case in found}
    assert families == set(CLAIM_FAMILIES)
    scene, found = cases[0]
    assert claims_about(scene, gazetteer, countries) == found


def test_only_true_and_undecidable_claims_are_true(cases, countries):
    for scene, found in cases:
        for case in found:
            assert case.true or case.family != "true"
            assert not case.true or case.family in ("true", "undecidable")
            if case.true:
                assert case.words.endswith(countries.name(scene.locale.country))


def made_up(n, rng):
    """Claims whose mass is the probability that they are true, squared."""
    p = rng.uniform(0.02, 0.98, n)
    return [
        WeighedCase(k, ClaimCase("x", "true" if t else "neighbour", bool(t)), float(q), 1.0)
        for k, (q, t) in enumerate(zip(p**2, rng.uniform(size=n) < p, strict=True))
    ]


def test_the_fitted_claim_calibration_turns_masses_into_probabilities():
    rng = np.random.default_rng(1)
    fitted = fit_claims(made_up(3000, rng), "made up")
    others = made_up(3000, rng)
    p, true = probabilities(others, fitted), np.array([case.case.true for case in others])
    plain = probabilities(others, ClaimCalibration())
    error, plain_error = expected_calibration_error(p, true), expected_calibration_error(plain, true)
    assert error is not None
    assert plain_error is not None
    assert error < 0.05 < plain_error
    ranking = auroc(p, true)
    assert ranking is not None
    assert ranking > 0.75


def test_one_scene_that_was_read_quite_wrong_hardly_changes_the_fitted_calibration():
    rng = np.random.default_rng(2)
    right = [ClaimCase("x", "true", true=True), ClaimCase("x", "neighbour", true=False)]
    cases = [
        WeighedCase(k, right[k % 2], float(rng.uniform(0.3, 0.99) if k % 2 == 0 else rng.uniform(0.001, 0.2)), 1.0)
        for k in range(300)
    ]
    misread = WeighedCase(300, right[0], 0.0, 1.0)
    without, with_it = fit_claims(cases, "made up"), fit_claims([*cases, misread], "made up")
    for mass in (0.02, 0.1, 0.3, 0.6, 0.9):
        assert with_it.probability(mass) == pytest.approx(without.probability(mass), abs=0.05)


def test_ranking_and_calibration_error_are_right_for_known_figures():
    assert auroc(np.array([0.9, 0.8, 0.1]), np.array([True, False, False])) == 1.0
    assert auroc(np.array([0.5, 0.5]), np.array([True, False])) == 0.5
    assert auroc(np.array([0.5, 0.5]), np.array([True, True])) is None
    three_of_four = np.array([True, True, True, False])
    assert expected_calibration_error(np.full(4, 0.75), three_of_four) == pytest.approx(0.0)
    assert expected_calibration_error(np.ones(2), np.array([False, False])) == pytest.approx(1.0)


class Checks:
    def __init__(self, world):
        self.consensus = ConsensusVerifier(world, shipped_calibration("clues"))
        verifier = ClaimVerifier(
            self.consensus, world, shipped_calibration("clues"), shipped_claim_calibration("clues")
        )
        self.decide = self.consensus.decide
        self.check = verifier.check


@pytest.mark.parametrize("family", ["half_right", "namesakes", "injected_page", "echo_chamber"])
def test_a_claim_that_joins_an_attack_does_not_move_the_answer(family, data_store, gazetteer, countries, blank_photo):
    from tts.clues.clue_reader import ClueReader

    world = World(gazetteer, countries, ClueReader(gazetteer, data_store.lexicon(), countries))
    found = attacked_claims(generate(family, 8, 0, gazetteer, countries), Checks(world), blank_photo)
    assert found.moved == 0.0
    assert found.supported <= found.wrong
