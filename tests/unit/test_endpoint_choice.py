"""Which of several endpoints new conversations go to: not to one that is known to be dead, or that is being emptied."""

import asyncio
from contextlib import asynccontextmanager

import httpx
import pytest
import service
from endpoint import DONE, Reply, chunk, serving, usage
from support import sign_bytes

from deployments import endpoint_watch
from deployments.local import local_ports
from tts.config import AppArgs, OpenAIEngine, RoutingConfig
from tts.inference.endpoint.states import EndpointStates

PHOTOS = [sign_bytes(f"Street {i}") for i in range(6)]
ANSWER = '{"lat": 43.19, "lon": 140.99, "city": "Otaru", "country": "Japan"}'
MODELS = {"data": [{"id": "m"}]}


def answering(body, number):
    return [chunk(ANSWER), chunk(finish="stop"), usage(prompt=100), DONE]


@asynccontextmanager
async def service_over(*plays):
    """A client of a service over endpoints of one model, which it looks at all the time."""
    async with serving(plays[0], {"/v1/models": MODELS}) as one, serving(plays[1], {"/v1/models": MODELS}) as two:
        engine = OpenAIEngine(
            base_url=one.url, base_urls=(two.url,), model="m", server="sglang", backoff_s=0.01, prefix_cache=False
        )
        args = AppArgs(engine=engine, routing=RoutingConfig(method="fixed"))
        async with (
            service.serving(args, ports=local_ports(args)) as (url, _),
            httpx.AsyncClient(base_url=url, timeout=30, trust_env=False) as client,
        ):
            yield client, one, two


async def all_located(client):
    for photo in PHOTOS:
        reply = await client.post("/locate", files={"image": photo}, data={"n_parallel": "1", "depth": "direct"})
        assert reply.status_code == 200, reply.text


async def told(client, role, words):
    """Wait until /readyz says it of an endpoint."""
    async with asyncio.timeout(5):
        while words not in (await client.get("/readyz")).json()["checks"][role]:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


@pytest.fixture
def often(monkeypatch):
    monkeypatch.setattr(endpoint_watch, "EVERY_S", 0.05)


async def test_new_conversations_leave_out_a_dead_endpoint_until_it_is_well_again(data_store, often):
    async with service_over(answering, answering) as (client, one, two):
        await all_located(client)
        assert one.bodies
        assert two.bodies
        before = len(two.bodies)
        two.pages["/v1/models"] = Reply(503, {"error": "loading"})
        await told(client, "engine 2", "answered 503")
        await all_located(client)
        assert len(two.bodies) == before
        two.pages["/v1/models"] = MODELS
        await told(client, "engine 2", "ok")
        await all_located(client)
        assert len(two.bodies) == 2 * before


async def test_when_all_look_dead_they_are_asked_all_the_same(data_store, often):
    async with service_over(answering, answering) as (client, one, two):
        one.pages["/v1/models"] = two.pages["/v1/models"] = Reply(500, {"error": "no list"})
        await told(client, "engine", "answered 500")
        await all_located(client)
        assert one.bodies
        assert two.bodies


def test_a_look_is_believed_for_a_while_only():
    now = 0.0
    states = EndpointStates(clock=lambda: now)
    states.looked("http://u:secret@h/v1", dead=True)
    assert states.is_dead("http://h/v1/")
    now = 60.0
    assert not states.is_dead("http://h/v1")
