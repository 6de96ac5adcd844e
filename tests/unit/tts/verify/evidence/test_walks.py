"""Photos of a walk: joint beliefs against every combination counted, limits by time, and answers for each photo."""

from datetime import UTC, datetime, timedelta
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tts.domain.geo import EARTH_RADIUS_KM, LatLon, sphere_km, unit_vectors
from tts.domain.reach import reach_of, walk_problem
from tts.domain.request import LocateOptions
from tts.verify.evidence.joint_belief import Points, joint_belief, within_reach

GRID = [(float(lat), float(lon)) for lat in range(20) for lon in range(20)]
EVERYWHERE = Points(np.array([lat for lat, _ in GRID]), np.array([lon for _, lon in GRID]), np.full(400, 1 / 400))
SAMPLED = 0.05  # of a share: 4000 draws


@st.composite
def beliefs(draw):
    """Two to four photos, each with one to six places on a grid of degrees."""
    made = []
    for _ in range(draw(st.integers(2, 4))):
        at = draw(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=6, unique=True))
        weights = draw(st.lists(st.integers(1, 9), min_size=len(at), max_size=len(at)))
        lat, lon = (np.array(side, dtype=float) for side in zip(*at, strict=True))
        made.append(Points(lat, lon, np.array(weights) / sum(weights)))
    return made


def away_km(one, i, other, j):
    at = LatLon(lat=float(one.lat[i]), lon=float(one.lon[i]))
    return float(sphere_km(at, unit_vectors(other.lat[j : j + 1], other.lon[j : j + 1]))[0])


def counted_marginals(photos, limit_km):
    """The marginals by counting every combination; None when none is left."""
    first = min(range(len(photos)), key=lambda i: (-photos[i].share.max(), i))
    usual = [
        max(1e-7, sum(EVERYWHERE.share[j] for j in range(400) if away_km(photos[first], i, EVERYWHERE, j) <= limit_km))
        for i in range(len(photos[first].share))
    ]
    marginals = [np.zeros(len(one.share)) for one in photos]
    for at in product(*(range(len(one.share)) for one in photos)):
        pairs = [(a, b) for a in range(len(photos)) for b in range(a)]
        if all(away_km(photos[a], at[a], photos[b], at[b]) <= limit_km for a, b in pairs):
            weight = np.prod([one.share[i] for one, i in zip(photos, at, strict=True)])
            weight /= usual[at[first]] ** (len(photos) - 1)
            for marginal, i in zip(marginals, at, strict=True):
                marginal[i] += weight
    total = marginals[0].sum()
    return [marginal / total for marginal in marginals] if total > 0 else None


@settings(max_examples=25, deadline=None)
@given(beliefs(), st.sampled_from([50.0, 160.0, 350.0, 3000.0]))
def test_the_joint_belief_is_that_of_all_combinations_within_reach(photos, limit_km):
    limits = np.full((len(photos), len(photos)), limit_km)
    joint, exact = joint_belief(photos, EVERYWHERE, limits), counted_marginals(photos, limit_km)
    if exact is None:
        assert not joint.possible
        return
    if joint.possible:  # else all combinations that are left are rarer than one of the draws
        for found, expected in zip(joint.marginals, exact, strict=True):
            assert found.share.sum() == pytest.approx(1.0)
            assert np.abs(found.share - expected).max() < 2 * SAMPLED
            assert not found.share[expected == 0].any(), "no mass where no combination is"


@settings(max_examples=15, deadline=None)
@given(beliefs())
def test_photos_that_may_be_anywhere_keep_their_own_beliefs(photos):
    limits = np.full((len(photos), len(photos)), EARTH_RADIUS_KM * 4)
    for found, own in zip(joint_belief(photos, EVERYWHERE, limits).marginals, photos, strict=True):
        assert np.abs(found.share - own.share).max() < SAMPLED


@settings(max_examples=15, deadline=None)
@given(beliefs(), st.data())
def test_the_order_of_the_photos_does_not_change_the_joint_belief(photos, data):
    order = data.draw(st.sampled_from(list(permutations(range(len(photos))))))
    limits = np.full((len(photos), len(photos)), 350.0)
    first = joint_belief(photos, EVERYWHERE, limits)
    again = joint_belief([photos[i] for i in order], EVERYWHERE, limits)
    if first.possible and again.possible and len({float(one.share.max()) for one in photos}) == len(photos):
        for place, photo in enumerate(order):
            assert np.abs(again.marginals[place].share - first.marginals[photo].share).max() < 3 * SAMPLED


def test_two_places_far_apart_are_less_likely_within_reach_than_chance():
    here, near, far = (Points(np.array([lat]), np.array([0.0]), np.ones(1)) for lat in (1.0, 1.5, 15.0))
    assert within_reach(here, near, EVERYWHERE, 100.0) > 1
    assert within_reach(here, far, EVERYWHERE, 100.0) == 0


@given(st.lists(st.integers(0, 600), min_size=2, max_size=8), st.floats(1, 200))
def test_with_times_a_pair_is_as_far_apart_as_the_speed_allows(minutes, speed_kmh):
    start = datetime(2026, 5, 1, tzinfo=UTC)
    times = tuple(start + timedelta(minutes=m) for m in minutes)
    reach = reach_of(LocateOptions(taken_at=times, max_speed_kmh=speed_kmh), len(minutes))
    for i, j in product(range(len(minutes)), repeat=2):
        assert reach.between(i, j) == pytest.approx(speed_kmh * abs(minutes[i] - minutes[j]) / 60, abs=1e-6)
    both = reach_of(LocateOptions(taken_at=times, max_speed_kmh=speed_kmh, within_km=5.0), len(minutes))
    assert both.limits_km.max() <= 5.0


def test_photos_of_one_place_have_no_reach():
    assert reach_of(LocateOptions(), 3) is None
    assert reach_of(LocateOptions(within_km=5.0), 1) is None


@pytest.mark.parametrize(
    ("options", "photos", "field"),
    [
        ({"within_km": 5}, 1, "within_km"),
        ({"max_speed_kmh": 5}, 2, "taken_at"),
        ({"taken_at": "2026-05-01T10:00:00Z,2026-05-01T11:00:00Z"}, 2, "max_speed_kmh"),
        ({"taken_at": ["2026-05-01T10:00:00Z"], "max_speed_kmh": 5}, 2, "taken_at"),
    ],
)
def test_walk_options_that_do_not_fit_the_photos_are_named(options, photos, field):
    problem = walk_problem(LocateOptions.model_validate(options), photos)
    assert problem is not None
    assert problem[0] == field
