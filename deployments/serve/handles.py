"""Serve handles as ports. Every remote call in the project goes through the functions here.

A Serve response stream has no `aclose()`, and leaving its loop does not stop the other side; so `remote_stream` cancels
in `finally`, always, and `remote_call` cancels when it is cancelled itself. Errors are mapped once: errors of GeoTTS
are raised unchanged, a full queue is `Overloaded`, a dead replica is `ReplicaLost`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import ray
from ray import serve
from ray.exceptions import RayActorError, RayError, RayTaskError
from ray.serve.exceptions import BackPressureError, DeploymentUnavailableError, RayServeException
from ray.serve.handle import DeploymentHandle

from deployments.seam.ray import cancel
from deployments.serve import lost_replica
from deployments.serve.envelope import unseal
from deployments.serve.lost_replica import first_reply, streamed_items
from deployments.serve.replica_for_group import GroupPlacing
from deployments.serve.request_router import session_of
from tts.aio import closing
from tts.domain.photo import Box, Photo
from tts.domain.reading import Reading
from tts.domain.request import RequestContext
from tts.domain.tooling import ToolCall
from tts.errors import GeoTTSError, ModelError, Overloaded, ReplicaLost, ToolError, ToolErrorKind
from tts.ports.locator import Routing
from tts.ports.model_client import Delta, ModelRequest
from tts.ports.rollout_groups import GroupRequest, RolloutItem
from tts.ports.toolbox import Toolbox, ToolContext, ToolOutcome, ToolSchema
from tts.ports.verification import VerifierItem, VerifyRequest
from tts.rollout.group_failover import run_with_failover
from tts.toolkit.toolbox import JoinedToolbox, failure_outcome

_MAX_VERIFIERS = 3  # that are tried one after the other
_INLINE_BYTES = 128 * 1024  # up to here a copy in the message is quicker than putting, finding and fetching


async def remote_call(method: Any, *args: Any) -> Any:
    """Await one handle call; cancels it when the caller is cancelled."""
    response = method.remote(*args)
    try:
        return await response
    except asyncio.CancelledError:
        cancel(response)
        if _is_task_cancelled():
            raise
        raise ReplicaLost("a call was cancelled on its way") from None
    except (RayError, RayServeException) as error:
        raise _as_geotts_error(error) from error


async def remote_stream(method: Any, *args: Any) -> AsyncIterator[Any]:
    """Iterate over a streaming handle call; whatever ends the iteration also ends the other side. ReplicaLost when
    nothing comes for a while.
    """
    response = method.remote(*args)
    try:
        async with closing(streamed_items(response)) as items:
            async for item in items:
                yield item
    except asyncio.CancelledError:
        if _is_task_cancelled():
            raise
        raise ReplicaLost("a call was cancelled on its way") from None
    except (RayError, RayServeException) as error:
        raise _as_geotts_error(error) from error
    finally:
        cancel(response)


def remote_batches(request_id: str, method: Any, *args: Any) -> AsyncIterator[Sequence[Any]]:
    """Iterate over the batches of a streaming handle call that yields envelopes; what left there for the request is
    recorded here."""
    return unseal(remote_stream(method, *args), request_id)


async def _remote_items(request_id: str, method: Any, *args: Any) -> AsyncIterator[Any]:
    """Iterate over what the batches of such a call contain. Closing it aborts the call."""
    async with closing(remote_batches(request_id, method, *args)) as batches:
        async for batch in batches:
            for item in batch:
                yield item


async def remote_all(handle: DeploymentHandle[Any], method: str, *args: Any, within_s: float) -> list[Any]:
    """Call every running replica of a deployment; their results in no order. Not for the way of a request: no queue
    bounds it.

    Raises:
        GeoTTSError: any of them failed; `Overloaded` when one did not answer in time.
    """
    try:
        results: list[Any] = await handle.broadcast(method, *args).results_async(timeout_s=within_s)
    except TimeoutError:
        raise Overloaded(f"a replica did not answer within {within_s:g} s") from None
    except (RayError, RayServeException) as error:
        raise _as_geotts_error(error) from error
    return results


def _is_task_cancelled() -> bool:
    """Whether this task was cancelled, and not just the call that it awaits."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def _as_geotts_error(error: Exception) -> GeoTTSError:
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
    """Photos on their way to other processes: small ones as they are, others once through the object store.

    A reference is passed on nested in a list (ADR 0002) and is gone with its photo.
    """

    def __init__(self) -> None:
        self._refs: WeakKeyDictionary[Photo, Any] = WeakKeyDictionary()

    def refs_of(self, photos: Sequence[Photo]) -> list[Any]:
        """In the same order: the photo itself up to 128 KiB, an object reference above that."""
        return [photo if len(photo.data) <= _INLINE_BYTES else self._ref_of(photo) for photo in photos]

    def _ref_of(self, photo: Photo) -> Any:
        ref = self._refs.get(photo)
        if ref is None:
            ref = self._refs[photo] = ray.put(photo)
        return ref

    async def fetch(self, photos_or_refs: Sequence[Any]) -> tuple[Photo, ...]:
        """The photos again. References are remembered, so that photos are passed on without another copy."""
        return tuple(
            [photo if isinstance(photo, Photo) else await self._fetch_photo(photo) for photo in photos_or_refs]
        )

    async def _fetch_photo(self, ref: Any) -> Photo:
        photo: Photo = await ref
        self._refs[photo] = ref
        return photo


class RemotePerception:
    """`Perception` in the Locatability deployment, where the recognisers live."""

    def __init__(self, handle: DeploymentHandle[Any], refs: PhotoRefs) -> None:
        self._read = handle.read
        self._refs = refs

    async def read(self, photo: Photo, box: Box | None, context: RequestContext, language: str = "") -> Reading:
        """One call for one photo; the reader's errors come back as they were raised."""
        reading: Reading = await remote_call(self._read, self._refs.refs_of([photo]), box, context, language)
        return reading


class RemoteLocator:
    """`Locator` in the Locatability deployment."""

    def __init__(self, handle: DeploymentHandle[Any], refs: PhotoRefs) -> None:
        self._rate = handle.rate
        self._refs = refs

    async def rate(self, photos: Sequence[Photo], context: RequestContext) -> Routing:
        """One call for all photos."""
        routing: Routing = await remote_call(self._rate, self._refs.refs_of(photos), context)
        return routing


class RemoteModel:
    """`ModelClient` over the engine of the Rollout deployment, on whichever replica is free."""

    name = "rollout"

    def __init__(self, handle: DeploymentHandle[Any], refs: PhotoRefs) -> None:
        self._generate = handle.options(stream=True).generate
        self._refs = refs

    def generate(self, request: ModelRequest) -> AsyncIterator[Delta]:
        """The deltas one by one; they come in batches. Closing it aborts the generation at the replica."""
        without_photos = replace(request, photos=())
        return _remote_items(request.context.id, self._generate, without_photos, self._refs.refs_of(request.photos))


class RemoteRollouts:
    """`Rollouts` on the Rollout deployment: one streaming call a group, moved when its replica or engine dies."""

    def __init__(
        self,
        handle: DeploymentHandle[Any],
        refs: PhotoRefs,
        *,
        group_size: int | None,
        replicas: int,
        by_photo: bool = False,
        whole: bool = False,
    ) -> None:
        """Args:
        handle: the Rollout deployment.
        refs: photos on their way.
        group_size: rollouts in a group at most, by configuration.
        replicas: how many there may be.
        by_photo: whether calls about one photo meet.
        whole: whether rollouts of a request stay together while nothing is known of the room of their engines.
        """
        self._handle = handle.options(stream=True)
        self._refs = refs
        self._group_size = group_size
        self._replicas = replicas
        self._routes_by_photo = by_photo
        self._keeps_requests_whole = whole
        self._group_placing = GroupPlacing(most=group_size, by_photo=by_photo)

    def group_size(self, group: GroupRequest) -> int:
        """By the room of the engines where they tell it. Else the configured size, all, or an equal share for each
        replica, rounded up.
        """
        n = len(group.tasks)
        if (size := self._group_placing.size(group)) is not None:
            return size
        return self._group_size or (n if self._keeps_requests_whole else -(-n // self._replicas))

    def run(self, group: GroupRequest) -> AsyncIterator[Sequence[RolloutItem]]:
        """Batches of the group; rollouts of a lost replica or engine go on from their checkpoints."""
        return run_with_failover(group, self._run_once)

    async def _run_once(self, group: GroupRequest) -> AsyncIterator[Sequence[RolloutItem]]:
        if group.may_begin is not None:
            await group.may_begin()
        with self._group_placing.place(group) as placed:
            session = session_of(group.photos[0].sha256 if self._routes_by_photo else "", placed.replica)
            handle = self._handle.options(session_id=session) if session else self._handle
            without_photos = replace(group, photos=(), kv_tokens=placed.tokens, may_begin=None, when_sent=None)
            seen = self._group_placing.expected.follow(len(group.photos))
            photos = self._refs.refs_of(group.photos)
            async with closing(remote_batches(group.context.id, handle.run, without_photos, photos)) as batches:
                if group.when_sent is not None:
                    asyncio.get_running_loop().call_soon(group.when_sent)  # the next line sends it, without a pause
                async for batch in batches:
                    seen.observe(batch)
                    yield batch


class RemoteVerifier:
    """`Verifier` in the Verifier deployment."""

    def __init__(self, handle: DeploymentHandle[Any], refs: PhotoRefs) -> None:
        self._verify = handle.options(stream=True).verify
        self._refs = refs

    async def verify(self, request: VerifyRequest) -> AsyncIterator[VerifierItem]:
        """The items one by one; they come in batches. Closing it stops the verifier at the replica. A replica that is
        lost before it said anything is replaced by another one.
        """
        for attempt in range(_MAX_VERIFIERS):
            silent = True
            try:
                async with closing(self._verify_once(request)) as items:
                    async for item in items:
                        silent = False
                        yield item
                return
            except ReplicaLost:
                if not silent or attempt + 1 == _MAX_VERIFIERS:
                    raise

    def _verify_once(self, request: VerifyRequest) -> AsyncIterator[VerifierItem]:
        without_photos = replace(request, photos=())
        return _remote_items(request.context.id, self._verify, without_photos, self._refs.refs_of(request.photos))


class RemoteToolbox:
    """`Toolbox` in the Tools deployment. A broker that cannot be reached is a tool error, not a crash. Photos go there
    for the tools only that send parts of them on, and for requests only that consent to it.
    """

    def __init__(
        self, handle: DeploymentHandle[Any], schemas: tuple[ToolSchema, ...], refs: PhotoRefs, *, may_send: bool
    ) -> None:
        """Args:
        handle: the Tools deployment.
        schemas: its tools.
        refs: photos on their way.
        may_send: whether a tool may call another machine. Then a call is a stream, which reports the egress at once.
        """
        self._call = handle.call
        self._call_reporting = handle.options(stream=True).call_reporting if may_send else None
        self._schemas = schemas
        self._refs = refs
        self._photo_tools = frozenset(schema.name for schema in schemas if schema.sends_photo)
        self._repeatable_tools = frozenset(schema.name for schema in schemas if schema.repeatable)

    def schemas(self) -> tuple[ToolSchema, ...]:
        """The schemas that this was made with: the broker is not asked."""
        return self._schemas

    async def call(self, call: ToolCall, context: ToolContext) -> ToolOutcome:
        """Call the broker; a result with the failure UNAVAILABLE when it is lost or its queue is full."""
        try:
            bare = replace(context, photos=(), photo_sha256=context.photo_hashes())
            pixels = call.name in self._photo_tools and context.options.allow_region_search
            photos = self._refs.refs_of(context.photos) if pixels else []
            calling = partial(self._call_once, call, bare, photos)
            return await (
                first_reply(calling, self._longest_silence_s) if call.name in self._repeatable_tools else calling()
            )
        except (ReplicaLost, Overloaded) as error:
            return failure_outcome(
                call, ToolError(f"tools are unavailable: {error.detail}", kind=ToolErrorKind.UNAVAILABLE)
            )

    @property
    def _longest_silence_s(self) -> float | None:
        """A stream has a heartbeat, and reports a silent replica as lost."""
        return lost_replica.SILENT_S if self._call_reporting is None else None

    async def _call_once(self, call: ToolCall, context: ToolContext, photos: list[Any]) -> ToolOutcome:
        if self._call_reporting is None:
            outcome: ToolOutcome = await remote_call(self._call, call, context, photos)
            return outcome
        items = _remote_items(context.request.id, self._call_reporting, call, context, photos)
        async with closing(items) as outcomes:
            (outcome,) = [outcome async for outcome in outcomes]
        return outcome


class JoinedTools:
    """Fast tools of this process and the other tools of the broker, combined when the broker first lists its tools."""

    def __init__(self, local: Toolbox, broker: DeploymentHandle[Any], refs: PhotoRefs, *, may_send: bool) -> None:
        self._local = local
        self._may_send = may_send
        self._broker = broker
        self._refs = refs
        self._joined_toolbox: JoinedToolbox | None = None

    async def __call__(self) -> Toolbox:
        """The joined toolbox. The first call asks the broker, and raises GeoTTSError when it cannot be asked."""
        if self._joined_toolbox is None:
            schemas: tuple[ToolSchema, ...] = await remote_call(self._broker.schemas)
            remote = RemoteToolbox(self._broker, schemas, self._refs, may_send=self._may_send)
            self._joined_toolbox = JoinedToolbox(self._local, remote)
        return self._joined_toolbox
