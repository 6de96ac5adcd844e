import asyncio

import httpx
import pytest

from tts.api.client import Client
from tts.api.sse_frame import sse_frame
from tts.domain.answer import StopReason
from tts.domain.events import Done, Failed
from tts.domain.request import LocateOptions
from tts.errors import Overloaded
from tts.eval.runs.solvers import RemoteSolver

OPTIONS = LocateOptions(n_parallel=2, seed=3)


def server(*replies):
    """A client whose server gives these replies in turn, and the requests it saw."""
    seen, queue = [], list(replies)

    def answer(request):
        seen.append(request)
        return queue.pop(0)

    return RemoteSolver(Client("http://127.0.0.1:1", transport=httpx.MockTransport(answer))), seen


def stream(*events):
    frames = [sse_frame(i, e.type, e.json_bytes()) for i, e in enumerate(events, 1)]
    return httpx.Response(200, content=b"".join(frames))


async def test_a_server_is_sent_photo_and_options_and_its_stream_is_folded():
    solver, seen = server(stream(Failed(seq=1, code="x", status=500, detail="no"), Done(seq=2, stop_reason="failed")))
    run = await solver("s_1", b"the photo", OPTIONS)
    assert run.stop_reason is StopReason.FAILED
    assert run.failure.detail == "no"
    assert b"the photo" in seen[0].read()


async def test_a_busy_server_is_asked_again_and_not_for_ever(monkeypatch):
    pauses = []

    async def sleep(seconds):
        pauses.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    busy = httpx.Response(503, headers={"Retry-After": "2"})
    solver, seen = server(busy, busy, stream(Done(seq=1, stop_reason="answered")))
    await solver("s_1", b"p", OPTIONS)
    assert (len(seen), pauses) == (3, [2.0, 4.0])
    solver, seen = server(*[httpx.Response(429)] * 5)
    with pytest.raises(Overloaded):
        await solver("s_1", b"p", OPTIONS)
    assert len(seen) == 5
