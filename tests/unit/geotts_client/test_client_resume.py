"""The client over a real socket: cut streams, lost servers, early leaves, and the same without async."""

import asyncio
from contextlib import aclosing

import httpx
import pytest
from support.cutting_network import CuttingTransport
from support.ports import free_port
from support.service import PHOTO, SLOW, an_app, idle, serving

from geotts_client.area import Countries
from geotts_client.client import Client
from geotts_client.errors import DeadlineExceeded, NotFound, RequestError, ServerUnreachable
from geotts_client.options import LocateOptions
from geotts_client.sync_client import SyncClient
from geotts_client.trajectory import fold

pytestmark = pytest.mark.slow

OPTIONS = LocateOptions(n_parallel=2)


@pytest.fixture
async def served(data_store):
    async with serving(an_app()) as found:
        yield found


@pytest.fixture
async def slow(data_store):
    async with serving(an_app(SLOW)) as found:
        yield found


async def collect(events):
    async with aclosing(events):
        return [event async for event in events]


async def test_a_stream_that_is_cut_again_and_again_comes_whole(served):
    url, _ = served
    wire = CuttingTransport([url], cuts=6, seed=1, longest=600)
    async with Client(url, transport=wire) as client:
        events = await collect(client.stream(PHOTO, OPTIONS))
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        assert wire.cuts_left == 0
        assert await collect(client.events(fold(events).accepted.request_id)) == events


async def test_closing_a_stream_early_cancels_the_request_on_the_server(slow):
    url, gateway = slow
    async with Client(url) as client:
        async with aclosing(client.stream(PHOTO, OPTIONS)) as events:
            async for event in events:
                if event.type == "text":
                    break
        await idle(gateway)
        assert (await client.status(event_id(gateway))).status == "cancelled"


def event_id(gateway):
    return next(iter(gateway.store._logs))


async def test_a_cancelled_task_cancels_on_the_server(slow):
    url, gateway = slow
    begun = asyncio.Event()

    async def read():
        async with aclosing(client.stream(PHOTO, OPTIONS)) as events:
            async for event in events:
                if event.type == "text":
                    begun.set()

    async with Client(url) as client:
        task = asyncio.create_task(read())
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    await idle(gateway)


async def test_a_whole_request_has_a_time_limit(slow):
    url, gateway = slow
    async with Client(url, timeout_s=4.0) as client:
        with pytest.raises(DeadlineExceeded):
            await client.locate(PHOTO, OPTIONS)
    await idle(gateway)


async def test_a_missing_server_is_reported_soon():
    async with Client(f"http://127.0.0.1:{free_port()}") as client:
        with pytest.raises(ServerUnreachable):
            await client.locate(PHOTO)


async def test_the_next_address_of_a_service_is_asked_when_one_is_gone(served):
    url, gateway = served
    gone = f"http://127.0.0.1:{free_port()}"
    async with Client(f"{gone}, {url}/") as client:
        events = await collect(client.stream(PHOTO, OPTIONS))
        assert fold(events).answer is not None
        assert await collect(client.events(events[0].request_id)) == events
    await idle(gateway)
    async with Client(f"{gone},http://127.0.0.1:{free_port()}") as client:
        with pytest.raises(ServerUnreachable):
            await client.locate(PHOTO)


async def test_a_stream_that_is_cut_goes_on_at_the_next_address(served):
    url, _ = served
    wire = CuttingTransport([url], cuts=3, seed=2, longest=600)
    first, hosts = url.replace("127.0.0.1", "localhost"), []

    class Watched(httpx.AsyncBaseTransport):
        """The first address is lost after its first reply."""

        async def handle_async_request(self, request):
            hosts.append(request.headers["host"])
            if len(hosts) > 1 and hosts[-1].startswith("localhost"):
                raise httpx.ConnectError("gone")
            return await wire.handle_async_request(request)

        async def aclose(self):
            await wire.aclose()

    async with Client(f"{first},{url}", transport=Watched()) as client:
        events = await collect(client.stream(PHOTO, OPTIONS))
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert events[-1].type == "done"
    assert hosts[0].startswith("localhost")
    assert hosts[-1].startswith("127.0.0.1")


async def test_a_request_that_was_lost_on_the_way_is_sent_again_and_runs_once(served):
    url, gateway = served
    inner = httpx.AsyncHTTPTransport()
    keys = []

    class Losing(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request):
            reply = await inner.handle_async_request(request)
            keys.append(request.headers.get("idempotency-key"))
            if len(keys) == 1:
                await reply.aclose()
                raise httpx.ReadError("the reply was lost")
            return reply

    async with Client(url, transport=Losing()) as client:
        run = await client.locate(PHOTO, OPTIONS)
    assert run.answer is not None
    assert len(keys) == 2
    assert keys[0] == keys[1] is not None
    assert len(gateway.store._logs) == 1
    await inner.aclose()


async def test_a_submitted_request_is_awaited_read_and_erased_by_its_id(served):
    url, _ = served
    async with Client(url) as client:
        one, two = [await client.submit(PHOTO, OPTIONS, key="k") for _ in range(2)]
        assert one == two
        done = await client.status(one, wait_s=20)
        assert done.status == "done"
        picture = await client.file(one, done.answer.provenance.photo_sha256[0])
        assert picture.startswith(b"\xff\xd8")
        assert (await client.cancel(one, erase=True)).erased
        with pytest.raises(NotFound):
            await client.status(one)


async def test_the_within_option_reaches_the_service(served):
    url, _ = served
    async with Client(url) as client:
        run = await client.locate(PHOTO, LocateOptions(n_parallel=1, within=Countries(codes=("FR", "CH"))))
    assert run.answer.country_code == "FR"


async def test_a_refused_photo_raises_a_request_error_with_the_reason(served):
    url, _ = served
    async with Client(url) as client:
        with pytest.raises(RequestError, match="picture"):
            await client.locate(b"nonsense")


async def test_the_blocking_client_locates_streams_and_submits(served):
    url, gateway = served

    def use():
        with SyncClient(url) as client:
            run = client.locate([PHOTO, PHOTO], OPTIONS)
            events = list(client.stream(PHOTO, OPTIONS))
            job = client.submit(PHOTO, OPTIONS)
            status = client.status(job, wait_s=20)
            for event in client.stream(PHOTO, LocateOptions(n_parallel=1, seed=9)):
                if event.type == "accepted":
                    break
            return run, fold(events), status

    run, streamed, status = await asyncio.to_thread(use)
    assert len(run.accepted.photos) == 2
    assert streamed.answer is not None
    assert status.status == "done"
    await idle(gateway)


class FailingProxy(httpx.AsyncHTTPTransport):
    """A proxy before the service: its first replies are its own errors, without a problem document."""

    def __init__(self, statuses):
        super().__init__()
        self.statuses = list(statuses)

    async def handle_async_request(self, request):
        if self.statuses:
            return httpx.Response(self.statuses.pop(0), text="Internal Server Error")
        return await super().handle_async_request(request)


async def test_a_request_that_a_proxy_fails_is_sent_again(served):
    url, _ = served
    async with Client(url, transport=FailingProxy([500, 502])) as client:
        assert (await collect(client.stream(PHOTO, OPTIONS)))[-1].type == "done"


async def test_a_proxy_that_fails_again_and_again_is_named_in_the_error(served):
    url, _ = served
    async with Client(url, transport=FailingProxy([500] * 100)) as client:
        with pytest.raises(ServerUnreachable, match="a proxy answered 500"):
            await collect(client.stream(PHOTO, OPTIONS))
