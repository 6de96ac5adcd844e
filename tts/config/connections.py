"""Limits for one connection, one address and all connections. They apply before the service asks for a key."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, IPvAnyNetwork

from tts.config.units import Seconds
from tts.domain.value import Value


class ConnectionLimits(Value):
    """Limits of the HTTP server. A process that may open fewer files keeps fewer connections."""

    max_connections: Annotated[int, Field(ge=8)] = Field(
        default=4096, description="in all; the oldest that has sent no whole request makes room for the next"
    )
    max_per_address: Annotated[int, Field(ge=1)] = Field(
        default=256, description="connections of one IPv4 address or IPv6 /64; trusted proxies have no such limit"
    )
    trusted_proxies: tuple[IPvAnyNetwork, ...] = Field(
        default=("127.0.0.1/32", "::1/128"),
        validate_default=True,
        description="addresses or networks whose X-Forwarded-For is believed: max_per_address counts their callers' "
        "requests instead",
    )
    head_timeout_s: Seconds = Field(default=10.0, description="for a whole request line and all header fields")
    max_head_bytes: Annotated[int, Field(ge=1024)] = Field(default=64 * 1024, description="request line and fields")
    max_head_fields: Annotated[int, Field(ge=16)] = 100
