"""`geotts bench tracing`, as a user types it: two real services, and one JSON object as the last line."""

import json

import pytest
from support.geotts_process import geotts

pytestmark = pytest.mark.cluster


async def test_bench_tracing_measures_two_real_services(data_store):
    code, out, err = await geotts("bench", "tracing", "--quick", "--only", "scripted", limit_s=400)
    assert code == 0, err
    found = json.loads(out.splitlines()[-1])["scripted"]
    assert found["spans_a_request"] > 10
    assert 0.2 < found["throughput"] < 2.0
    assert found["throughput_95"][0] <= found["throughput"] <= found["throughput_95"][1]
