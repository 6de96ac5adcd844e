"""The composition root: one builder that wires five deployments into a Serve application, or three (ADR 0012).

geotts serve                                   from the command line
serve run ray_configs/local.yaml               from Ray's own command line
serve.run(build(AppArgs()))                    from Python

This module does not use postponed annotations: Ray reads the annotation of `build`. If it were a string, Ray would pass
the plain dictionary of the YAML.
"""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, cast

from fastapi import FastAPI
from ray import serve
from ray.serve import Application
from ray.serve.config import AutoscalingConfig, RequestRouterConfig
from ray.serve.handle import DeploymentHandle

from deployments.config import AppArgs, DeploymentConfig
from deployments.gateway.gateway import Gateway
from deployments.gateway.photos.decoding_process import PhotoProcess
from deployments.http.app import create_app
from deployments.http.server import head_limits as http_limits
from deployments.observability.audit import AuditLog
from deployments.observability.metrics import Metrics
from deployments.serve.deployment_classes import Locatability, Rollout, Tools
from deployments.serve.deployment_classes import Verifier as VerifierWorker
from deployments.serve.endpoint_orders import to_all_replicas
from deployments.serve.engine_rooms import PERIOD_S, known_rooms
from deployments.serve.handles import (
    JoinedTools,
    PhotoRefs,
    RemoteLocator,
    RemoteModel,
    RemotePerception,
    RemoteRollouts,
    RemoteVerifier,
    remote_call,
    replica_name,
)
from deployments.serve.operator_settings import DEFAULTS, OperatedReplica
from deployments.serve.ray_env import wait_for_ingress_port
from deployments.serve.remote_brokers import RemoteBrokers
from deployments.serve.replica_start import prepare_replica
from deployments.serve.request_router import ROUTER
from deployments.serve.scaling import POLICY
from deployments.wiring.parts import (
    asking_locator,
    make_agent_model,
    make_identity,
    make_local_toolbox,
    make_router,
    make_verifier,
    make_watch,
)
from deployments.wiring.rollouts import make_rollouts
from tts.config import CluesEngine, ScriptedEngine
from tts.ports.locator import Locator
from tts.ports.model_client import ModelClient
from tts.ports.request_ports import Ports
from tts.ports.rollout_groups import Rollouts
from tts.ports.verification import Verifier
from tts.routing.locatability import FixedLocator
from tts.toolkit.toolbox import LocalToolbox


@serve.ingress()
class GatewayIngress(OperatedReplica):
    """The gateway as a Serve ingress; its FastAPI application is built in the replica, where the handles are."""

    def __init__(
        self,
        args: AppArgs,
        locatability: DeploymentHandle[Any],
        tools: DeploymentHandle[Any],
        workers: Mapping[str, DeploymentHandle[Any]],
    ) -> None:
        prepare_replica(args, "gateway")
        http_limits.install(args.gateway.connections)
        wait_for_ingress_port(args.gateway.host)
        refs = PhotoRefs()
        brokers = RemoteBrokers(tools, args.tools)
        model = RemoteModel(workers["rollout"], refs) if workers else make_agent_model(args)
        rollouts, verifier = (
            _remote_workers(args, workers, refs)
            if workers
            else _colocated_workers(args, model, locatability, tools, refs)
        )
        ports = Ports(
            locator=asking_locator(args, _make_locator(args, locatability, refs), model),
            router=make_router(args),
            rollouts=rollouts,
            verifier=verifier,
            identity=make_identity(args),
            watch=make_watch(args),
            egress_log=brokers,
            may_send=args.may_send,
        )
        self._tools = JoinedTools(LocalToolbox([]), tools, refs, may_send=args.tools.may_send)
        self._args = args
        self._tell_all_replicas = to_all_replicas(workers)
        self._metrics = Metrics()
        self._metrics.rooms.rooms = known_rooms
        audit = [AuditLog(Path(args.gateway.audit_log).expanduser(), args)] if args.gateway.audit_log else []
        self._gateway = Gateway(
            args,
            ports,
            brokers=brokers,
            observers=[*audit, self._metrics],
            photo_process=PhotoProcess(args.gateway.photo),
        )
        self._checks = {
            "locatability": partial(remote_call, locatability.ready),
            "tools": partial(remote_call, tools.schemas),
            **{name: partial(remote_call, handle.ready) for name, handle in workers.items()},
        }

    def __serve_build_asgi_app__(self) -> FastAPI:
        return create_app(
            self._gateway,
            self._args,
            metrics=self._metrics,
            checks=self._checks,
            spread=self._tell_all_replicas,
            toolbox=self._tools,
        )

    async def running(self) -> tuple[str, int]:
        """This replica's name, and requests in flight on it."""
        return replica_name(), self._gateway.in_flight


def _make_locator(args: AppArgs, locatability: DeploymentHandle[Any], refs: PhotoRefs) -> Locator:
    """The Locatability deployment, unless there is nothing to ask it."""
    fixed = args.routing_method == "fixed"
    return FixedLocator(args.routing.fixed_score) if fixed else RemoteLocator(locatability, refs)


def _remote_workers(
    args: AppArgs, workers: Mapping[str, DeploymentHandle[Any]], refs: PhotoRefs
) -> tuple[RemoteRollouts, RemoteVerifier]:
    """Rollouts and verifier in deployments of their own."""
    rollouts = RemoteRollouts(
        workers["rollout"],
        refs,
        group_size=args.group_size,
        replicas=args.deployments.rollout.most_replicas,
        by_photo=_routes_by_photo(args),
        whole=_shares_prefixes(args),
    )
    return rollouts, RemoteVerifier(workers["verifier"], refs)


def _colocated_workers(
    args: AppArgs,
    model: ModelClient,
    locatability: DeploymentHandle[Any],
    tools: DeploymentHandle[Any],
    refs: PhotoRefs,
) -> tuple[Rollouts, Verifier]:
    """Rollouts and verifier in the gateway's process: their engine computes elsewhere."""
    local = make_local_toolbox(RemotePerception(locatability, refs), args)
    toolbox = JoinedTools(local, tools, refs, may_send=args.tools.may_send)
    return make_rollouts(model, toolbox, args), make_verifier(args, model, toolbox)


def build(args: AppArgs) -> Application:
    """The application: Gateway → Locatability, Rollout → Tools, Verifier; the second and last may be in the gateway."""
    d = args.deployments
    tools = build_tools(args)
    locatability = _make_deployment(Locatability, d.locatability).bind(args)
    workers = {}
    if not args.colocated:
        rollout = _make_deployment(Rollout, d.rollout, user_config=DEFAULTS, **_routing_options(args)).bind(
            args, locatability, tools
        )
        lent = rollout if args.verifier_borrows_engine else None
        verifier = _make_deployment(VerifierWorker, d.verifier, name="Verifier", user_config=DEFAULTS).bind(
            args, tools, lent
        )
        workers = {"rollout": rollout, "verifier": verifier}
    gateway = _make_deployment(GatewayIngress, d.gateway, name="Gateway", user_config=DEFAULTS)
    return cast(Application, gateway.bind(args, locatability, tools, workers))


def build_tools(args: AppArgs) -> Application:
    """The broker alone."""
    return cast(Application, _make_deployment(Tools, args.deployments.tools).bind(args))


def _make_deployment(cls: type, config: DeploymentConfig, name: str | None = None, **options: Any) -> Any:
    if config.bundles:
        options |= {
            "placement_group_bundles": list(config.bundles),
            "placement_group_strategy": config.bundle_strategy,
        }
    return serve.deployment(
        cls,
        name=name or cls.__name__,
        max_ongoing_requests=config.max_ongoing,
        max_queued_requests=config.max_queued,
        ray_actor_options={
            "num_cpus": config.num_cpus,
            "num_gpus": config.num_gpus,
            "resources": config.resources,
        },
        health_check_period_s=2,
        graceful_shutdown_wait_loop_s=0.1,
        graceful_shutdown_timeout_s=config.drain_s,
        **_scaling_options(config, by_generations=cls is Rollout),
        **options,
    )


def _scaling_options(config: DeploymentConfig, *, by_generations: bool) -> dict[str, Any]:
    auto = config.autoscale
    if auto is None:
        return {"num_replicas": config.replicas}
    policy: dict[str, Any] = {}
    if by_generations:
        policy["policy"] = {"policy_function": POLICY, "policy_kwargs": {"target": auto.target_ongoing}}
    return {
        "autoscaling_config": AutoscalingConfig(
            target_ongoing_requests=auto.target_ongoing,
            look_back_period_s=auto.look_back_s,
            **auto.model_dump(exclude={"target_ongoing", "look_back_s"}),
            **policy,
        )
    }


def _routing_options(args: AppArgs) -> dict[str, Any]:
    if not _routes_by_photo(args) and not _routes_by_room(args):
        return {}
    options: dict[str, Any] = {"request_router_class": ROUTER, "request_routing_stats_period_s": PERIOD_S}
    return {"request_router_config": RequestRouterConfig(**options)}


def _routes_by_photo(args: AppArgs) -> bool:
    """Whether calls about one photo meet: also where a leader goes ahead of its siblings to fill a replica's cache, and
    where an observer describes a photo for all of them.
    """
    several = args.deployments.rollout.most_replicas > 1
    leads = args.routing_method == "leader" and args.prefix_wait_s is not None and several
    return leads or args.observer is not None or args.placement == "photo_hash"


def _routes_by_room(args: AppArgs) -> bool:
    """Whether there are several replicas, of an engine that says how much it can still take."""
    engine = args.engine
    limited = engine.slots is not None or (isinstance(engine, ScriptedEngine) and engine.kv_tokens is not None)
    return limited and not args.engines and args.deployments.rollout.most_replicas > 1


def _shares_prefixes(args: AppArgs) -> bool:
    """Whether rollouts of a query are better off together; the CPU engines are spread."""
    return not all(isinstance(engine, CluesEngine | ScriptedEngine) for engine in args.rollout_engines)
