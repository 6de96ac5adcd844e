"""Streams that are taken up again: where they go on, how long they are patient, and what leaving them ends."""

import asyncio
import os
import signal
import sys
from collections.abc import Generator
from contextlib import aclosing

import httpx
import pytest
from support.cutting_network import CuttingTransport
from support.service import PHOTO, SLOW, an_app, idle, serving
from support.sse_frames import sse_frame

from geotts_client.client import Client
from geotts_client.errors import DeadlineExceeded, Overloaded
from geotts_client.events import Accepted, Done
from geotts_client.options import LocateOptions
from geotts_client.sync_client import SyncClient

pytestmark = pytest.mark.slow

OPTIONS = LocateOptions(n_parallel=2)
ACCEPTED = Accepted(seq=1, request_id="loc_1", photos=(), n_parallel=2, depth="auto")
DONE = Done(seq=2, stop_reason="answered")


@pytest.fixture
async def served(data_store):
    async with serving(an_app()) as found:
        yield found


async def collect(events):
    async with aclosing(events):
        return [event async for event in events]


async def test_events_read_after_a_seq_resume_correctly_when_they_are_cut(served):
    url, _ = served
    async with Client(url) as client:
        job = await client.submit(PHOTO, OPTIONS)
        whole = await collect(client.events(job))
        async with Client(url, transport=CuttingTransport([url], cuts=6, seed=1, longest=5)) as cut:
            assert await collect(cut.events(job, after=3)) == whole[3:]


async def test_reading_after_the_last_event_yields_nothing(served):
    url, _ = served
    async with Client(url) as client:
        job = await client.submit(PHOTO, OPTIONS)
        whole = await collect(client.events(job))
        async with asyncio.timeout(10):
            assert await collect(client.events(job, after=whole[-1].seq)) == []


def playing(*replies, **options):
    """A client whose server gives these replies to what is asked, one after the other; and what was asked."""
    asked, remaining = [], list(replies)

    def answer(request):
        asked.append(request)
        return remaining.pop(0) if remaining else httpx.Response(200, json={"request_id": "loc_1", "was_running": True})

    return Client("http://geotts", transport=httpx.MockTransport(answer), **options), asked


def frames(*events):
    content = b"".join(sse_frame(event.seq, event.type, event.json_bytes()) for event in events)
    return httpx.Response(200, content=content, headers={"X-Request-Id": "loc_1"})


def busy(status, retry_after_s):
    return httpx.Response(status, headers={"Retry-After": str(retry_after_s)})


@pytest.mark.parametrize("status", [429, 503])
async def test_a_busy_service_is_asked_again_for_a_stream_that_was_cut(status):
    client, asked = playing(frames(ACCEPTED), busy(status, 0.2), busy(status, 0.2), frames(DONE))
    began = asyncio.get_running_loop().time()
    async with client:
        assert await collect(client.stream(b"photo")) == [ACCEPTED, DONE]
    assert asyncio.get_running_loop().time() - began >= 0.4
    assert [request.method for request in asked] == ["POST", "GET", "GET", "GET"]


async def test_a_service_that_stays_busy_is_an_error_after_the_time_to_resume():
    client, asked = playing(frames(ACCEPTED), *[busy(503, 60)] * 2, resume_s=0.3)
    async with client, asyncio.timeout(5):
        with pytest.raises(Overloaded):
            await collect(client.stream(b"photo"))
    assert [request.method for request in asked] == ["POST", "GET", "GET", "DELETE"]


async def test_a_cut_stream_goes_on_also_where_a_proxy_of_serve_has_added_an_id_of_its_own():
    twice = [("x-request-id", "loc_1"), ("x-request-id", "1df19be1-54e2-4023-81c3-2ce5a24c23aa")]
    replies = [httpx.Response(200, headers=twice, content=frames(event).content) for event in (ACCEPTED, DONE)]
    client, asked = playing(*replies)
    assert await collect(client.stream(PHOTO, OPTIONS)) == [ACCEPTED, DONE]
    assert asked[1].url.path == "/locate/loc_1/events"


async def test_closing_the_client_cancels_the_requests_whose_streams_are_still_read(data_store):
    async with serving(an_app(SLOW)) as (url, gateway):
        async with Client(url) as client:
            events = client.stream(PHOTO, OPTIONS)
            assert (await anext(events)).type == "accepted"
            others = client.events(job := await client.submit(PHOTO, OPTIONS))
            await anext(others)
        await events.aclose()
        await others.aclose()
        async with Client(url) as client:
            assert (await client.status(job)).status == "running"
            await client.cancel(job)
        await idle(gateway)


@pytest.mark.parametrize("call", [
    lambda client: client.submit(b"photo"),
    lambda client: client.status("loc_1", wait_s=60),
    lambda client: client.cancel("loc_1"),
    lambda client: client.file("loc_1", "0" * 64),
])  # fmt: skip
async def test_every_call_has_the_time_limit(call):
    async def never(request):
        await asyncio.sleep(60)

    async with Client("http://geotts", transport=httpx.MockTransport(never), timeout_s=0.1) as client:
        async with asyncio.timeout(5):
            with pytest.raises(DeadlineExceeded):
                await call(client)


async def test_waiting_for_the_end_is_longer_than_silence_may_be():
    client, asked = playing(httpx.Response(200, json={"request_id": "loc_1", "status": "running"}))
    async with client:
        await client.status("loc_1", wait_s=60)
    assert asked[0].extensions["timeout"]["read"] > 60


INTERRUPTED = """
import signal, sys
from pathlib import Path
from geotts_client.sync_client import SyncClient
from geotts_client.options import LocateOptions

signal.signal(signal.SIGINT, signal.default_int_handler)
url, photo, how = sys.argv[1:]
with SyncClient(url) as client:
    work = getattr(client, how)(Path(photo).read_bytes(), LocateOptions(n_parallel=2))
    for event in work:
        pass
"""


@pytest.mark.parametrize("how", ["stream", "locate"])
async def test_an_interrupt_of_the_blocking_client_raises_once_and_cancels_the_work(data_store, tmp_path, how):
    (tmp_path / "photo.jpg").write_bytes(PHOTO)
    async with serving(an_app(SLOW)) as (url, gateway):
        running = await asyncio.create_subprocess_exec(
            sys.executable, "-c", INTERRUPTED, url, str(tmp_path / "photo.jpg"), how, stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )  # fmt: skip
        async with asyncio.timeout(60):
            while not gateway.in_flight:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.5)  # until the reply has begun
            running.send_signal(signal.SIGINT)
            _, stderr = await running.communicate()
        assert stderr.decode().strip().endswith("KeyboardInterrupt")
        assert "RuntimeError" not in stderr.decode()
        assert stderr.count(b"Traceback") <= 2, stderr.decode()
        assert gateway.in_flight == 0


async def test_closing_the_blocking_client_cancels_requests_that_are_still_read(data_store):
    def use(url):
        with SyncClient(url) as client:
            events = client.stream(PHOTO, OPTIONS)
            next(events)
        assert isinstance(events, Generator)
        events.close()

    async with serving(an_app(SLOW)) as (url, gateway):
        await asyncio.to_thread(use, url)
        assert gateway.in_flight == 0
