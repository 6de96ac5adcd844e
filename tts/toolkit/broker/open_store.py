"""The store a URL names."""

from __future__ import annotations

from pathlib import Path

from tts.errors import ConfigError
from tts.toolkit.broker.cache_store import CacheStore, MemoryStore
from tts.toolkit.broker.sqlite_store import SqliteStore


def open_store(url: str) -> CacheStore:
    """Open the store that a URL names: `memory:` for one process, `sqlite:///path` for one node, `redis://…` or
    `rediss://…` for a cluster.

    Args:
        url: `tools.cache` of the configuration. The path after `sqlite://` is absolute, or begins with `/~` for a home
            folder; the password of Redis may stand in the environment instead.

    Returns:
        The store. Redis is not connected to before the first call.

    Raises:
        ConfigError: another URL, or the `redis` extra is not installed.
        StoreError: the file cannot be used.
    """
    scheme, _, rest = url.partition(":")
    if scheme == "memory":
        return MemoryStore()
    if scheme == "sqlite" and rest.startswith("///"):
        return SqliteStore(Path(rest[3:]).expanduser() if rest.startswith("///~") else Path(rest[2:]))
    if scheme in ("redis", "rediss"):
        try:
            from tts.toolkit.broker.redis_store import RedisStore  # noqa: PLC0415  an extra
        except ImportError:
            raise ConfigError("a Redis tool cache needs the extra: pip install 'geotts[redis]'") from None
        return RedisStore(url)
    raise ConfigError(f"tools.cache must be memory:, sqlite:///path or redis://host; not {scheme}:…")
