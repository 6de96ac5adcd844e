"""How often the number of replicas turned round."""

import pytest

from geotts_benchmarks.replicas.autoscale import flaps


@pytest.mark.parametrize(
    ("counts", "found"),
    [([], 0), ([1, 1, 1], 0), ([1, 2, 3, 3, 2, 1], 0), ([1, 3, 2, 3, 1], 2), ([1, 2, 1, 2], 1)],
)
def test_only_turns_beyond_the_one_from_up_to_down_are_flaps(counts, found):
    assert flaps(counts) == found
