"""Sets the environment of Ray for GeoTTS. It must run before `ray` is imported: Serve reads these variables at import
time.

Throughput-optimized mode is worth a factor of 3 to 10 (ADR 0002). On one node the gateway replica listens on the port
itself (direct ingress), so there is no proxy in between: the range of ingress ports is exactly that one port, and a
replaced replica gets it back at once.
"""

from __future__ import annotations

import os
import secrets
import socket
import time
from pathlib import Path

from tts.errors import FatalError

_RELEASE_TIMEOUT_S = 15.0  # a killed replica's process is gone, and its socket with it, well within this


def prepare_environment() -> None:
    """Set what Serve reads when it is imported; what the caller's environment says already wins."""
    _set_defaults(
        RAY_SERVE_THROUGHPUT_OPTIMIZED="1",
        RAY_SERVE_DIRECT_INGRESS_MIN_DRAINING_PERIOD_S="0",
        RAY_SERVE_PORT_QUARANTINE_S="0",
        RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S="60",  # Serve itself gives 5: too few beside a load
        RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH="deployments.http.middleware.ray_headers:middlewares",
        RAY_SERVE_REPLICA_GRPC_MAX_MESSAGE_LENGTH=str(64 * 2**20),
        RAY_USAGE_STATS_ENABLED="0",
        RAY_DEDUP_LOGS="0",
        RAY_worker_niceness="0",  # of Ray's 15 a replica starves beside any busy program
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


def prepare_token() -> None:
    """Give a private cluster a token of its own where the user has none: Ray would write one into the home folder, and
    from then on every Ray of this user would want it. The environment hands it on to the processes of the cluster.
    """
    if "RAY_AUTH_MODE" in os.environ or "RAY_AUTH_TOKEN_PATH" in os.environ or _token_file().exists():
        return
    os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))


def _token_file() -> Path:
    return Path.home() / ".ray" / "auth_token"


def wait_for_ingress_port(host: str) -> None:
    """Block until this node's one ingress port can be bound. The replica before this one may still hold it.

    Serve would give the port up for good after one failed attempt.

    Raises:
        FatalError: another process holds the port for 15 s. Serve starts the replica again.
    """
    low, high = (int(os.environ.get(f"RAY_SERVE_DIRECT_INGRESS_{end}_HTTP_PORT", "0")) for end in ("MIN", "MAX"))
    if high - low != 1:
        return
    if reason := wait_until_free(host, low, _RELEASE_TIMEOUT_S):
        raise FatalError(f"port {low} of {host} is taken ({reason}): stop what uses it, or set gateway.port")


def wait_until_free(host: str, port: int, patience_s: float) -> str:
    """Block until the port can be bound, or the patience is over. Empty, or why it still cannot be bound."""
    give_up = time.monotonic() + patience_s
    while (reason := bind_problem(host, port)) and time.monotonic() < give_up:
        time.sleep(0.1)
    return reason


def is_free(host: str, port: int) -> bool:
    """Whether any program can bind the port at this moment, also one that takes no port in TIME_WAIT."""
    return not bind_problem(host, port, closing=False)


def bind_problem(host: str, port: int, *, closing: bool = True) -> str:
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


def _set_defaults(**variables: str) -> None:
    for name, value in variables.items():
        os.environ.setdefault(name, value)
