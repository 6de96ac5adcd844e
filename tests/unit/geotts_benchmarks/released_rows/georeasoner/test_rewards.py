"""Rows of GeoReasoner: shares of the area by class number, compared with the served weights."""

import pytest

from geotts_benchmarks.released_rows.corpus import Corpus
from geotts_benchmarks.released_rows.georeasoner.rewards import judge
from tts.routing.segmentation import class_weights


async def verdict(tmp_path, value, shares):
    return (await judge({"input": shares, "value": value}, Corpus(tmp_path))).verdict


@pytest.mark.parametrize("number", [0, 6, 149])
async def test_a_row_has_the_weight_of_its_class(tmp_path, number):
    _, weights = class_weights()
    assert await verdict(tmp_path, 0.5 * weights[number], {str(number): 0.5}) == "equal"
    assert await verdict(tmp_path, 0.5 * weights[number] + 0.01, {str(number): 0.5}) == "differ"


async def test_a_row_without_shares_has_no_locatability(tmp_path):
    assert await verdict(tmp_path, 0.0, {}) == "equal"
