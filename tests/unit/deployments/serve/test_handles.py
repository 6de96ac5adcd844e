"""Remote calls that are cancelled: by whoever waits for them, or behind their back."""

import asyncio

import pytest
from ray.serve._private.common import RequestMetadata
from ray.serve.handle import DeploymentResponse, DeploymentResponseGenerator

from deployments.serve.handles import remote_call, remote_stream
from tts.errors import ReplicaLost


class Call:
    """What a handle returns; `ends` with this error, or never."""

    def __init__(self, ends=None):
        self.ends = ends
        self.cancelled = False

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


class Assigned:
    """The other side of a call, at work until it is cancelled."""

    cancelled = False

    def cancel(self):
        self.cancelled = True

    async def get_async(self):
        await asyncio.Event().wait()

    __anext__ = get_async


class Method:
    """A method of a handle whose router shares the loop, as in throughput-optimized mode."""

    def __init__(self, kind):
        self.assigned = asyncio.get_running_loop().create_future()
        self.response = kind(self.assigned, RequestMetadata("request", "call"), False)

    def remote(self):
        return self.response


@pytest.mark.parametrize(("use", "kind"), [(remote_call, DeploymentResponse), (drained, DeploymentResponseGenerator)])
@pytest.mark.parametrize("passes", [0, 1, 2], ids=["in that moment", "a moment later", "long after"])
async def test_a_call_that_finds_its_replica_while_we_are_cancelled_is_cancelled_there(use, kind, passes):
    method, other = Method(kind), Assigned()
    task = asyncio.create_task(use(method))
    await asyncio.sleep(0)
    method.assigned.set_result(other)
    for _ in range(passes):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert other.cancelled


async def test_a_call_that_found_no_replica_yet_is_given_up():
    method = Method(DeploymentResponseGenerator)
    task = asyncio.create_task(drained(method))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert method.assigned.cancelled()
