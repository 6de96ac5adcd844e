"""The promise of `loss` on rollouts that no table was fitted on: five strong ones that often guess town centres."""

import math
import random
from functools import partial

import pytest
from support.voters import rollout_at

from tts.domain.geo import LatLon, distance_km
from tts.domain.stop_experience import StopExperience
from tts.domain.stop_policy import StopPolicy
from tts.ensemble.consensus_watch import ConsensusWatch

RADIUS_KM = 25.0
N = 5
PHOTOS = 500
TRUTH = LatLon(lat=20.0, lon=10.0)


def five_answers(rng):
    """Points of five rollouts, and which of them are centres of towns. Photos are easy or hard for all five alike."""
    knows = rng.betavariate(0.6, 0.6)
    found = [rng.random() < knows for _ in range(N)]
    points = [_near(rng, 0.03) if right else _near(rng, 6.0) for right in found]
    guesses = {point for point, right in zip(points, found, strict=True) if rng.random() < (0.1 if right else 0.5)}
    return points, guesses


def _near(rng, degrees):
    return LatLon(lat=TRUTH.lat + rng.gauss(0, degrees), lon=TRUTH.lon + rng.gauss(0, degrees))


def right(points):
    """Whether the answer is: the point that most others are near to."""
    near = [sum(distance_km(a, b) <= RADIUS_KM for b in points) for a in points]
    return distance_km(points[near.index(max(near))], TRUTH) < RADIUS_KM


def town_centre_km(guesses, answer):
    """Kilometres from an answer to the centre of a town: guesses are near one, other answers name none."""
    return 0.1 if answer.point in guesses else math.inf


def lost_and_saved(policy, experience=None):
    """Percentage points of accuracy lost, and percent of rollouts saved, over all photos."""
    rng, lost, saved = random.Random(7), 0, 0
    for _ in range(PHOTOS):
        points, guesses = five_answers(rng)
        watch = ConsensusWatch(
            StopPolicy.parse(policy),
            RADIUS_KM,
            partial(town_centre_km, guesses),
            experience=experience,
        )
        ended = [rollout_at(i, point) for i, point in enumerate(points)]
        used = next((k for k in range(1, N + 1) if watch.look(ended[:k], N).decided), N)
        lost += right(points) - right(points[:used])
        saved += N - used
    return 100 * lost / PHOTOS, 100 * saved / (N * PHOTOS)


@pytest.mark.parametrize("points", [1.0, 3.0])
def test_five_strong_rollouts_lose_no_more_than_was_allowed(points):
    lost, saved = lost_and_saved(f"loss:{points}", StopExperience())
    assert lost <= points
    assert saved >= 15.0


def test_a_threshold_fitted_on_other_rollouts_loses_more_than_three_points():
    lost, _ = lost_and_saved("worth:.85")
    assert lost > 3.0
