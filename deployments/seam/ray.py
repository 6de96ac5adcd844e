"""The internals of Ray and Serve that the service rests on. Each function says what public interface is missing.

Import after `deployments.serve.ray_env.prepare_environment` has run: Ray reads its environment when it is imported.
"""

from __future__ import annotations

import atexit
import socket
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from ipaddress import ip_address
from typing import Any

import ray
from ray._common.tls_utils import add_port_to_grpc_server
from ray._private import ray_constants, utils, worker
from ray._private.node import Node
from ray.serve import context
from ray.serve._private import http_util, replica
from ray.serve._private.common import ReplicaState
from ray.serve.handle import DeploymentResponse, DeploymentResponseGenerator
from ray.serve.request_router import RequestRouter

RUNNING = ReplicaState.RUNNING
RAY_LOGGERS = ("ray", "ray.serve", "ray._private.authentication")


def own_nodes() -> list[Node]:
    """The private node of this process; none when it has joined the cluster of others."""
    node: Node | None = worker._global_node
    return [node] if node is not None else []


def is_started_node(value: object) -> bool:
    """Whether it is a node that has come as far as to keep a list of its processes."""
    return isinstance(value, Node) and hasattr(value, "removal_lock") and hasattr(value, "all_processes")


def process_ids(node: Node) -> list[int]:
    """The processes that a node started itself."""
    return [info.process.pid for infos in node.all_processes.values() for info in infos]


def kill_node(node: Node) -> None:
    """Kill the processes of a node and wait for them. `ray.shutdown` does nothing about a node that is not complete."""
    node.kill_all_processes(check_alive=False, allow_graceful=False, wait=True)


def raylet_socket() -> str:
    """The path at which the raylet of this process listens."""
    node: Any = worker.global_worker.node
    return str(node.raylet_socket_name).removeprefix("unix://")


def forget_shutdown() -> None:
    """Leave the cluster without a word when this process exits: Ray would wait a minute for a dead one, and abort."""
    atexit.unregister(worker.shutdown)


def redirect_raylet_lines(note: Callable[[str], None]) -> None:
    """Hand to `note` what the raylet reports (a worker that ended, at every shutdown the controller).

    Ray prints these reports to stdout even with `log_to_driver=False`, and has no setting for it.
    """

    def print_to_stdstream(data: dict[str, Any], ignore_prefix: bool = False) -> None:
        for line in data.get("lines", ()):
            note(line)

    worker.print_to_stdstream = print_to_stdstream


@contextmanager
def without_signal_handlers(before_core_worker: Callable[[], None]) -> Iterator[None]:
    """Within the block `ray.init` sets no handler for SIGTERM, neither in Python nor in C++; it has no setting for it.

    `before_core_worker` is called in the thread that makes the core worker.
    """
    raylet: Any = ray._raylet
    constants: Any = ray_constants
    core_worker, set_handler = raylet.CoreWorker, utils.set_sigterm_handler
    in_cpp = constants.RAY_DISABLE_FAILURE_SIGNAL_HANDLER

    def make_core_worker(*arguments: Any, **options: Any) -> Any:
        before_core_worker()
        return core_worker(*arguments, **options)

    constants.RAY_DISABLE_FAILURE_SIGNAL_HANDLER = True
    raylet.CoreWorker = make_core_worker
    utils.set_sigterm_handler = lambda handler: None
    try:
        yield
    finally:
        constants.RAY_DISABLE_FAILURE_SIGNAL_HANDLER = in_cpp
        raylet.CoreWorker = core_worker
        utils.set_sigterm_handler = set_handler


def serve_listener() -> Any:
    """The HTTP options (`host`, `port`) with which Serve was started on this cluster, maybe by others."""
    client: Any = context._get_global_client()
    return client.http_config


def cancel(response: Any) -> None:
    """Cancel a call, also one that found its replica in the very moment in which its caller was cancelled: Serve has
    not noted that replica then, and its own `cancel` leaves the other side at work for nobody.
    """
    response.cancel()
    if isinstance(response, DeploymentResponse | DeploymentResponseGenerator) and response._replica_result is None:
        assigned = response._replica_result_future
        if assigned.done() and not assigned.cancelled() and assigned.exception() is None:
            assigned.result().cancel()  # type: ignore[no-untyped-call]


def is_assigned(response: Any) -> bool:
    """Whether a call has found its replica, or will never find one. Serve does not say so."""
    known = isinstance(response, DeploymentResponse | DeploymentResponseGenerator)
    return not known or bool(response._replica_result_future.done())


def install_listeners() -> None:
    """Call in the constructor of a replica: Serve opens the ports of a replica after it.

    Calls from other deployments: Serve binds their port to every address and has no setting for it; where the node is
    on loopback nobody else may reach it. HTTP: the port is bound with SO_REUSEADDR, see `reuse_address`.
    """
    serve_http: Any = http_util
    serve_replica: Any = replica
    serve_replica.add_port_to_grpc_server = _add_port
    serve_http.set_socket_reuse_port = reuse_address
    serve_replica.start_asgi_http_server = partial(_start_http, http_util.start_asgi_http_server)


def reuse_address(listener: socket.socket) -> bool:
    """Stands for Serve's `set_socket_reuse_port` and sets SO_REUSEADDR alone. Whether it could.

    Serve binds the port of a replica without that option, so after a stop or a crash under keep-alive clients the port
    was refused for a minute (TIME_WAIT). Its option for proxies would also set SO_REUSEPORT, by which a second service
    could take the same port unnoticed.
    """
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return True


async def _start_http(start: Any, app: Any, options: Any, **named: Any) -> Any:
    return await start(app, options, **{**named, "enable_so_reuseport": True})


def _add_port(server: Any, address: str) -> int:
    node: str = ray.util.get_node_ip_address()  # type: ignore[no-untyped-call]
    if ip_address(node).is_loopback:
        address = address.replace("[::]", node)
    port: int = add_port_to_grpc_server(server, address)  # type: ignore[no-untyped-call]
    return port


class OwnReplicaRouter(RequestRouter):
    """Serve's request router, in which a call is given the replica that was chosen for it (ADR 0011).

    Serve files pending requests under an id that all calls of one incoming request share, so of several parallel calls
    some would wait for ever; matching the metadata object itself gives each call its own replica. A subclass gives
    `configure`, `keep_reports` and `rank`.
    """

    @abstractmethod
    def keep_reports(self, reports: Mapping[str, Mapping[str, Any]]) -> None:
        """Called when replicas come, go, or report, with the reports by the name of the replica; may be empty."""

    @abstractmethod
    def rank(self, named: dict[str, Any], session: str) -> list[list[Any]]:
        """Ranks of the replicas of `named` for a call with a session id; those of a rank are equally good."""

    def update_replicas(self, replicas: list[Any]) -> None:
        """Called by Serve when replicas come, go, or report."""
        self.keep_reports({replica.replica_id.unique_id: replica.routing_stats or {} for replica in replicas})
        super().update_replicas(replicas)

    async def choose_replicas(self, candidate_replicas: list[Any], pending_request: Any = None) -> list[list[Any]]:
        """Called by Serve for each call."""
        session = pending_request.metadata.session_id if pending_request is not None else ""
        return self.rank({replica.replica_id.unique_id: replica for replica in candidate_replicas}, session)

    def _fulfill_next_pending_request(self, replica: Any, request_metadata: Any = None) -> None:
        for pending in self._pending_requests_to_fulfill:
            if pending.metadata is request_metadata and not pending.future.done():
                self._cancel_routing_task_for_pending_request(pending)
                self._record_queue_wait_time(pending)
                pending.future.set_result(replica)
                self._remove_pending_request_from_indices(pending)
                return
