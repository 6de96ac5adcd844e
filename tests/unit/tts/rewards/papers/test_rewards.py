import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tts.rewards.papers import geo_adapt_reward as geo_adapt
from tts.rewards.papers import geoagent_reward as geoagent
from tts.rewards.papers import reverse_reward as reverse
from tts.rewards.papers import spotagent_reward as spotagent
from tts.rewards.papers import thinking_with_map_reward as thinking_with_map
from tts.rewards.papers.geoagent_reward import LengthDamping, Levels
from tts.rewards.papers.reverse_reward import ToolUse

kms = st.floats(0, 20004)
unit = st.floats(0, 1)
levels = st.builds(Levels, country=st.floats(-1, 1), region=st.floats(-1, 1), place=st.floats(-1, 1))


@pytest.mark.parametrize(
    ("km", "reward"),
    [
        (0.0, 1.0),
        (0.5, 0.8),
        (1.99, 0.8),
        (2.0, 0.6),
        (10.0, 0.4),
        (25.0, 0.2),
        (200.0, 0.1),
        (750.0, 0.0),
        (None, 0.0),
    ],
)
def test_thinking_with_map_rewards_distance_in_steps(km, reward):
    assert thinking_with_map.distance_reward(km) == reward


@pytest.mark.parametrize(
    ("km", "reward"),
    [(0.3, 1.0), (1.0, 1.0), (13.0, 0.9), (25.0, 0.8), (112.5, 0.7), (200.0, 0.6), (475.0, 0.5), (750.0, 0.4),
     (1625.0, 0.3), (2500.0, 0.2), (2501.0, 0.0), (None, 0.0)],
)  # fmt: skip
def test_reverse_rewards_distance_along_a_polyline(km, reward):
    assert reverse.place_reward(km) == pytest.approx(reward)


@pytest.mark.parametrize(
    ("km", "reward"),
    [(0.99, 1.0), (1.0, 1.0), (13.0, 0.875), (25.0, 0.75), (112.5, 0.475), (199.999999, 0.2), (200.0, 0.0), (None, 0)],
)
def test_spotagent_rewards_distance_along_a_polyline(km, reward):
    assert spotagent.distance_reward(km) == pytest.approx(reward)


@pytest.mark.parametrize(
    "reward",
    [thinking_with_map.distance_reward, reverse.place_reward, spotagent.distance_reward, geoagent.spatial_reward,
     lambda km: geo_adapt.place_reward(country_right=True, city_right=True, distance_km=km)],
)  # fmt: skip
@given(a=kms, b=kms)
def test_a_distance_reward_never_grows_with_distance_and_lies_between_0_and_1(reward, a, b):
    near, far = sorted((a, b))
    assert 0.0 <= reward(far) <= reward(near) <= 1.0


def test_rewards_of_reverse_equal_values_computed_by_hand():
    """A good image search (IoU 0.8), a useless one (0.6), two text queries, one empty zoom, half-right tags."""
    use = ToolUse(
        image_search_ious=(0.8, 0.6),
        valid_text_queries=2,
        degenerate_zooms=1,
        useful_tagged=(True, True, False, False),
        useful_true=(True, False, False, False),
    )
    mcc = 2 / math.sqrt(2 * 1 * 3 * 2)
    assert reverse.matthews(use.useful_tagged, use.useful_true) == pytest.approx(mcc)
    assert reverse.tool_reward(use) == pytest.approx(0.16 + 0.2 - 0.05 + 0.3 * mcc)
    assert reverse.total_reward(25.0, "loose", use) == pytest.approx(0.48 + 0.08 + 0.3 * reverse.tool_reward(use))


def test_a_constant_predictor_has_no_correlation():
    assert reverse.matthews([True] * 3, [True, False, True]) == 0.0
    assert reverse.matthews([], []) == 0.0
    assert reverse.matthews([True, False], [True, False]) == 1.0
    assert reverse.matthews([True, False], [False, True]) == -1.0
    with pytest.raises(ValueError, match="1 tags for 2"):
        reverse.matthews([True], [True, False])


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=20), st.integers(0, 30), st.integers(0, 30))
def test_the_rewards_of_reverse_lie_within_their_bounds(pairs, queries, zooms):
    tagged, true = tuple(a for a, _ in pairs), tuple(b for _, b in pairs)
    use = ToolUse(valid_text_queries=queries, degenerate_zooms=zooms, useful_tagged=tagged, useful_true=true)
    assert -1.0 - 1e-9 <= reverse.matthews(tagged, true) <= 1.0 + 1e-9
    assert -0.5 <= reverse.tool_reward(use) <= 1.0
    assert -0.15 <= reverse.total_reward(None, "broken", use) <= reverse.total_reward(0.0, "strict", use) <= 1.0


def test_spotagent_keeps_near_valid_trajectories_and_the_thresholds_reached_by_some():
    assert spotagent.keep_trajectory(4.9, all_calls_valid=True)
    assert not spotagent.keep_trajectory(5.0, all_calls_valid=True)
    assert not spotagent.keep_trajectory(0.1, all_calls_valid=False)
    assert not spotagent.keep_trajectory(None, all_calls_valid=True)
    assert spotagent.learnable_at_km([0.5] * 8) == ()
    assert spotagent.learnable_at_km([None] * 8) == ()
    assert spotagent.learnable_at_km([0.5, 30.0, None, 800.0, 800.0, 800.0, 800.0, 800.0]) == (
        1.0,
        25.0,
        200.0,
        750.0,
    )


def test_rewards_of_geoagent_equal_values_computed_by_hand():
    assert geoagent.spatial_reward(200.0) == pytest.approx(1 / math.e)
    right = Levels(country=1, region=1, place=1)
    assert geoagent.semantic_reward(right) == pytest.approx(1.0)
    assert geoagent.semantic_reward(Levels(country=0.69, region=1, place=1)) == pytest.approx(0.069)
    assert geoagent.semantic_reward(Levels(country=0.9, region=0.4, place=1)) == pytest.approx(0.09 + 0.24)
    at_mu = LengthDamping(steepness=0.1, mu=50)
    assert geoagent.consistency_reward(right, 50, at_mu) == pytest.approx(0.5)
    assert geoagent.total_reward(0.0, right, right, 10_000) == pytest.approx(3.0)


@given(kms, levels, levels, st.floats(0, 1e6))
def test_the_total_reward_of_geoagent_lies_between_0_and_3(km, similarity, agreement, length):
    assert 0.0 <= geoagent.total_reward(km, similarity, agreement, length) <= 3.0 + 1e-9


@given(st.floats(0, 1000), st.floats(0, 1000))
def test_length_damping_never_falls_with_the_length_of_reasoning(a, b):
    short, long = sorted((a, b))
    assert LengthDamping().factor(short) <= LengthDamping().factor(long)


def test_rewards_of_geo_adapt_equal_values_computed_by_hand():
    assert geo_adapt.visual_locatability([0.5, 0.25], [1.0, 0.4]) == pytest.approx(0.6)
    assert geo_adapt.reasoning_locatability(100.0, 150.0) == pytest.approx(math.exp(-1))
    assert geo_adapt.reasoning_locatability(100.0, 0.0) == pytest.approx(math.exp(-2))
    assert geo_adapt.optimal_locatability(0.5, 0.5) == pytest.approx(0.35)
    assert geo_adapt.needs_depth(100.0, 49.0)
    assert not geo_adapt.needs_depth(100.0, 50.0)
    assert geo_adapt.grounding_reward([0.8, 0.6], {"a", "b"}, {"b", "c"}) == pytest.approx(0.7 / 3)
    assert geo_adapt.grounding_reward([], {"a"}, {"a"}) == 0.0
    assert geo_adapt.reasoning_reward(geo_adapt.depth_reward(chose_deep=True, label_deep=True), 0.5) == 0.75
    assert geo_adapt.place_reward(country_right=False, city_right=True, distance_km=0.0) == 0.0
    assert geo_adapt.place_reward(country_right=True, city_right=False, distance_km=100.0) == pytest.approx(
        0.3 / math.e
    )
    assert geo_adapt.place_reward(country_right=True, city_right=True, distance_km=0.0) == 1.0
    assert geo_adapt.place_reward(country_right=True, city_right=True, distance_km=None) == pytest.approx(0.3)


@given(unit, st.floats(0, 5000), st.floats(0, 5000))
def test_optimal_locatability_never_exceeds_the_visual_one(visual, reason_km, retrieval_km):
    reasoning = geo_adapt.reasoning_locatability(reason_km, retrieval_km)
    assert 0.0 <= reasoning <= 1.0
    assert 0.4 * visual - 1e-9 <= geo_adapt.optimal_locatability(visual, reasoning) <= visual + 1e-9
