"""Every call of the client against a service, as a program of its own: `python client_calls.py URL PHOTO`.

It runs where only `geotts-client` is installed. The last line of its output is one JSON object.
"""

import asyncio
import json
import sys
from contextlib import aclosing
from pathlib import Path

import httpx

from geotts_client import Client, LocateOptions, NotFound, SyncClient

QUICK = LocateOptions(n_parallel=2, depth="deep")
SLOW = LocateOptions(n_parallel=1, depth="deep", hint="take your time")


class CutOnce(httpx.AsyncBaseTransport):
    """The network fails in the middle of the first stream."""

    def __init__(self) -> None:
        self.inner = httpx.AsyncHTTPTransport()
        self.requests = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        reply = await self.inner.handle_async_request(request)
        self.requests += 1
        if self.requests == 1:
            reply.stream = Cut(reply.stream)
        return reply

    async def aclose(self) -> None:
        await self.inner.aclose()


class Cut(httpx.AsyncByteStream):
    def __init__(self, whole) -> None:
        self.whole = whole

    async def __aiter__(self):
        async for piece in self.whole:
            yield piece
            raise httpx.ReadError("the connection is gone")

    async def aclose(self) -> None:
        await self.whole.aclose()


def sync_calls(url: str, photo: bytes) -> dict:
    with SyncClient(url) as client:
        run = client.locate(photo, QUICK)
        assert run.answer is not None
        kinds = [event.type for event in client.stream(photo, QUICK)]
        job = client.submit(photo, SLOW)
        cancelled = client.cancel(job)
        erased = client.cancel(job, erase=True)
        try:
            client.status(job)
            gone = False
        except NotFound:
            gone = True
    return {
        "city": run.answer.city,
        "first_and_last": [kinds[0], kinds[-1]],
        "cancelled": cancelled.was_running,
        "erased": erased.erased and gone,
    }


async def async_calls(url: str, photo: bytes) -> dict:
    transport = CutOnce()
    async with Client(url, transport=transport) as client, aclosing(client.stream(photo, QUICK)) as events:
        seen = [event.seq async for event in events]
    async with Client(url) as client:
        async with aclosing(client.stream(photo, SLOW)) as events:
            async for event in events:
                if event.type == "accepted":
                    request_id = event.request_id
                if event.type == "rollout_started":
                    break  # leaving the stream cancels the request
        run_status = await client.status(request_id, wait_s=10)
        job = await client.submit(photo, QUICK)
        await client.status(job, wait_s=30)
        rest = [event.seq async for event in client.events(job, after=3)]
    return {
        "without_gap": seen == list(range(1, len(seen) + 1)),
        "connections": transport.requests,
        "left": run_status.status,
        "resumed_at": rest[0],
    }


if __name__ == "__main__":
    address, path = sys.argv[1:]
    content = Path(path).read_bytes()
    print(json.dumps({**sync_calls(address, content), **asyncio.run(async_calls(address, content))}))
