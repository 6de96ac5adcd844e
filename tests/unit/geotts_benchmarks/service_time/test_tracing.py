"""What `geotts bench tracing` says of pairs of blocks, and that it asks both services for the same in turn."""

import httpx
import pytest
from support.service import PHOTO, an_app, idle, serving

from geotts_benchmarks.service_time.tracing import Block, Load, _unread_photo, compare_blocks, measure_pairs
from tts.errors import FatalError


def test_the_cost_is_the_median_of_the_pairs():
    off = [Block(2.0, 1.0, 0.5), Block(4.0, 2.0), Block(8.0, 4.0), Block(1.0, 1.0), Block(1.0, 1.0)]
    on = [Block(2.5, 1.0, 0.6), Block(5.0, 2.2), Block(10.0, 4.3, 0.1), Block(9.0, 0.5), Block(0.1, 9.0)]
    found = compare_blocks(off, on, requests=4)
    assert found["throughput"] == 0.8
    assert found["costs_percent"] == 20.0
    assert found["throughput_95"][0] <= 0.8 <= found["throughput_95"][1]
    assert found["cpu"] == 1.1
    assert (found["rps_off"], found["rps_on"]) == (2.0, 0.8)
    assert (found["cpu_ms_off"], found["cpu_ms_added"]) == (250.0, 50.0)


def test_equal_blocks_give_a_cost_of_zero():
    found = compare_blocks([Block(1.0, 1.0)] * 9, [Block(1.0, 1.0)] * 9, requests=1)
    assert (found["throughput"], found["throughput_95"], found["costs_percent"]) == (1.0, [1.0, 1.0], 0.0)


class Service:
    """A service in this process; its processors count how often they were read."""

    def __init__(self, url):
        self.url = url
        self.read = 0

    def cpu_s(self):
        self.read += 1
        return float(self.read)


async def test_both_services_get_the_same_requests_in_pairs(data_store, monkeypatch):
    monkeypatch.setattr("geotts_benchmarks.service_time.tracing.SETTLE_S", 0.0)
    requests = []
    post = httpx.AsyncClient.post

    async def noted(self, url, **given):
        requests.append((url, given["files"]["image"], tuple(sorted(given["data"].items()))))
        return await post(self, url, **given)

    monkeypatch.setattr(httpx.AsyncClient, "post", noted)
    async with serving(an_app()) as (a, one), serving(an_app()) as (b, two):
        off, on = Service(a), Service(b)
        found = await measure_pairs("test", off, on, Load(2, 2, 3, _unread_photo))
        await idle(one)
        await idle(two)
    assert off.read == on.read == 3 * 4  # before and after each block and its export, the one that warms up included
    assert len(requests) == 2 * 4 * 4
    by_url = {url: sorted(one[1:] for one in requests if one[0].startswith(url)) for url in (a, b)}
    assert by_url[a] == by_url[b]
    assert len({photo for _, photo, _ in requests}) == 4 * 4
    first = [requests[block * 4][0].removesuffix("/locate") for block in range(8)]
    assert first == [a, b, b, a, a, b, b, a]
    assert found["rps_on"] > 0
    assert found["cpu"] == 1.0


async def test_a_failed_request_ends_the_measurement(data_store):
    async with serving(an_app()) as (url, _):
        with pytest.raises(FatalError, match="replied 404"):
            await measure_pairs("test", Service(f"{url}/no"), Service(url), Load(1, 1, 1, lambda _: PHOTO))
