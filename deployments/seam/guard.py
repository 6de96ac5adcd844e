"""Checks that Ray and uvicorn have the versions for which this package was written, and the names that it uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pkgutil import resolve_name

WRITTEN_FOR: Mapping[str, str] = {"ray": "2.60", "uvicorn": "0.54"}

# package: the names that `ray.py` and `uvicorn.py` use, in the form of `pkgutil.resolve_name`
NAMES: Mapping[str, Sequence[str]] = {
    "ray": (
        "ray._common.tls_utils:add_port_to_grpc_server",
        "ray._private.node:Node.kill_all_processes",
        "ray._private.node:Node.raylet_socket_name",
        "ray._private.ray_constants:RAY_DISABLE_FAILURE_SIGNAL_HANDLER",
        "ray._private.utils:set_sigterm_handler",
        "ray._private.worker:_global_node",
        "ray._private.worker:global_worker",
        "ray._private.worker:print_to_stdstream",
        "ray._private.worker:shutdown",
        "ray._raylet:CoreWorker",
        "ray.serve._private.common:ReplicaState.RUNNING",
        "ray.serve._private.common:RequestMetadata",
        "ray.serve._private.client:ServeControllerClient.http_config",
        "ray.serve._private.http_util:set_socket_reuse_port",
        "ray.serve._private.http_util:start_asgi_http_server",
        "ray.serve._private.replica:add_port_to_grpc_server",
        "ray.serve._private.replica:start_asgi_http_server",
        "ray.serve.context:_get_global_client",
        "ray.serve.request_router:PendingRequest",
        "ray.serve.request_router:ReplicaID",
        "ray.serve.request_router:RequestRouter._cancel_routing_task_for_pending_request",
        "ray.serve.request_router:RequestRouter._fulfill_next_pending_request",
        "ray.serve.request_router:RequestRouter._record_queue_wait_time",
        "ray.serve.request_router:RequestRouter._remove_pending_request_from_indices",
        "ray.serve.request_router:RequestRouter.choose_replicas",
        "ray.serve.request_router:RequestRouter.update_replicas",
        "ray.serve.request_router:RunningReplica.replica_id",
        "ray.serve.request_router:RunningReplica.routing_stats",
    ),
    "uvicorn": (
        "uvicorn.config:HTTP_PROTOCOLS",
        "uvicorn.protocols.http.httptools_impl:HttpToolsProtocol._start_asgi_task",
        "uvicorn.protocols.http.httptools_impl:HttpToolsProtocol.on_response_complete",
        "uvicorn.protocols.http.httptools_impl:HttpToolsProtocol.send_400_response",
        "uvicorn.protocols.http.httptools_impl:RequestResponseCycle",
        "uvicorn.protocols.http.httptools_impl:STATUS_LINE",
    ),
}

# class: what its objects have, as `ray.py` and `uvicorn.py` read and set it
ATTRIBUTES: Mapping[str, Sequence[str]] = {
    "ray._private.node:Node": ("all_processes", "removal_lock"),
    "ray.serve._private.client:ServeControllerClient": ("_http_config",),
    "ray.serve._private.common:RequestMetadata": ("session_id",),
    "ray.serve.handle:_DeploymentResponseBase": ("_replica_result", "_replica_result_future"),
    "ray.serve.request_router:PendingRequest": ("future", "metadata"),
    "ray.serve.request_router:ReplicaID": ("unique_id",),
    "ray.serve.request_router:RequestRouter": ("_pending_requests_to_fulfill",),
    "uvicorn.protocols.http.httptools_impl:HttpToolsProtocol": (
        "client",
        "cycle",
        "pipeline",
        "ws_protocol_class",
    ),
    "uvicorn.protocols.http.httptools_impl:RequestResponseCycle": (
        "chunked_encoding",
        "disconnected",
        "expected_content_length",
        "keep_alive",
        "message_event",
        "more_body",
        "response_complete",
        "response_started",
        "scope",
    ),
}


def other_versions() -> Iterator[str]:
    """The packages that are installed in another version than this was written for, as `name version`."""
    for package, wanted in WRITTEN_FOR.items():
        with suppress(PackageNotFoundError):
            if not (found := version(package)).startswith(f"{wanted}."):
                yield f"{package} {found}"


def missing_names(names: Mapping[str, Sequence[str]] = NAMES) -> Iterator[str]:
    """Those of `names` that the installed packages do not have. This imports the packages."""
    for name in (name for group in names.values() for name in group):
        try:
            resolve_name(name)
        except (ImportError, AttributeError):
            yield name


def missing_attributes(attributes: Mapping[str, Sequence[str]] = ATTRIBUTES) -> Iterator[str]:
    """Those of `attributes` that the constructor of their class no longer sets, as `module:Class.attribute`. A class
    that is gone is left to `missing_names`."""
    for name, wanted in attributes.items():
        try:
            given = set_by_constructor(resolve_name(name))
        except (ImportError, AttributeError):
            continue
        yield from (f"{name}.{attribute}" for attribute in wanted if attribute not in given)


def set_by_constructor(of: type) -> set[str]:
    """The names that the constructor of a class sets, and those that it calls. A frozen dataclass sets its fields by
    their names as text."""
    code = of.__init__.__code__  # type: ignore[misc]
    return {*code.co_names, *(text for text in code.co_consts if isinstance(text, str))}
