"""Limits for one connection, one address and all connections. They apply before the service asks for a key."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, IPvAnyNetwork

from tts.config.units import Seconds
from tts.domain.value import Value


class ConnectionLimits(Value):
    """Limits of the HTTP server. A process that may open fewer files keeps fewer connections."""

    max_connections: Annotated[int, Field(ge=8)] = Field(
        default=4096,
        description="most open connections. A further one closes the oldest connection that has sent no whole request "
        "yet, or else the one that has been idle longest",
    )
    max_per_address: Annotated[int, Field(ge=1)] = Field(
        default=256,
        description="most open connections of one IPv4 address or IPv6 /64 network; trusted proxies have no such limit",
    )
    trusted_proxies: tuple[IPvAnyNetwork, ...] = Field(
        default=("127.0.0.1/32", "::1/128"),
        validate_default=True,
        description="addresses or networks of proxies whose header X-Forwarded-For is trusted. max_per_address then "
        "limits the running requests of each client behind them",
    )
    head_timeout_s: Seconds = Field(
        default=10.0, description="seconds in which the request line and all header fields must arrive"
    )
    max_head_bytes: Annotated[int, Field(ge=1024)] = Field(
        default=64 * 1024, description="most bytes of request line and header fields together"
    )
    max_head_fields: Annotated[int, Field(ge=16)] = Field(default=100, description="most header fields of one request")
