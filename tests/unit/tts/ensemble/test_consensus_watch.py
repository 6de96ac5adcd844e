"""The consensus watch: agreement is counted at the wanted radius, in witnesses, by four policies."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.voters import LYON, OSAKA, point_east, rollout_at

from tts.domain.answer import StopReason
from tts.domain.geo import LatLon
from tts.domain.stop_policy import StopKind, StopPolicy
from tts.ensemble.consensus_watch import ConsensusWatch, more_than_half
from tts.ensemble.stragglers import straggler_s
from tts.ensemble.witnesses import statements_of


def watch_decides(policy, radius_km, *trajectories, n=4, guesses=None):
    return ConsensusWatch(StopPolicy.parse(policy), radius_km, guesses).look(trajectories, n).decided


@pytest.mark.parametrize("text", ["none", "quorum", "quorum:3", "first:2", "beta", "beta:0.9", "worth:.7"])
def test_a_stop_policy_is_read_from_one_string(text):
    assert StopPolicy.parse(text).kind == StopKind(text.split(":")[0])


@pytest.mark.parametrize("text", ["", "often", "quorum:x", "first", "beta:2", "beta:0.5:9", "quorum:333"])
def test_an_invalid_stop_policy_is_refused(text):
    with pytest.raises(ValueError, match="not a stop policy"):
        StopPolicy.parse(text)


@pytest.mark.parametrize("policy", ["quorum", "quorum:2", "beta", "worth"])
def test_agreeing_on_a_country_does_not_stop_a_search_for_a_street(policy):
    pair = rollout_at(0, LYON), rollout_at(1, point_east(180))
    assert not watch_decides(policy, 1.0, *pair)
    assert not watch_decides(policy, 25.0, *pair)
    assert watch_decides(policy, 200.0, *pair)


def test_two_regions_do_not_agree_however_large_the_wanted_radius():
    assert not watch_decides("quorum", 2500.0, rollout_at(0, LYON), rollout_at(1, point_east(900)))


def test_two_rollouts_on_one_statement_are_one_witness():
    copied = [rollout_at(i, LYON, place="Bar Tabac") for i in range(3)]
    assert not watch_decides("quorum:2", 25.0, *copied)
    assert watch_decides("quorum:2", 25.0, *copied, rollout_at(3, LYON, place="Quai Perrache"))
    assert statements_of(copied[0]) == {"place:test:Bar Tabac"}


def test_only_rollouts_that_ended_by_themselves_vote():
    assert not watch_decides("quorum:2", 25.0, rollout_at(0, LYON), rollout_at(1, LYON, running=True))
    assert not watch_decides("quorum:2", 25.0, rollout_at(0, LYON), rollout_at(1, LYON, reason=StopReason.FAILED))
    seen = ConsensusWatch(StopPolicy.parse("quorum:2"), 25.0).look(
        [rollout_at(0, LYON), rollout_at(1, LYON, running=True)], 4
    )
    assert (seen.clusters[0].rollouts, seen.finished, seen.outstanding) == ((0, 1), 1, 3)


def test_first_m_counts_ends_not_agreement():
    assert watch_decides("first:2", 25.0, rollout_at(0, LYON), rollout_at(1, OSAKA))
    assert not watch_decides("first:3", 25.0, rollout_at(0, LYON), rollout_at(1, OSAKA))


def test_a_dissenter_asks_for_more_witnesses_under_beta():
    assert watch_decides("beta:0.85", 25.0, rollout_at(0, LYON), rollout_at(1, LYON))
    assert not watch_decides("beta:0.85", 25.0, rollout_at(0, LYON), rollout_at(1, LYON), rollout_at(2, OSAKA))
    assert watch_decides("worth:0.8", 25.0, rollout_at(0, LYON), rollout_at(1, LYON), rollout_at(2, point_east(27)))


@pytest.mark.parametrize(
    ("radius_km", "ended", "futile"), [(25, 2, True), (200, 1, False), (200, 2, True), (750, 2, False)]
)
def test_scattered_guesses_are_given_up_if_a_town_is_wanted_but_not_for_a_country(radius_km, ended, futile):
    guesses = {LYON: 0.1, OSAKA: 0.1 if ended == 2 else math.inf}
    assert (
        watch_decides("worth", radius_km, rollout_at(0, LYON), rollout_at(1, OSAKA), guesses=lambda h: guesses[h.point])
        is futile
    )
    found = rollout_at(0, LYON, place="Bar"), rollout_at(1, OSAKA, place="Eki")
    assert not watch_decides("worth", radius_km, *found, guesses=lambda h: guesses[h.point])


@given(st.floats(0, 30), st.floats(0, 30))
def test_the_posterior_is_a_probability_and_grows_with_agreement(agreeing, dissenting):
    p = more_than_half(agreeing, dissenting)
    assert 0.0 <= p <= 1.0
    assert p + more_than_half(dissenting, agreeing) == pytest.approx(1.0, abs=1e-5)  # quadrature near a square root
    assert more_than_half(agreeing + 1, dissenting) > p - 1e-12


def test_the_posterior_is_the_beta_distribution():
    assert more_than_half(2, 0) == pytest.approx(0.875)
    assert more_than_half(2, 1) == pytest.approx(0.6875)
    assert more_than_half(3.4, 0) == pytest.approx(more_than_half(3.4, 1e-12))


points = st.builds(lambda lat, lon: LatLon(lat=lat, lon=lon), st.floats(-80, 80), st.floats(-180, 179))


@settings(max_examples=30)
@given(st.lists(points, min_size=1, max_size=8), st.sampled_from([1.0, 25.0, 750.0]), st.randoms())
def test_every_vote_is_in_one_cluster_whatever_the_order_of_votes(places, radius_km, rng):
    ballots = [rollout_at(i, point) for i, point in enumerate(places)]
    watch = ConsensusWatch(StopPolicy(), radius_km)
    clusters = watch.look(ballots, len(ballots)).clusters
    seen = [i for cluster in clusters for i in cluster.rollouts]
    assert len(seen) == len(set(seen))
    assert [c.witnesses for c in clusters] == sorted((c.witnesses for c in clusters), reverse=True)
    shuffled = list(ballots)
    rng.shuffle(shuffled)
    assert watch.look(shuffled, len(ballots)).clusters[0].witnesses == clusters[0].witnesses


def test_the_time_limit_of_stragglers_follows_the_rollouts_that_ended():
    assert straggler_s([1.0], 4) is None
    assert straggler_s([1.0, 1.2], 4) == pytest.approx(3.3)
    assert straggler_s([0.01, 0.02, 0.01], 4) == 1.0
    assert straggler_s([1.0, 1.0], 2) is None
