"""An endpoint where nothing listens, at every door that checks claims; and the end of streams that fail."""

import asyncio
import json
from contextlib import asynccontextmanager

import httpx
import pytest
from support.endpoint import DONE, chunk, usage
from support.endpoint import serving as an_endpoint
from support.geotts_process import geotts
from support.mcp_client import mcp_client, upload_photo
from support.ports import free_port
from support.service import PHOTO, serving

from deployments.config import AppArgs, GatewayConfig
from deployments.runstore.memory import MemoryRunStore
from deployments.wiring.local import local_ports, local_tools
from tts.config import OpenAIEngine, RoutingConfig
from tts.domain.events import parse_event

ANSWER = '{"lat": 43.19, "lon": 140.99, "city": "Otaru", "country": "Japan"}'


class BrokenStore(MemoryRunStore):
    """Takes no photos, so that every request ends unexpectedly."""

    async def attach(self, request_id, file):
        raise RuntimeError("a photo cannot be kept")


def play(body, number):
    return [chunk(ANSWER), chunk(finish="stop"), usage(prompt=100), DONE]


def args_over(url):
    engine = OpenAIEngine(base_url=url, model="m", backoff_s=0.001, retries=1, server="sglang")
    return AppArgs(engine=engine, routing=RoutingConfig(method="fixed"), gateway=GatewayConfig(heartbeat_s=5.0))


def dead_url():
    return f"http://127.0.0.1:{free_port()}/v1"


@asynccontextmanager
async def a_service(args, store=None, **options):
    async with serving(args, store=store, ports=local_ports(args), **options) as (url, _):
        yield url


def names_what_failed(text, url):
    return [words for words in (url, "ConnectError", "start the endpoint") if words not in text] == []


async def test_a_check_is_answered_with_a_problem_that_names_the_endpoint(data_store):
    dead = dead_url()
    async with a_service(args_over(dead)) as url, httpx.AsyncClient(base_url=url, timeout=60) as http:
        form = {"claim": "Paris", "n_parallel": "2"}
        reply = await http.post("/check", files={"image": PHOTO}, data=form)
    assert (reply.status_code, reply.headers["content-type"]) == (503, "application/problem+json")
    assert "retry-after" in reply.headers
    assert names_what_failed(reply.json()["detail"], dead), reply.text
    assert reply.json()["causes"][0]["endpoint"] == dead


async def test_the_tools_of_mcp_end_in_an_error_that_names_the_endpoint(data_store):
    dead = dead_url()
    args = args_over(dead)
    async with a_service(args, toolbox=local_tools(args).toolbox) as url, mcp_client(url) as client:
        photo = {"upload": await upload_photo(url, PHOTO), "n_parallel": 2}
        for tool, more in (("locate_photo", {}), ("check_claim", {"claim": "Paris"})):
            found = await client.call_tool(tool, {**photo, **more})
            assert found.is_error, tool
            assert names_what_failed(found.content[0].text, dead), found.content[0].text


@pytest.mark.slow
async def test_geotts_check_ends_with_1_and_names_the_endpoint(data_store, tmp_path):
    photo, dead = tmp_path / "p.jpg", dead_url()
    photo.write_bytes(PHOTO)
    quick = ("--set", "engine.retries=1", "--set", "engine.backoff_s=0.001", "--set", "routing.method=fixed")
    asked = ("check", photo, "--claim", "Paris", "-n", "2", "--endpoint", dead, "--model", "m", *quick)
    code, out, err = await geotts(*map(str, asked), "--json")
    assert code == 1
    assert names_what_failed(err, dead), err
    assert json.loads(out)["error"]["causes"][0]["endpoint"] == dead


@pytest.mark.parametrize("broken", ["endpoint", "store"])
async def test_every_failed_stream_ends_with_its_error_then_the_egress_then_done(data_store, broken):
    """The pipeline writes the end of the first, the gateway that of the second."""
    async with an_endpoint(play) as endpoint:
        args = args_over(dead_url() if broken == "endpoint" else endpoint.url)
        store = BrokenStore(3600) if broken == "store" else None
        async with a_service(args, store) as url, httpx.AsyncClient(base_url=url, timeout=60) as http:
            headers = {"Accept": "application/x-ndjson"}
            async with asyncio.timeout(60):
                reply = await http.post("/locate", files={"image": PHOTO}, data={"n_parallel": "2"}, headers=headers)
    events = [parse_event(line) for line in reply.text.splitlines() if line]
    assert [event.type for event in events][-3:] == ["error", "left_machine", "done"]
    assert [event.seq for event in events] == list(range(events[0].seq, events[0].seq + len(events)))
    assert events[-3].code == ("rollouts-failed" if broken == "endpoint" else "internal")
