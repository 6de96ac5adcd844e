"""Which of several endpoints new conversations go to: to none that is known to be dead, or that is being drained."""

import asyncio
from contextlib import asynccontextmanager

import httpx
import pytest
from support import service
from support.basics import sign_bytes
from support.endpoint import DONE, Reply, chunk, serving, usage

from deployments.config import AppArgs
from deployments.endpoints import watch as endpoint_watch
from deployments.serve.operator_settings import apply_settings
from deployments.wiring.local import local_ports
from tts.config import OpenAIEngine, RoutingConfig
from tts.inference.openai.endpoint.states import STATES, EndpointStates

pytestmark = pytest.mark.slow

PHOTOS = [sign_bytes(f"Street {i}") for i in range(30)]
ANSWER = '{"lat": 43.19, "lon": 140.99, "city": "Otaru", "country": "Japan"}'
MODELS = {"data": [{"id": "m"}]}


def reply_with_answer(body, number):
    return [chunk(ANSWER), chunk(finish="stop"), usage(prompt=100), DONE]


@asynccontextmanager
async def service_over(*repliers):
    """A client of a service over endpoints of one model, which it looks at all the time."""
    async with serving(repliers[0], {"/v1/models": MODELS}) as one, serving(repliers[1], {"/v1/models": MODELS}) as two:
        engine = OpenAIEngine(
            base_url=one.url, base_urls=(two.url,), model="m", server="sglang", backoff_s=0.01, prefix_cache=False
        )
        args = AppArgs(engine=engine, routing=RoutingConfig(method="fixed"))
        async with (
            service.serving(args, ports=local_ports(args)) as (url, _),
            httpx.AsyncClient(base_url=url, timeout=30, trust_env=False) as client,
        ):
            yield client, one, two


async def all_located(client, photos):
    for photo in photos:
        reply = await client.post("/locate", files={"image": photo}, data={"n_parallel": "1", "depth": "direct"})
        assert reply.status_code == 200, reply.text


async def photos_of_both(client, *endpoints):
    """Photos that were located until each endpoint was asked; which one a photo goes to hangs on the ports."""
    for number, photo in enumerate(PHOTOS, start=1):
        await all_located(client, [photo])
        if all(endpoint.bodies for endpoint in endpoints):
            return PHOTOS[:number]
    pytest.fail(f"only one endpoint was asked about {len(PHOTOS)} photos")


async def wait_until_readyz_reports(client, role, words):
    """Wait until /readyz says it of an endpoint."""
    async with asyncio.timeout(30):
        while words not in (await client.get("/readyz")).json()["checks"][role]:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


@pytest.fixture
def often(monkeypatch):
    monkeypatch.setattr(endpoint_watch, "EVERY_S", 0.05)


async def test_new_conversations_leave_out_a_dead_endpoint_until_it_is_well_again(data_store, often):
    async with service_over(reply_with_answer, reply_with_answer) as (client, one, two):
        photos = await photos_of_both(client, one, two)
        before = len(two.bodies)
        two.pages["/v1/models"] = Reply(503, {"error": "loading"})
        await wait_until_readyz_reports(client, "engine 2", "answered 503")
        await all_located(client, photos)
        assert len(two.bodies) == before
        two.pages["/v1/models"] = MODELS
        await wait_until_readyz_reports(client, "engine 2", "ok")
        await all_located(client, photos)
        assert len(two.bodies) == 2 * before


async def test_endpoints_are_still_used_if_all_of_them_look_dead(data_store, often):
    async with service_over(reply_with_answer, reply_with_answer) as (client, one, two):
        one.pages["/v1/models"] = two.pages["/v1/models"] = Reply(500, {"error": "no list"})
        await wait_until_readyz_reports(client, "engine", "answered 500")
        await photos_of_both(client, one, two)


@pytest.fixture
def draining():
    """What Serve does with a changed `user_config`."""
    yield lambda args, addresses: apply_settings({"draining": addresses}, args)
    STATES.drain(())


def args_over(*endpoints):
    first, *others = [endpoint.url for endpoint in endpoints]
    return AppArgs(engine=OpenAIEngine(base_url=first, base_urls=tuple(others), model="m"))


def slow(body, number):
    """A conversation of two turns: it looks something up, then answers; without tools it answers at once."""
    if not body.get("tools") or any(message["role"] == "tool" for message in body["messages"]):
        return reply_with_answer(body, number)
    function = {"name": "poi_keyword_search", "arguments": '{"query": "Otaru"}'}
    call = {"index": 0, "id": "c", "type": "function", "function": function}
    return [3.0, chunk("I look."), chunk(tool_calls=[call]), chunk(finish="tool_calls"), usage(prompt=100), DONE]


async def test_a_drained_endpoint_gets_nothing_new_and_keeps_what_it_has(data_store, often, draining):
    async with service_over(slow, slow) as (client, one, two):
        form = {"n_parallel": "1", "depth": "deep"}
        running: list[asyncio.Task[httpx.Response]] = []
        async with asyncio.timeout(30):
            while len(running) < 4 or not (one.bodies and two.bodies):
                photo = PHOTOS[len(running)]
                running.append(asyncio.create_task(client.post("/locate", files={"image": photo}, data=form)))
                while len(one.bodies) + len(two.bodies) < len(running):  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
        photos = PHOTOS[: len(running)]
        began = [len(one.bodies), len(two.bodies)]
        draining(args_over(one, two), [f"{two.url}/"])
        await wait_until_readyz_reports(client, "engine 2", "is being drained: it gets no new conversations")
        assert [reply.status_code for reply in await asyncio.gather(*running)] == [200] * len(photos)
        assert [len(one.bodies), len(two.bodies)] == [2 * began[0], 2 * began[1]], "each went on where it began"
        assert (await client.get("/readyz")).status_code == 200
        await all_located(client, photos)
        assert len(two.bodies) == 2 * began[1]
        draining(args_over(one, two), [])
        await wait_until_readyz_reports(client, "engine 2", "ok")
        await all_located(client, photos)
        assert len(two.bodies) > 2 * began[1]


async def test_a_drained_endpoint_does_not_stand_in_for_one_that_fails(data_store, draining):
    ill = lambda body, number: Reply(503, {"error": "down"})  # noqa: E731
    async with service_over(ill, reply_with_answer) as (client, one, two):
        draining(args_over(one, two), [two.url])
        reply = await client.post("/locate", files={"image": PHOTOS[0]}, data={"n_parallel": "1", "deadline_s": "10"})
        assert reply.status_code == 503
        assert two.bodies == []


async def test_endpoints_are_still_used_if_all_of_them_are_drained(data_store, draining):
    async with service_over(reply_with_answer, reply_with_answer) as (client, one, two):
        draining(args_over(one, two), [one.url, two.url])
        await photos_of_both(client, one, two)


@pytest.mark.parametrize("wrong", [{"draining": "http://h/v1"}, {"draining": ["http://nowhere/v1"]}, {"drain": []}])
def test_a_wrong_user_config_is_logged_and_drains_no_endpoint(caplog, wrong):
    states = EndpointStates()
    apply_settings(wrong, AppArgs(engine=OpenAIEngine(base_url="http://h/v1")), states)
    assert "user_config" in caplog.text
    assert not states.is_draining("http://h/v1")


def test_an_endpoint_found_dead_counts_as_dead_for_a_limited_time_only():
    now = 0.0
    states = EndpointStates(clock=lambda: now)
    states.note_check("http://u:secret@h/v1", dead=True)
    assert states.is_dead("http://h/v1/")
    now = 60.0
    assert not states.is_dead("http://h/v1")
