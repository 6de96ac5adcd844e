import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tts.eval.metrics.accuracy import (
    CLASSIC_KM,
    PAPER_KM,
    accuracy_percent,
    coverage_percent,
    geoscores,
    mean_km,
    median_km,
)
from tts.eval.metrics.calibration_error import brier, brier_skill, cover_percent, expected_calibration_error
from tts.eval.metrics.intervals import (
    bootstrap_mean,
    mcnemar_p,
    paired_difference,
    paired_ratio_difference,
    sign_flip_p,
)
from tts.eval.metrics.sampling import best_of_n_km, pass_at_k_percent

NAN = math.nan
errors = arrays(np.float64, st.integers(1, 40), elements=st.floats(0, 20004) | st.just(NAN))


def test_a_hit_lies_strictly_below_the_threshold_and_no_answer_is_a_miss():
    assert accuracy_percent(np.array([0.5, 0.4999, 24.0, NAN]), PAPER_KM) == (25.0, 50.0, 50.0, 75.0, 75.0, 75.0)
    assert accuracy_percent(np.array([]), CLASSIC_KM) == (0.0,) * 5


def test_a_vague_truth_widens_the_threshold_to_its_own_radius():
    """A photo known to 3 km counts at 2 km when the answer is within 3 km, and changes nothing at 25 km."""
    found = accuracy_percent(np.array([2.9, 2.9, 3.1]), (2.0, 25.0), np.array([3.0, 0.0, 3.0]))
    assert found == pytest.approx((100 / 3, 100.0))


@given(errors)
def test_accuracy_grows_with_the_threshold(found):
    acc = accuracy_percent(found, (*PAPER_KM, 2500.0))
    assert list(acc) == sorted(acc)
    assert 0 <= acc[0] <= acc[-1] <= coverage_percent(found) <= 100


def test_geoscore_equals_values_computed_by_hand():
    """5000 at the spot, 5000/e at a tenth of 18050 km, nothing without an answer."""
    assert geoscores(np.array([0.0, 1805.0, NAN])) == pytest.approx([5000.0, 5000 / math.e, 0.0])


def test_medians_and_means_are_over_the_answered():
    assert median_km(np.array([1.0, 3.0, 100.0, NAN])) == 3.0
    assert mean_km(np.array([1.0, 3.0, NAN])) == 2.0
    assert median_km(np.array([NAN])) is None
    assert mean_km(np.array([])) is None


def test_pass_at_k_equals_values_computed_by_hand():
    """Two hits among four: one draw hits half the time; two draws miss both with probability 1/6."""
    rollouts = np.array([[1.0, 2.0, 900.0, NAN]])
    assert pass_at_k_percent(rollouts, 1, 25.0) == pytest.approx(50.0)
    assert pass_at_k_percent(rollouts, 2, 25.0) == pytest.approx(100 * 5 / 6)
    assert pass_at_k_percent(rollouts, 3, 25.0) == pytest.approx(100.0)
    with pytest.raises(ValueError, match="pass@5"):
        pass_at_k_percent(rollouts, 5, 25.0)


@given(arrays(np.float64, (6, 5), elements=st.floats(0, 3000) | st.just(NAN)), st.sampled_from(PAPER_KM))
def test_pass_at_k_grows_and_ends_at_best_of_n(rollouts, threshold):
    shares = [pass_at_k_percent(rollouts, k, threshold) for k in range(1, 6)]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(accuracy_percent(best_of_n_km(rollouts), (threshold,))[0])


def test_best_of_n_is_the_smallest_error_of_the_rollouts():
    rollouts = np.array([[5.0, 1.0], [NAN, 300.0], [NAN, NAN]])
    assert best_of_n_km(rollouts) == pytest.approx([1.0, 300.0, NAN], nan_ok=True)


def test_calibration_errors_equal_values_computed_by_hand():
    """Ten times 0.8 and eight right is calibrated; ten times 0.9 and five right is off by 0.4."""
    right = np.array([True] * 8 + [False] * 2)
    assert expected_calibration_error(np.full(10, 0.8), right) == pytest.approx(0.0)
    half = np.array([True, False] * 5)
    assert expected_calibration_error(np.full(10, 0.9), half) == pytest.approx(0.4)
    assert brier(np.array([1.0, 0.0]), np.array([True, False])) == 0.0
    assert brier_skill(np.array([1.0, 0.0]), np.array([True, False])) == 1.0
    assert brier_skill(np.full(10, 0.5), half) == pytest.approx(0.0)
    assert brier_skill(np.full(3, 0.5), np.array([True] * 3)) is None
    assert expected_calibration_error(np.array([]), np.array([], dtype=bool)) is None


def test_cover_counts_only_answers_that_state_a_radius():
    assert cover_percent(np.array([5.0, 20.0, 1.0, NAN]), np.array([10.0, 10.0, NAN, 5.0])) == 50.0
    assert cover_percent(np.array([12.0]), np.array([10.0]), np.array([3.0])) == 100.0
    assert cover_percent(np.array([NAN]), np.array([1.0])) is None


def test_a_bootstrap_interval_holds_the_mean_repeats_with_its_seed_and_narrows():
    rng = np.random.default_rng(1)
    few, many = rng.normal(10, 3, 30), rng.normal(10, 3, 3000)
    one = bootstrap_mean(few, seed=5)
    assert one == bootstrap_mean(few, seed=5)
    assert one.low < one.value < one.high
    assert bootstrap_mean(many).high - bootstrap_mean(many).low < 0.3 * (one.high - one.low)
    assert math.isnan(bootstrap_mean(np.array([])).value)


def test_paired_tests_see_a_real_difference_and_no_other():
    rng = np.random.default_rng(2)
    easy = rng.random(300) < 0.5
    better = easy | (rng.random(300) < 0.15)
    assert mcnemar_p(easy, better) < 1e-6
    assert mcnemar_p(easy, easy) == 1.0
    assert sign_flip_p(easy.astype(float), better.astype(float)) < 0.001
    assert sign_flip_p(np.zeros(5), np.zeros(5)) == 1.0
    assert paired_difference(easy.astype(float), better.astype(float)).low > 0


def test_mcnemar_equals_the_value_computed_by_hand():
    """One pair against five: 2 · (1 + 6) / 2^6."""
    a = np.array([True] + [False] * 5)
    assert mcnemar_p(a, ~a) == pytest.approx(2 * 7 / 64)


def test_the_difference_of_two_ratios_is_paired_over_samples():
    rng = np.random.default_rng(5)
    wholes = rng.integers(1, 9, 200).astype(float)
    parts = np.floor(wholes * rng.random(200))
    same = paired_ratio_difference((parts, wholes), (parts, wholes))
    assert (same.value, same.low, same.high) == (0.0, 0.0, 0.0)
    found = paired_ratio_difference((parts, wholes), (np.minimum(parts + 1, wholes), wholes))
    assert found.value == pytest.approx((np.minimum(parts + 1, wholes).sum() - parts.sum()) / wholes.sum())
    assert 0 < found.low < found.value < found.high


def test_a_sample_with_a_denominator_of_zero_is_ignored_in_a_ratio():
    parts, wholes = np.array([1.0, 0.0]), np.array([2.0, 0.0])
    found = paired_ratio_difference((parts, wholes), (2 * parts, wholes))
    assert (found.value, found.low, found.high) == (0.5, 0.5, 0.5)
