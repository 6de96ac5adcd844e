"""Remote calls that are cancelled: by whoever waits for them, or behind their back."""

import asyncio

import pytest

from deployments.handles import remote_call, remote_stream
from tts.errors import ReplicaLost


class Call:
    """What a handle returns; `ends` with this error, or never."""

    def __init__(self, ends=None):
        self.ends, self.cancelled = ends, False

    def remote(self):
        return self

    def cancel(self):
        self.cancelled = True

    async def _wait(self):
        if self.ends is None:
            await asyncio.Event().wait()
        raise self.ends

    def __await__(self):
        return self._wait().__await__()

    async def __aiter__(self):
        await self._wait()
        yield


async def drained(call):
    return [item async for item in remote_stream(call)]


@pytest.mark.parametrize("use", [remote_call, drained])
async def test_a_call_that_serve_cancelled_is_a_lost_replica_not_our_own_end(use):
    with pytest.raises(ReplicaLost):
        await use(Call(asyncio.CancelledError()))


@pytest.mark.parametrize("use", [remote_call, drained])
async def test_our_own_cancellation_is_passed_on(use):
    call = Call()
    task = asyncio.create_task(use(call))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert call.cancelled
