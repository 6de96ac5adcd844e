"""Passwords of Redis come from the environment: the configuration holds URLs without them."""

from __future__ import annotations

from collections.abc import Mapping

RUN_STORE = "GEOTTS_REDIS_PASSWORD"
TOOL_CACHE = "GEOTTS_TOOLS_REDIS_PASSWORD"


def run_store_password(environment: Mapping[str, str]) -> str | None:
    """The value of GEOTTS_REDIS_PASSWORD; None when it is not set or empty."""
    return environment.get(RUN_STORE) or None


def tool_cache_password(environment: Mapping[str, str]) -> str | None:
    """Its own when that is set (empty: none), else that of the run store: mostly they are one Redis."""
    return environment.get(TOOL_CACHE, environment.get(RUN_STORE)) or None
