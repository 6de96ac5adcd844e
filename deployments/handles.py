"""Serve handles as ports. Every remote call in the project goes through the two functions here.

A Serve response stream has no `aclose()`, and leaving its loop does not stop the other side; so `remote_stream` cancels
in `finally`, always, and `remote_call` cancels when it is cancelled itself. Errors are mapped once: ours come back
as they were raised, a full queue is `Overloaded`, a dead replica is `ReplicaLost`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import ray
from ray import serve
from ray.exceptions import RayActorError, RayError, RayTaskError
from ray.serve.exceptions import BackPressureError, DeploymentUnavailableError, RayServeException
from ray.serve.handle import DeploymentHandle

from tts.aio import closing
from tts.domain.answer import StopReason, Verdict
from tts.domain.events import RolloutFinished
from tts.domain.photo import Box, Photo
from tts.domain.reading import Reading
from tts.domain.request import RequestContext
from tts.domain.tooling import ToolCall
from tts.errors import GeoTTSError, ModelError, Overloaded, ToolError, ToolErrorKind
from tts.ports import (
    GroupRequest,
    RolloutItem,
    Routing,
    ToolContext,
    ToolOutcome,
    ToolSchema,
    VerdictText,
    VerifyRequest,
)
from tts.toolkit.toolbox import failed


class ReplicaLost(ModelError):
    """The replica that ran the call died or was never there."""

    code = "replica-lost"


async def remote_call(method: Any, *args: Any) -> Any:
    """Await one handle call; cancels it when the caller is cancelled."""
    response = method.remote(*args)
    try:
        return await response
    except asyncio.CancelledError:
        response.cancel()
        raise
    except (RayError, RayServeException) as error:
        raise _mapped(error) from error


async def remote_stream(method: Any, *args: Any) -> AsyncIterator[Any]:
    """Iterate over a streaming handle call; whatever ends the iteration also ends the other side."""
    response = method.remote(*args)
    try:
        async for item in response:
            yield item
    except (RayError, RayServeException) as error:
        raise _mapped(error) from error
    finally:
        response.cancel()


def _mapped(error: Exception) -> GeoTTSError:
    if isinstance(error, GeoTTSError):
        return error
    if isinstance(error, RayTaskError) and isinstance(error.cause, GeoTTSError):
        return error.cause
    if isinstance(error, BackPressureError):
        return Overloaded("the queue of a deployment is full")
    if isinstance(error, RayActorError | DeploymentUnavailableError):
        return ReplicaLost("a replica was lost")
    return ModelError(f"a deployment failed: {type(error).__name__}")


def replica_name() -> str:
    """Unique name of the replica this runs in."""
    return str(serve.get_replica_context().replica_id.unique_id)


def live_nodes() -> int:
    """How many machines the cluster has now."""
    nodes = ray.nodes()  # type: ignore[no-untyped-call]
    return sum(bool(node["Alive"]) for node in nodes)


class PhotoRefs:
    """Photos in the object store: put once, passed on by reference nested in a list (ADR 0002), gone with the photo."""

    def __init__(self) -> None:
        self._refs: WeakKeyDictionary[Photo, Any] = WeakKeyDictionary()

    def of(self, photos: Sequence[Photo]) -> list[Any]:
        refs = []
        for photo in photos:
            ref = self._refs.get(photo)
            if ref is None:
                ref = self._refs[photo] = ray.put(photo)
            refs.append(ref)
        return refs

    async def fetch(self, refs: Sequence[Any]) -> tuple[Photo, ...]:
        """The photos behind the references, remembered so that they are passed on without another copy."""
        photos = tuple(await asyncio.gather(*refs))
        for photo, ref in zip(photos, refs, strict=True):
            self._refs[photo] = ref
        return photos


class RemotePerception:
    """`Perception` in the Locatability deployment, where the recognisers live."""

    def __init__(self, handle: DeploymentHandle[Any], refs: PhotoRefs) -> None:
        self._read, self._refs = handle.read, refs

    async def read(self, photo: Photo, box: Box | None, context: RequestContext) -> Reading:
        reading: Reading = await remote_call(self._read, self._refs.of([photo]), box, context)
        return reading


class RemoteLocator:
    def __init__(self, handle: DeploymentHandle[Any], refs: PhotoRefs) -> None:
        self._rate, self._refs = handle.rate, refs

    async def rate(self, photos: Sequence[Photo], context: RequestContext) -> Routing:
        routing: Routing = await remote_call(self._rate, self._refs.of(photos), context)
        return routing


class RemoteRollouts:
    """`Rollouts` on the Rollout deployment: one streaming call a group."""

    def __init__(
        self, handle: DeploymentHandle[Any], refs: PhotoRefs, *, group_size: int | None, replicas: int
    ) -> None:
        self._run = handle.options(stream=True).run
        self._refs, self._group_size, self._replicas = refs, group_size, replicas

    def group_size(self, n: int) -> int:
        return self._group_size or -(-n // self._replicas)

    async def run(self, group: GroupRequest) -> AsyncIterator[Sequence[RolloutItem]]:
        """A lost replica or a full queue ends the unfinished rollouts of this group, not the request."""
        open_ids = {task.rollout_id for task in group.tasks}
        try:
            stream = remote_stream(self._run, replace(group, photos=()), self._refs.of(group.photos))
            async with closing(stream) as batches:
                async for batch in batches:
                    open_ids -= {item.rollout_id for item in batch if isinstance(item, RolloutFinished)}
                    yield batch
        except GeoTTSError as error:
            reason = f"{error.code}: {error.detail}"
            yield [RolloutFinished(rollout_id=i, stop_reason=StopReason.FAILED, error=reason) for i in sorted(open_ids)]


class RemoteVerifier:
    def __init__(self, handle: DeploymentHandle[Any], refs: PhotoRefs) -> None:
        self._verify, self._refs = handle.options(stream=True).verify, refs

    async def verify(self, request: VerifyRequest) -> AsyncIterator[VerdictText | Verdict]:
        async with closing(
            remote_stream(self._verify, replace(request, photos=()), self._refs.of(request.photos))
        ) as pieces:
            async for piece in pieces:
                yield piece


class RemoteToolbox:
    """`Toolbox` in the Tools deployment. A broker that cannot be reached is a tool error, not a crash."""

    def __init__(self, handle: DeploymentHandle[Any], schemas: tuple[ToolSchema, ...]) -> None:
        self._call, self._schemas = handle.call, schemas

    def schemas(self) -> tuple[ToolSchema, ...]:
        return self._schemas

    async def call(self, call: ToolCall, context: ToolContext) -> ToolOutcome:
        try:
            bare = replace(context, photos=(), photo_sha256=context.photo_hashes())
            outcome: ToolOutcome = await remote_call(self._call, call, bare)
        except (ReplicaLost, Overloaded) as error:
            return failed(call, ToolError(f"tools are unavailable: {error.detail}", kind=ToolErrorKind.UNAVAILABLE))
        return outcome
