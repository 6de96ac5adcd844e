"""Rows of GeoAgent's rewards: each kind is computed by the code that serves, and what a row lacks is declared."""

import pytest

from geotts_benchmarks.released_rows.corpus import Corpus
from geotts_benchmarks.released_rows.geoagent.rewards import judge


async def result(tmp_path, kind, value, given):
    return await judge({"kind": kind, "value": value, "input": given}, Corpus(tmp_path))


async def test_a_distance_is_compared_with_its_value(tmp_path):
    ends = {"lat1": 0, "lon1": 0, "lat2": 0, "lon2": 1}
    assert (await result(tmp_path, "distance", 111.195, ends)).verdict == "differ"
    assert (await result(tmp_path, "distance", 111.19492664455873, ends)).verdict == "equal"


async def test_replies_that_a_row_does_not_state_are_declared_with_the_reason(tmp_path):
    found = await result(tmp_path, "consistency", 1.0, {"why": "for another reason", "text": ""})
    assert found.verdict == "declared"
    assert "second reader" in found.reason


async def test_an_unknown_kind_is_an_error(tmp_path):
    with pytest.raises(KeyError):
        await result(tmp_path, "unknown", 1.0, {})
