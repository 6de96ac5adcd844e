"""The gateway's listening socket may take a port whose last connections the kernel still remembers (SO_REUSEADDR).

Serve binds the port of a replica without that option, so after a stop or a crash under keep-alive clients the port was
refused for a minute (TIME_WAIT). Its option for proxies would also set SO_REUSEPORT, by which a second service could
take the same port unnoticed. Rests on Serve's internals: `tests/unit/deployments/serve/test_ray_seams.py` names the
version that this was written for and fails on another.
"""

from __future__ import annotations

import socket
from typing import Any

from ray.serve._private import http_util, replica


def install_listener() -> None:
    """Call in a replica before Serve opens its HTTP port, which it does after the constructor."""
    patched: Any = http_util
    patched.set_socket_reuse_port = reuse_address
    patched = replica
    patched.start_asgi_http_server = _start


def reuse_address(listener: socket.socket) -> bool:
    """Stands for Serve's `set_socket_reuse_port` and sets SO_REUSEADDR alone. Whether it could."""
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return True


async def _start(app: Any, options: Any, **named: Any) -> Any:
    return await http_util.start_asgi_http_server(app, options, **{**named, "enable_so_reuseport": True})
