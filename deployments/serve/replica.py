"""What every replica does first: telemetry, rarer collections, and listening where the node listens."""

from __future__ import annotations

import gc
from ipaddress import ip_address
from typing import Any

import ray
from ray._common.tls_utils import add_port_to_grpc_server
from ray.serve._private import replica

from deployments.http.server.listener import install_listener
from tts.config import AppArgs
from tts.telemetry import configure_telemetry

# Python looks for garbage at 700, so in about every request, for 0.3 ms; nearly all of it goes by its counts anyway
_YOUNG_OBJECTS = 10_000


def prepare_replica(args: AppArgs, name: str) -> None:
    """Call first in the constructor of a deployment: Serve opens the replica's own port after it."""
    configure_telemetry(args.telemetry, name)
    gc.set_threshold(_YOUNG_OBJECTS, *gc.get_threshold()[1:])
    replica.add_port_to_grpc_server = _add_port  # type: ignore[attr-defined]
    install_listener()


def _add_port(server: Any, address: str) -> int:
    """The port for calls from other deployments. Serve binds it to every address and has no setting for it; where the
    node is on loopback nobody else may reach it.
    """
    node: str = ray.util.get_node_ip_address()  # type: ignore[no-untyped-call]
    if ip_address(node).is_loopback:
        address = address.replace("[::]", node)
    port: int = add_port_to_grpc_server(server, address)  # type: ignore[no-untyped-call]
    return port
