"""The growth that `geotts bench soak` reports, on series of which it is known."""

import random

import pytest

from geotts_benchmarks.endurance.growth import growth

AT_S = [10.0 * i for i in range(180)]


def noise(seed, size):
    rng = random.Random(seed)
    return [rng.uniform(-size, size) for _ in AT_S]


def test_a_constant_series_has_a_growth_interval_around_zero():
    found = growth(AT_S, [500 + n for n in noise(1, 10)])
    assert found.low < 0 < found.high
    assert abs(found.percent) < 1


def test_a_leak_is_found_below_the_noise_and_outside_the_interval():
    leak = [500 + 0.02 * at + n for at, n in zip(AT_S, noise(2, 15), strict=True)]
    found = growth(AT_S, leak)
    assert found.percent == pytest.approx(100 * 0.02 * AT_S[-1] / 500, abs=1.5)
    assert found.low > 0


def test_a_single_peak_is_no_growth():
    assert abs(growth(AT_S, [500.0] * 90 + [900.0] + [500.0] * 89).percent) < 0.01


def test_a_series_of_two_values_or_of_zeros_shows_no_growth():
    assert growth([0.0, 10.0], [1.0, 2.0]).percent == 0.0
    assert growth(AT_S, [0.0] * len(AT_S)).percent == 0.0
