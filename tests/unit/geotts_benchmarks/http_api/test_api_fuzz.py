"""The fuzzer sends the same requests for the same seed, and reports errors of the service."""

import httpx
import pytest
from support.rude_server import as_json, rude_server

from geotts_benchmarks.http_api.api_fuzz import Fuzzer


async def fuzz(seed, status=200, count=40):
    """The fuzzer after its requests, and what reached the service over HTTP."""
    async with rude_server(lambda seen: as_json({})) as raw:
        sent = []

        def answer(request):
            sent.append((request.method, request.url.path))
            return httpx.Response(status)

        async with httpx.AsyncClient(transport=httpx.MockTransport(answer), base_url="http://service") as http:
            fuzzer = Fuzzer(http, ("127.0.0.1", raw.port), seed, at_once=2)
            await fuzzer.send(count)
    return fuzzer, sorted(sent)


async def test_the_same_seed_sends_the_same_requests():
    (first, one), (_, again), (_, other) = await fuzz(3), await fuzz(3), await fuzz(4)
    assert one == again != other
    assert sum(first.statuses.values()) == 40


@pytest.mark.parametrize(("status", "broken"), [(422, False), (503, False), (500, True)])
async def test_only_errors_of_the_service_are_reported(status, broken):
    fuzzer, _ = await fuzz(1, status)
    assert bool(fuzzer.broken) is broken
    assert all(text.startswith("500: ") for text in fuzzer.broken)
