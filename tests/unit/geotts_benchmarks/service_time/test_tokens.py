"""`geotts bench tokens`: a load that a gateway carries is measured as what it is, and a late one as late."""

import pytest

from geotts_benchmarks.service_time import tokens
from geotts_benchmarks.service_time.token_gateway import CHUNK_S

pytestmark = pytest.mark.slow
EACH = tokens._ROLLOUTS / CHUNK_S  # chunks a second of one request


async def test_every_chunk_of_a_small_load_is_counted_with_and_without_readers():
    async with tokens._start_gateway() as (url, process):
        for followed in (True, False):
            chunks, lag_ms = await tokens._measure_step(url, process, 2, followed=followed)
            assert 0 < chunks <= 1.05 * 2 * EACH  # a machine that is busy with others makes fewer
            assert lag_ms >= 0


async def test_the_search_ends_at_the_last_load_that_was_not_late(monkeypatch):
    async def step(url, process, requests, *, followed):
        return requests * EACH, 10.0 if requests <= 16 else 51.0

    monkeypatch.setattr(tokens, "_measure_step", step)
    assert await tokens._find_limit("", None, 2.0, followed=True) == (16 * EACH, 16, 10.0)
