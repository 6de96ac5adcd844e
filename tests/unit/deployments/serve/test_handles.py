"""Remote calls that are cancelled, by whoever waits for them or behind their back, and groups that are sent."""

import asyncio

import pytest
from ray.serve._private.common import RequestMetadata
from ray.serve.handle import DeploymentResponse, DeploymentResponseGenerator
from support.basics import a_context

from deployments.serve.handles import PhotoRefs, RemoteRollouts, remote_call, remote_stream
from tts.domain.plan import Limits
from tts.errors import ReplicaLost
from tts.ports.rollout_groups import GroupRequest, RolloutTask


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


async def drain_stream(call):
    return [item async for item in remote_stream(call)]


@pytest.mark.parametrize("use", [remote_call, drain_stream])
async def test_a_call_that_ray_serve_cancelled_raises_replica_lost(use):
    with pytest.raises(ReplicaLost):
        await use(Call(asyncio.CancelledError()))


@pytest.mark.parametrize("use", [remote_call, drain_stream])
async def test_a_cancelled_caller_cancels_its_remote_call(use):
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


@pytest.mark.parametrize(
    ("use", "kind"), [(remote_call, DeploymentResponse), (drain_stream, DeploymentResponseGenerator)]
)
@pytest.mark.parametrize("passes", [0, 1, 2], ids=["in that moment", "a moment later", "long after"])
async def test_a_call_assigned_to_a_replica_during_a_cancellation_is_cancelled_there(use, kind, passes):
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


async def test_a_cancelled_call_without_a_replica_cancels_its_assignment():
    method = Method(DeploymentResponseGenerator)
    task = asyncio.create_task(drain_stream(method))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert method.assigned.cancelled()


class SilentRollouts(Call):
    """A handle of a Rollout deployment that takes groups and never says anything about them."""

    def __init__(self):
        super().__init__()
        self.taken = []
        self.run = self

    def options(self, **_):
        return self

    def remote(self, *args):
        self.taken.append(args)
        return self


async def test_when_sent_is_called_before_the_first_event_of_a_group(sign_photo):
    """Small photos of other requests wait for that (ADR 0014)."""
    handle, when_sent = SilentRollouts(), []
    tasks = (RolloutTask(rollout_id=0, seed=0),)
    group = GroupRequest(
        a_context(), (sign_photo,), tasks, 1, Limits(), when_sent=lambda: when_sent.append(len(handle.taken))
    )
    rollouts = RemoteRollouts(handle, PhotoRefs(), group_size=None, replicas=1)

    async def first_batch():
        await anext(aiter(rollouts.run(group)))

    task = asyncio.create_task(first_batch())
    for _ in range(20):
        await asyncio.sleep(0)
    assert when_sent == [1]
    (request, _), *_ = handle.taken
    assert request.when_sent is None, "it stays in this process"
    assert not task.done()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
