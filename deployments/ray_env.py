"""How Ray is set up for GeoTTS. Must run before `ray` is imported: Serve reads these variables at import time.

Throughput-optimized mode is worth a factor of 3 to 10 (ADR 0002). On one node the gateway replica listens on the port
itself (direct ingress), so there is no proxy in between: the range of ingress ports is exactly that one port, and a
replaced replica gets it back at once.
"""

from __future__ import annotations

import os
import socket
import time

_TIME_WAIT_S = 65.0


def prepare_environment() -> None:
    """Set what Serve reads when it is imported; what the caller's environment says already wins."""
    _default(
        RAY_SERVE_THROUGHPUT_OPTIMIZED="1",
        RAY_SERVE_DIRECT_INGRESS_MIN_DRAINING_PERIOD_S="0",
        RAY_SERVE_PORT_QUARANTINE_S="0",
        RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH="deployments.headers:middlewares",
        RAY_SERVE_REPLICA_GRPC_MAX_MESSAGE_LENGTH=str(64 * 2**20),
        RAY_USAGE_STATS_ENABLED="0",
        RAY_DEDUP_LOGS="0",
        RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="0",  # despite its name: nodes listen on loopback only, on every system
    )


def prepare_to_join() -> None:
    """For a driver that joins a running cluster: be reachable from its nodes. Call before anything imports Ray."""
    os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "1"


def prepare_ports(host: str, port: int) -> None:
    """Set where the gateway of a private cluster listens; read by the processes that `ray.init` starts."""
    os.environ["RAY_SERVE_DIRECT_INGRESS_MIN_HTTP_PORT"] = str(port)
    os.environ["RAY_SERVE_DIRECT_INGRESS_MAX_HTTP_PORT"] = str(port + 1)
    os.environ["RAY_SERVE_DEFAULT_HTTP_HOST"] = host


def wait_for_ingress_port(host: str) -> None:
    """Block until this node's one ingress port can be bound, at most a minute.

    After a crash the kernel keeps the port of broken connections for 60 s. Serve would give the port up for good after
    one failed attempt, so a replaced gateway replica waits before it lets Serve try.
    """
    low, high = (int(os.environ.get(f"RAY_SERVE_DIRECT_INGRESS_{end}_HTTP_PORT", "0")) for end in ("MIN", "MAX"))
    if high - low != 1:
        return
    give_up = time.monotonic() + _TIME_WAIT_S
    while time.monotonic() < give_up:
        if is_free(host, low):
            return
        time.sleep(0.2)


def is_free(host: str, port: int) -> bool:
    """Whether the port can be bound at this moment."""
    return not why_not_bound(host, port, closing=False)


def why_not_bound(host: str, port: int, *, closing: bool = True) -> str:
    """Why the port cannot be bound, in the system's words; empty when it can. `closing`: one whose last user is gone,
    and that the kernel keeps for a minute, counts as free.
    """
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, int(closing))
        try:
            probe.bind((host, port))
        except OSError as error:
            return error.strerror or str(error)
    return ""


def _default(**variables: str) -> None:
    for name, value in variables.items():
        os.environ.setdefault(name, value)
