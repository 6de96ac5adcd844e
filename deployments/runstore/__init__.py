"""The run store: one port, three implementations, chosen by URL."""

from __future__ import annotations

from pathlib import Path

from deployments.runstore.blobs import open_blobs
from deployments.runstore.case_record import CaseRecord
from deployments.runstore.memory import MemoryRunStore
from deployments.runstore.port import IdempotencyClaim, KeyTaken, LogEntry, LogLost, RunStore, StoreUnavailable
from deployments.runstore.run_meta import RunMeta
from deployments.runstore.sqlite import SQLiteRunStore
from deployments.runstore.with_blobs import RunStoreWithBlobs
from tts.errors import ConfigError

__all__ = [
    "CaseRecord",
    "IdempotencyClaim",
    "KeyTaken",
    "LogEntry",
    "LogLost",
    "MemoryRunStore",
    "RunMeta",
    "RunStore",
    "StoreUnavailable",
    "open_store",
]


def open_store(url: str, retention_s: float, blobs: str = "") -> RunStore:
    """`memory`, `sqlite:///path/to/file` or `redis://host:port/0`. Nothing is connected before the first use.

    With `blobs` (a folder or a URL), the bytes of files are kept there.

    Raises:
        ConfigError: for any other URL, and when the package for it is not installed.
    """
    store = _event_store(url, retention_s)
    return RunStoreWithBlobs(store, open_blobs(blobs), retention_s) if blobs else store


def _event_store(url: str, retention_s: float) -> RunStore:
    if url == "memory":
        return MemoryRunStore(retention_s)
    if url.startswith("sqlite:///"):
        return SQLiteRunStore(Path(url.removeprefix("sqlite:///")).expanduser(), retention_s)
    if url.startswith(("redis://", "rediss://", "unix://")):
        try:
            from deployments.runstore.redis import RedisRunStore  # noqa: PLC0415  an optional package
        except ImportError as error:
            raise ConfigError("a run store in Redis needs the package: pip install 'geotts[redis]'") from error
        return RedisRunStore(url, retention_s)
    raise ConfigError(f"{url!r} is no run store: use memory, sqlite:///path or redis://host:port/0")
