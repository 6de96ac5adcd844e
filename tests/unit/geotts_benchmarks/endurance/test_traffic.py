"""The mixed traffic of `geotts bench soak`, against a real server."""

import asyncio
import random

import pytest
from support.basics import sign_bytes
from support.service import an_app, idle, serving

from geotts_benchmarks.endurance.traffic import Traffic
from tts.config import ScriptedEngine

KINDS = {"read", "cancelled", "resumed", "erased", "refused"}


def traffic_at(url):
    return Traffic(url, [sign_bytes("Rue de Rivoli")], parallel=2, rng=random.Random(3))


@pytest.mark.slow
async def test_every_kind_of_request_ends_as_it_should_and_nothing_is_left_running():
    async with serving(an_app(ScriptedEngine(turns=2, tokens_per_turn=4, turn_s=0.05))) as (url, gateway):
        traffic = traffic_at(url)
        async with traffic.steady(30.0):
            async with asyncio.timeout(120):
                while set(traffic.done) != KINDS:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
        await idle(gateway)
    assert not traffic.failures


@pytest.mark.slow
async def test_traffic_at_full_speed_counts_the_answers_per_second():
    async with serving(an_app(ScriptedEngine(turns=1, tokens_per_turn=2, turn_s=0.1))) as (url, _):
        assert 0 < await traffic_at(url).measure_rate(clients=2, seconds=2.0) < 25


@pytest.mark.slow
async def test_an_unreachable_service_counts_as_failures():
    traffic = traffic_at("http://127.0.0.1:1")
    async with traffic.steady(50.0):
        await asyncio.sleep(0.3)
    assert traffic.failures
    assert not traffic.done
