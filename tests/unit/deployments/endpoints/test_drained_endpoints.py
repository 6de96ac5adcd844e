"""`geotts endpoints`: an operator takes one of two endpoints of a running service out of use, and back."""

import asyncio
from contextlib import asynccontextmanager

import httpx
import pytest
from support.endpoint import DONE, chunk, serving, usage
from support.geotts_process import geotts
from support.ports import free_port
from support.service import PHOTO
from support.service import serving as a_service

from deployments.config import AccessConfig, AppArgs, GatewayConfig
from deployments.endpoints.watch import drained_findings
from deployments.gateway.auth import fingerprint
from deployments.wiring.local import local_ports
from tts.config import OpenAIEngine, RoutingConfig
from tts.inference.openai.endpoint.orders import Orders
from tts.inference.openai.endpoint.states import STATES, EndpointStates

ANSWER = '{"lat": 43.19, "lon": 140.99, "city": "Otaru", "country": "Japan"}'
PAGES = {"/v1/models": {"data": [{"id": "m"}]}}
DESK = "gt_desk"
OPS = "gt_ops"


def play(body, number):
    return [chunk(ANSWER), chunk(finish="stop"), usage(prompt=100), DONE]


@pytest.fixture(autouse=True)
def nothing_is_drained_afterwards():
    yield
    STATES.apply_orders(Orders(at=STATES.orders.at + 1))
    STATES.drain([])


@asynccontextmanager
async def two_endpoints(**gateway):
    """The service's address, and its two endpoints."""
    async with serving(play, PAGES) as one, serving(play, PAGES) as two:
        engine = OpenAIEngine(base_url=one.url, base_urls=(two.url,), model="m", server="sglang")
        args = AppArgs(engine=engine, routing=RoutingConfig(method="fixed"), gateway=GatewayConfig(**gateway))
        async with a_service(args, ports=local_ports(args)) as (url, _):
            yield url, one, two


async def locate(url):
    async with httpx.AsyncClient(base_url=url, timeout=30, trust_env=False) as http:
        reply = await http.post("/locate", files={"image": PHOTO}, data={"n_parallel": "4"})
    assert reply.status_code == 200, reply.text


@pytest.mark.slow
async def test_a_drained_endpoint_gets_nothing_new_until_it_is_taken_back(data_store):
    async with two_endpoints() as (url, one, two):
        await locate(url)
        home, other = (one, two) if one.bodies else (two, one)
        code, out, err = await geotts("endpoints", "drain", home.url, "--url", url)
        assert (code, err) == (0, "")
        assert f"{home.url}  draining" in out
        before = len(home.bodies)
        await locate(url)
        assert (len(home.bodies), len(other.bodies)) == (before, 4)
        async with asyncio.timeout(30):  # the service looks at its endpoints every five seconds
            while not (found := await asyncio.to_thread(lambda: list(drained_findings(url)))):  # noqa: ASYNC110
                await asyncio.sleep(0.2)
        assert (found[0].state, home.url in found[0].detail) == ("off", True)
        _, out, _ = await geotts("endpoints", "list", "--url", url)
        assert sorted(line.split()[-1] for line in out.splitlines()) == ["draining", "ok"]
        code, out, _ = await geotts("endpoints", "undrain", f"{home.url}/", "--url", url)
        assert (code, "draining" in out) == (0, False)
        await locate(url)
        assert len(home.bodies) == before + 4


async def readiness(url):
    async with httpx.AsyncClient(base_url=url, timeout=30, trust_env=False) as http:
        reply = await http.get("/readyz")
    return reply.status_code, reply.json()["checks"]


async def drain(url, *endpoints):
    async with httpx.AsyncClient(base_url=url, timeout=30, trust_env=False) as http:
        for endpoint in endpoints:
            reply = await http.post("/endpoints", json={"url": endpoint, "draining": True})
            assert reply.status_code == 200, reply.text


async def test_the_only_endpoint_is_used_while_it_is_drained_and_the_service_stays_ready(data_store):
    async with serving(play, PAGES) as only:
        engine = OpenAIEngine(base_url=only.url, model="m", server="sglang")
        args = AppArgs(engine=engine, routing=RoutingConfig(method="fixed"))
        async with a_service(args, ports=local_ports(args)) as (url, _):
            await drain(url, only.url)
            status, checks = await readiness(url)
            assert (status, "is being drained, and is used all the same" in checks["engine"]) == (200, True)
            await locate(url)
            assert len(only.bodies) == 4
            (found,) = await asyncio.to_thread(lambda: list(drained_findings(url)))
            assert (found.state, found.cost) == ("off", "none")


async def test_a_service_whose_endpoints_are_all_drained_is_ready(data_store):
    async with two_endpoints() as (url, one, two):
        await drain(url, one.url, two.url)
        assert (await readiness(url))[0] == 200
        await locate(url)
        assert len(one.bodies) + len(two.bodies) == 4


async def test_a_service_is_not_ready_where_the_one_endpoint_in_use_is_dead(data_store, monkeypatch):
    """The drained one answers, but it does not stand in: every request would fail."""
    monkeypatch.setattr("deployments.endpoints.watch.EVERY_S", 0.05)
    async with serving(play, PAGES) as drained:
        dead = f"http://127.0.0.1:{free_port()}/v1"
        engine = OpenAIEngine(base_url=dead, base_urls=(drained.url,), model="m")
        args = AppArgs(engine=engine, routing=RoutingConfig(method="fixed"))
        async with a_service(args, ports=local_ports(args)) as (url, _):
            assert (await readiness(url))[0] == 200
            await drain(url, drained.url)
            assert (await readiness(url))[0] == 503


@pytest.mark.slow
async def test_draining_an_unknown_endpoint_is_refused_with_the_known_ones(data_store):
    async with two_endpoints() as (url, one, _):
        code, _, err = await geotts("endpoints", "drain", "http://127.0.0.1:9/v1", "--url", url)
        assert (code, one.url in " ".join(err.split())) == (2, True)
        STATES.drain([one.url])
        code, _, err = await geotts("endpoints", "undrain", one.url, "--url", url)
        assert (code, "the deployed configuration drains this endpoint" in " ".join(err.split())) == (2, True)


async def test_only_the_key_of_an_operator_may_drain_endpoints(data_store, tmp_path):
    keys = tmp_path / "keys.txt"
    keys.write_text(f"desk {fingerprint(DESK)} 60 2\nops {fingerprint(OPS)} operator 60\n")
    access = AccessConfig(mode="keys", keys_file=str(keys))
    async with two_endpoints(access=access) as (url, one, _), httpx.AsyncClient(base_url=url, trust_env=False) as http:
        statuses = {}
        for key in ("", DESK, OPS):
            headers = {"Authorization": f"Bearer {key}"} if key else {}
            change = {"url": one.url, "draining": True}
            got = await http.get("/endpoints", headers=headers)
            statuses[key] = (got.status_code, (await http.post("/endpoints", json=change, headers=headers)).status_code)
    assert statuses == {"": (401, 401), DESK: (403, 403), OPS: (200, 200)}


def test_the_latest_drain_orders_hold_in_whatever_order_they_arrive():
    states = EndpointStates()
    newer, older = Orders(at=2.0, draining=("http://a/v1",)), Orders(at=1.0, draining=("http://b/v1",))
    assert states.apply_orders(newer) == newer
    assert states.apply_orders(older) == states.apply_orders(Orders()) == newer
    assert (states.is_draining("http://a/v1/"), states.is_draining("http://b/v1")) == (True, False)
    states.drain(["http://b/v1"])
    assert states.apply_orders(Orders(at=3.0)).draining == ()
    assert (states.is_draining("http://a/v1"), states.is_draining("http://b/v1")) == (False, True)
