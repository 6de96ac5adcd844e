"""The deployments behind the gateway, as plain classes: Locatability, Rollout, Tools, Verifier.

Nothing here knows that it is served; `deployments.app` wraps each with `serve.deployment`. Photos arrive as object
references nested in a list and are fetched once. Replicas keep nothing between requests but caches.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

from ray.serve.handle import DeploymentHandle

from deployments.config import AppArgs
from deployments.endpoints.watch import EndpointWatch
from deployments.serve.engine_rooms import report_of
from deployments.serve.envelope import seal
from deployments.serve.handles import (
    JoinedTools,
    PhotoRefs,
    RemoteModel,
    RemotePerception,
    live_nodes,
    remote_call,
    replica_name,
)
from deployments.serve.lost_replica import LastSent
from deployments.serve.operator_settings import OperatedReplica
from deployments.serve.replica_load import ReplicaLoad
from deployments.serve.replica_start import prepare_replica
from deployments.serve.scaling import generations_of, load_of
from deployments.wiring.brokers import LocalBrokers
from deployments.wiring.parts import (
    make_agent_model,
    make_local_toolbox,
    make_locator,
    make_verifier,
)
from deployments.wiring.rollouts import make_rollouts
from deployments.wiring.toolbox_assembly import apply_tape, make_tooling, refuse_file_across_nodes
from tts.aio import closing, coalesce
from tts.domain.photo import Box
from tts.domain.reading import Reading
from tts.domain.request import RequestContext
from tts.domain.tooling import ToolCall
from tts.perception.local_perception import LocalPerception
from tts.ports.engine_offers import EngineHealth
from tts.ports.locator import Routing
from tts.ports.model_client import ModelRequest
from tts.ports.rollout_groups import GroupRequest
from tts.ports.toolbox import ToolContext, ToolOutcome, ToolSchema
from tts.ports.verification import VerifyRequest
from tts.telemetry import span
from tts.toolkit.toolbox import LocalToolbox


class Locatability:
    """Rates photos, and reads signs for everyone else: the only process that loads the recognisers."""

    def __init__(self, args: AppArgs) -> None:
        prepare_replica(args, "locatability")
        self._refs = PhotoRefs()
        self._perception = LocalPerception()
        self._locator = make_locator(args, self._perception)

    async def ready(self) -> bool:
        """Answers when a request would be served."""
        return True

    async def rate(self, photo_refs: Sequence[Any], context: RequestContext) -> Routing:
        """Rate the photos of a request, in a span of its trace."""
        with span("locatability", parent=context.trace):
            return await self._locator.rate(await self._refs.fetch(photo_refs), context)

    async def read(
        self, photo_refs: Sequence[Any], box: Box | None, context: RequestContext, language: str = ""
    ) -> Reading:
        """Read the one photo in `photo_refs`, in a span of its trace."""
        with span("read", parent=context.trace):
            (photo,) = await self._refs.fetch(photo_refs)
            return await self._perception.read(photo, box, context, language)


class Rollout(OperatedReplica):
    """Runs groups of rollouts beside their engine. Cheap tools run here, the others in the broker."""

    def __init__(self, args: AppArgs, locatability: DeploymentHandle[Any], tools: DeploymentHandle[Any]) -> None:
        prepare_replica(args, "rollout")
        self._coalesce_s = args.coalesce_s
        self._refs = PhotoRefs()
        self._model = make_agent_model(args)
        self._args = args
        self._endpoints = EndpointWatch(args)
        local = make_local_toolbox(RemotePerception(locatability, self._refs), args)
        toolbox = JoinedTools(local, tools, self._refs, may_send=args.tools.may_send)
        self._rollouts = make_rollouts(self._model, toolbox, args)
        self._tools = tools
        self._load = ReplicaLoad()

    async def run(self, group: GroupRequest, photo_refs: Sequence[Any]) -> AsyncIterator[bytes]:
        """Run a group beside the engine; its items come in envelopes. All its rollouts count as in flight until the
        stream ends.

        A group whose request has its prompt in the cache of another replica only has a leader of its own here.
        """
        self._endpoints.start()
        photos = await self._refs.fetch(photo_refs)
        warm = group.warm and self._load.has_read(group.context.id)
        last_sent = LastSent()
        with self._load.running(group) as running:
            ours = replace(group, photos=photos, warm=warm, may_begin=last_sent.may_begin)
            async with closing(seal(self._rollouts.run(ours), group.context.id, last_sent)) as envelopes:
                async for envelope in envelopes:
                    running.observe(envelope.items)
                    yield envelope.to_bytes()

    async def ready(self) -> bool:
        """Answers when a request would be served, the broker included."""
        await remote_call(self._tools.schemas)
        return True

    async def generate(self, request: ModelRequest, photo_refs: Sequence[Any]) -> AsyncIterator[bytes]:
        """The engine of this replica for somebody else, the verifier model; its deltas come in envelopes."""
        photos = await self._refs.fetch(photo_refs)
        deltas = self._model.generate(replace(request, photos=photos))
        batched = coalesce(deltas, window_s=self._coalesce_s, urgent=lambda delta: delta.is_aside)
        self._load.generations += 1
        try:
            async with closing(seal(batched, request.context.id)) as envelopes:
                async for envelope in envelopes:
                    yield envelope.to_bytes()
        finally:
            self._load.generations -= 1

    async def running(self) -> tuple[str, int]:
        """This replica's name, and rollouts in flight on it, or generations where its engine counts more of them."""
        return replica_name(), max(self._load.rollouts, generations_of(self._rollouts.engines) or 0)

    async def check_health(self) -> None:
        """Called by Serve. Raises FatalError when an engine is gone, and the replica is replaced."""
        for engine in self._rollouts.engines:
            if isinstance(engine, EngineHealth):
                await engine.check_health()

    async def record_autoscaling_stats(self) -> dict[str, float]:
        """Called by Serve: what `deployments.serve.scaling` decides by."""
        return load_of(self._rollouts.engines, self._load.rollouts)

    async def record_routing_stats(self) -> dict[str, int]:
        """Called by Serve: the room of the engine. Several engines in one replica have no common one."""
        if self._args.engines:
            return {}
        load = self._load
        return report_of(
            self._model, self._args.engine, rollouts=load.open_rollouts, promised_tokens=load.promised_tokens
        )


class Tools(LocalBrokers):
    """The broker: large data, keys, caches and limits live here."""

    def __init__(self, args: AppArgs) -> None:
        prepare_replica(args, "tools")
        refuse_file_across_nodes(args, nodes=live_nodes())
        tooling = make_tooling(args)
        self._toolbox = apply_tape(tooling.toolbox, args.tools)
        self._refs = PhotoRefs()
        super().__init__(tooling, self._toolbox, retention_s=args.gateway.retention_s, name=replica_name())
        self._n_running = 0

    async def schemas(self) -> tuple[ToolSchema, ...]:
        """The tools of this replica, as rollouts may call them."""
        return self._toolbox.schemas()

    async def call(self, call: ToolCall, context: ToolContext, photo_refs: Sequence[Any] = ()) -> ToolOutcome:
        """`photo_refs`: the photos, for the tools that send parts of them to somebody else."""
        self._n_running += 1
        try:
            with span("broker", parent=context.request.trace, tool=call.name):
                if photo_refs:
                    context = replace(context, photos=await self._refs.fetch(photo_refs))
                return await self._toolbox.call(call, context)
        finally:
            self._n_running -= 1

    async def call_reporting(
        self, call: ToolCall, context: ToolContext, photo_refs: Sequence[Any] = ()
    ) -> AsyncIterator[bytes]:
        """`call` as a stream of one item in an envelope, for tools that may send something to another machine: what
        leaves for the request is reported when it leaves.
        """

        async def outcome() -> AsyncIterator[Sequence[ToolOutcome]]:
            yield [await self.call(call, context, photo_refs)]

        async with closing(seal(outcome(), context.request.id)) as envelopes:
            async for envelope in envelopes:
                yield envelope.to_bytes()

    async def running(self) -> tuple[str, int]:
        """This replica's name, and tool calls in flight on it."""
        return replica_name(), self._n_running


class Verifier(OperatedReplica):
    """Weighs trajectories into one verdict, in a process of its own so that it scales and fails by itself."""

    def __init__(
        self, args: AppArgs, tools: DeploymentHandle[Any], rollout: DeploymentHandle[Any] | None = None
    ) -> None:
        prepare_replica(args, "verifier")
        self._args = args
        self._refs = PhotoRefs()
        self._coalesce_s = args.coalesce_s
        model = RemoteModel(rollout, self._refs) if rollout is not None else None
        toolbox = JoinedTools(LocalToolbox([]), tools, self._refs, may_send=args.tools.may_send)
        self._verifier = make_verifier(args, model, toolbox)

    async def ready(self) -> bool:
        """Answers when a request would be served."""
        return True

    async def verify(self, request: VerifyRequest, photo_refs: Sequence[Any]) -> AsyncIterator[bytes]:
        """Items in envelopes, in a span of the trace."""
        photos = await self._refs.fetch(photo_refs)
        with span("judge", parent=request.context.trace):
            pieces = self._verifier.verify(replace(request, photos=photos))
            batched = coalesce(pieces, window_s=self._coalesce_s)
            async with closing(seal(batched, request.context.id)) as envelopes:
                async for envelope in envelopes:
                    yield envelope.to_bytes()
