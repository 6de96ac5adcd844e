"""Reliability of sources, and what of a bare answer looks like a guess."""

import numpy as np
import pytest
from support.rollouts import COIMBRA, OSAKA, answered_rollout, page

from tts.domain.geo import LatLon, destination
from tts.eval.metrics.medoid import medoid_of
from tts.verify.consensus.guesswork import guess_log_odds
from tts.verify.consensus.reliability import from_agreement, from_labels
from tts.verify.evidence.world import World
from tts.verify.verifiers.consensus import judge


@pytest.fixture(scope="module")
def world(gazetteer, countries):
    return World(gazetteer, countries)


def test_a_source_that_is_right_more_often_counts_more_at_that_distance_only():
    rng = np.random.default_rng(0)
    good, poor = rng.choice([1.0, 9000.0], 400, p=[0.8, 0.2]), rng.choice([150.0, 9000.0], 400, p=[0.8, 0.2])
    made = from_labels({"good": good, "poor": poor})
    at_2, at_25, at_200, _ = made.factors_of("poor")
    assert max(at_2, at_25) < 0.01
    assert at_200 > 0.2


def test_an_unknown_source_counts_as_the_least_reliable_one():
    made = from_labels({"good": np.array([1.0] * 9), "poor": np.array([900.0] * 9)})
    assert made.factors_of("never seen") == made.factors_of("poor")


def test_without_labels_who_agrees_with_the_others_is_reliable():
    rng = np.random.default_rng(0)
    spot = np.where(rng.random((500, 3)) < [0.9, 0.8, 0.2], 0.0, 10_000.0 * rng.random((500, 3)) + 3000.0)
    made = from_agreement(["a", "b", "c"], np.abs(spot[:, :, None] - spot[:, None, :]))
    assert made.factors_of("c")[1] < 0.3 * min(made.factors_of("a")[1], made.factors_of("b")[1])


def test_the_reliable_one_of_two_that_disagree_is_answered(world):
    pair = [answered_rollout(0, COIMBRA), answered_rollout(1, OSAKA)]
    for trusted, point in ((0, COIMBRA), (1, OSAKA)):
        trust = {number: (1.0,) * 4 if number == trusted else (0.2,) * 4 for number in (0, 1)}
        assert judge(pair, (), world, trust=trust).clusters[0].centre == point


def test_a_metropolis_a_centre_and_a_town_elsewhere_look_like_guesses(world):
    village = LatLon(lat=40.0571, lon=-8.1203)
    metropolis = LatLon(lat=35.6895, lon=139.6917)
    assert guess_log_odds(metropolis, 2.0, world) < guess_log_odds(village, 2.0, world)
    assert guess_log_odds(village, 0.0, world) < guess_log_odds(village, 0.9, world)
    assert guess_log_odds(village, 40.0, world) < guess_log_odds(village, 4.0, world)


def test_the_medoid_is_the_answer_nearest_to_all_others():
    near = destination(COIMBRA, bearing_deg=0, distance_km=30)
    assert medoid_of([OSAKA, COIMBRA, None, near, destination(COIMBRA, bearing_deg=180, distance_km=30)]) == COIMBRA
    assert medoid_of([None]) is None


def test_a_vote_that_looks_like_a_guess_keeps_its_weight_if_a_rollout_has_evidence(world):
    town = [page("Coimbra", "https://example.org/a")]
    bare = judge([answered_rollout(0, COIMBRA, city="Coimbra"), answered_rollout(1, OSAKA, city="Osaka")], (), world)
    looked = judge(
        [answered_rollout(0, COIMBRA, city="Coimbra", facts=town), answered_rollout(1, OSAKA, city="Osaka")], (), world
    )
    weight = {vote.point: vote.weight for vote in bare.votes}[OSAKA]
    assert weight < {vote.point: vote.weight for vote in looked.votes}[OSAKA]
