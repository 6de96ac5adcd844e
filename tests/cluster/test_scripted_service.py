"""Cancellation, deadlines and traces over a real Ray Serve cluster, with an engine whose timing is known."""

import asyncio
import time

import httpx
import pytest
import pytest_asyncio
from support.event_stream import locate
from support.hostile import corpus
from support.mcp_client import mcp_client, upload_photo
from support.plain_photo import plain_photo
from support.replicas import Probe

from deployments.config import AppArgs
from deployments.launch.cluster import APP_NAME
from tts.api.client import Client
from tts.config import RoutingConfig, ScriptedEngine
from tts.domain.answer import StopReason
from tts.domain.trajectory import fold

ARGS = AppArgs(engine=ScriptedEngine(turns=6, tokens_per_turn=32, turn_s=1.0), routing=RoutingConfig(method="fixed"))
PHOTO = plain_photo(320, 240)
pytestmark = [pytest.mark.cluster, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def http():
    async with httpx.AsyncClient(timeout=60, limits=httpx.Limits(max_connections=None)) as client:
        yield client


@pytest.fixture(scope="module")
def probe():
    return Probe(APP_NAME)


async def test_a_reply_has_exactly_one_x_request_id(service, http):
    reply = await http.post(f"{service.url}/locate", files={"image": PHOTO}, data={"depth": "direct"})
    assert reply.headers.get_list("x-request-id") == [reply.json()["request_id"]]


async def test_the_page_and_its_map_are_served_by_ray_too(service, http):
    page = await http.get(service.url, headers={"Accept": "text/html"})
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert (await http.get(f"{service.url}/web/app.js")).status_code == 200
    body = (await http.post(f"{service.url}/locate", files={"image": PHOTO}, data={"depth": "direct"})).json()
    picture = await http.get(f"{service.url}/locate/{body['request_id']}/map")
    assert (picture.status_code, picture.headers["content-type"]) == (200, "image/jpeg")


@pytest.mark.parametrize("after_s", [0.005, 0.05, 0.25, 1.2])
async def test_a_disconnected_stream_leaves_nothing_running(service, http, probe, after_s):
    request = http.stream(
        "POST", f"{service.url}/locate", files={"image": PHOTO}, data={"n_parallel": "8", "depth": "deep"},
        headers={"Accept": "text/event-stream"},
    )  # fmt: skip
    async with request as response:
        await anext(response.aiter_lines())
        await asyncio.sleep(after_s)
    assert await probe.idle_within(3.0)
    after = await locate(http, service.url, PHOTO, n_parallel=2, depth="direct")
    assert not after.failure


@pytest.mark.parametrize("cut_at", ["accepted", "rollout_started", "text"])
async def test_the_rollouts_of_a_cut_stream_continue_undisturbed(service, http, probe, cut_at):
    """Serve cancels what an HTTP request called when its client goes away: the work must not be the request's."""
    request = http.stream(
        "POST", f"{service.url}/locate", files={"image": PHOTO}, headers={"Accept": "text/event-stream"},
        data={"n_parallel": "2", "depth": "deep", "resume_grace_s": "20"},
    )  # fmt: skip
    async with request as response:
        async for line in response.aiter_lines():
            if line == f"event: {cut_at}":
                break
    async with Client(service.url) as client:
        kinds = [event.type async for event in client.events(response.headers["x-request-id"])]
    assert (kinds[0], kinds[-2:]) == ("accepted", ["answer", "done"])
    assert kinds.count("rollout_finished") == 2
    assert "rollout_resumed" not in kinds
    assert await probe.idle_within(3.0)


async def test_a_disconnected_json_request_is_cancelled_too(service, http, probe):
    with pytest.raises(httpx.ReadTimeout):
        await http.post(f"{service.url}/locate", files={"image": PHOTO}, data={"depth": "deep"}, timeout=0.5)
    assert await probe.idle_within(3.0)


async def test_a_cancelled_call_of_mcp_leaves_nothing_running(service, probe):
    messages: asyncio.Queue[str | None] = asyncio.Queue()

    async def progress(done, total, message):
        messages.put_nowait(message)

    async with mcp_client(service.url) as client:
        given = {"upload": await upload_photo(service.url, PHOTO), "n_parallel": 4}
        call = asyncio.create_task(client.call_tool("locate_photo", given, progress_callback=progress))
        await asyncio.wait_for(messages.get(), 20)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert await probe.idle_within(3.0)


async def test_the_deadline_gives_the_best_answer_so_far(service, http, probe):
    started = time.perf_counter()
    found = await locate(http, service.url, PHOTO, n_parallel=4, depth="deep", deadline_s=3)
    assert not found.failure
    assert time.perf_counter() - started < 4.5
    answer = fold(found.events).answer
    assert answer.stop_reason in (StopReason.ANSWERED, StopReason.DEADLINE)


async def test_many_streams_run_at_once_without_a_failure(service, http, probe):
    found = await asyncio.gather(
        *(locate(http, service.url, PHOTO, n_parallel=2, depth="direct", seed=i) for i in range(24))
    )
    assert not [f.failure for f in found if f.failure]
    assert await probe.idle_within(3.0)


async def test_hostile_files_are_answered_or_refused_and_the_service_goes_on(service, http, probe):
    """Every file of the corpus over HTTP: 200 or a problem in words, never a 5xx; afterwards nothing runs.

    The TIFF of 62 million pixels takes 2 s of processor: 65 s where other programs want it, too.
    """
    limit, met = asyncio.Semaphore(4), {}

    async def send(item):
        async with limit, http.stream(
            "POST", f"{service.url}/locate", files={"image": ("../../SECRET.php", item.data, "text/html")},
            data={"n_parallel": "1", "depth": "direct"}, headers={"Accept": "text/event-stream"}, timeout=240,
        ) as reply:  # fmt: skip
            met[item.name] = reply.status_code
            if reply.status_code != 200:
                assert reply.headers["content-type"] == "application/problem+json"
                assert b"SECRET" not in await reply.aread()

    await asyncio.gather(*(send(item) for item in corpus()))
    wrong = {item.name: met[item.name] for item in corpus() if (met[item.name] == 200) != (item.fate == "fine")}
    assert not {name: status for name, status in wrong.items() if status >= 500}
    undecided = {item.name for item in corpus() if item.fate == "either"}
    assert not {name: status for name, status in wrong.items() if name not in undecided}
    assert await probe.idle_within(15.0)
    assert not (await locate(http, service.url, PHOTO, n_parallel=1, depth="direct")).failure
