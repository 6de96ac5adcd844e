"""The store of one node: one SQLite file in WAL mode, shared by the processes of this machine.

Reads take tens of microseconds and happen in place; writes wait for each other and happen in one thread. A commit
survives the death of the process. Not for network file systems, hence not across nodes.
"""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from tts.erasure.sqlite_remains import REMAINS_SCHEMA, cut_log, mark_remains, write_anew
from tts.private_files import make_database_private
from tts.toolkit.broker.cache_entry import SCHEMA_VERSION, Entry
from tts.toolkit.broker.cache_store import Rate, StoreError, booking

T = TypeVar("T")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, until REAL NOT NULL, data BLOB NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS entries_until ON entries (until);
CREATE TABLE IF NOT EXISTS photos (photo TEXT, key TEXT, PRIMARY KEY (photo, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS leases (key TEXT PRIMARY KEY, token TEXT NOT NULL, until REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS buckets (name TEXT PRIMARY KEY, arrival REAL NOT NULL) WITHOUT ROWID;
"""
_BUSY_TIMEOUT_MS = 5000
_CLEAR_TIMEOUT_S = 2.0
_CLEAR_PAUSE_S = 0.02
_SWEEP_INTERVAL_WRITES = 500  # writes


class SqliteStore:
    """The `CacheStore` over one file, which only its owner may read.

    Args:
        path: the database; it is made if it is not there.
        now: a clock in seconds since the epoch, that of `Entry.stored_at`.

    Raises:
        StoreError: the file cannot be opened, or is no such database.
    """

    def __init__(self, path: Path, *, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._writes = 0
        with _map_store_errors():
            make_database_private(path)  # SQLite gives its other files the mode of this one
            self._writer = _connect(path)
            _prepare(self._writer)
            self._reader = _connect(path)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="tool-cache")

    async def get(self, key: str) -> Entry | None:
        """Reads in the calling thread; None also for an entry past its time or of another version of the schema."""
        with _map_store_errors():
            row = self._reader.execute("SELECT data, until FROM entries WHERE key = ?", (key,)).fetchone()
        return None if row is None or row[1] <= self._now() else Entry.decode(row[0])

    async def put(self, key: str, entry: Entry) -> None:
        """Replaces an entry of the same key. Some of the writes also remove what is past its time."""
        await self._write(self._put, key, entry)

    async def lease(self, key: str, ttl_s: float) -> str | None:
        """A lease whose time is over is taken from its holder."""
        return await self._write(self._lease, key, ttl_s)

    async def release(self, key: str, token: str) -> None:
        """Delete the lease if it still holds this token."""
        await self._write(self._execute, "DELETE FROM leases WHERE key = ? AND token = ?", (key, token))

    async def take(self, bucket: str, rate: Rate, *, max_wait_s: float) -> float:
        """Book in one transaction, so that the processes of the machine share the rate."""
        return await self._write(self._take, bucket, rate, max_wait_s)

    async def forget(self, photo_sha256: str) -> int:
        """Delete the entries, then clear their remains, so that no file holds them any more."""
        deleted = await self._write(self._forget_photo, photo_sha256)
        await self._clear_remains()
        return deleted

    async def purge(self) -> None:
        """Delete entries and leases past their time; if entries of photos went, clear their remains."""
        await self._write(self._sweep)
        await self._clear_remains()

    async def aclose(self) -> None:
        """Close both connections and end the thread that writes."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._writer.close)
        self._thread.shutdown(wait=False)
        self._reader.close()

    async def _write(self, work: Callable[..., T], *args: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._run_transaction, work, *args)

    async def _clear_remains(self) -> None:
        """Leave erased rows neither in the file nor in its write-ahead log. SQLite does not wait for another process
        that is moving the log at this moment, so it is asked again.

        Raises:
            StoreError: the log is in use for too long: erased rows may still be in the file.
        """
        loop = asyncio.get_running_loop()
        with _map_store_errors():
            last = await loop.run_in_executor(self._thread, write_anew, self._writer)
            give_up = loop.time() + _CLEAR_TIMEOUT_S
            while last is not None and not await loop.run_in_executor(self._thread, cut_log, self._writer, last):
                if loop.time() > give_up:
                    raise StoreError("the tool cache is in use: what was erased may still be in its file")
                await asyncio.sleep(_CLEAR_PAUSE_S)

    def _run_transaction(self, work: Callable[..., T], *args: object) -> T:
        with _map_store_errors():
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                result = work(*args)
                self._writer.execute("COMMIT")
            finally:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
        return result

    def _execute(self, sql: str, values: tuple[object, ...]) -> int:
        return self._writer.execute(sql, values).rowcount

    def _put(self, key: str, entry: Entry) -> None:
        values = (key, entry.stored_at + entry.kept_s, entry.encode())
        self._execute("INSERT OR REPLACE INTO entries VALUES (?, ?, ?)", values)
        for photo in entry.photos:
            self._execute("INSERT OR IGNORE INTO photos VALUES (?, ?)", (photo, key))
        self._writes += 1
        if self._writes % _SWEEP_INTERVAL_WRITES == 0:
            self._sweep()

    def _sweep(self) -> None:
        self._execute("DELETE FROM entries WHERE until <= ?", (self._now(),))
        self._execute("DELETE FROM leases WHERE until <= ?", (self._now(),))
        if self._execute("DELETE FROM photos WHERE key NOT IN (SELECT key FROM entries)", ()):
            mark_remains(self._writer)

    def _lease(self, key: str, ttl_s: float) -> str | None:
        token = secrets.token_hex(8)
        now = self._now()
        took = self._execute(
            "INSERT INTO leases VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET token = excluded.token, "
            "until = excluded.until WHERE leases.until <= ?",
            (key, token, now + ttl_s, now),
        )
        return token if took else None

    def _take(self, bucket: str, rate: Rate, max_wait_s: float) -> float:
        row = self._writer.execute("SELECT arrival FROM buckets WHERE name = ?", (bucket,)).fetchone()
        wait, booked = booking(row[0] if row else 0.0, self._now(), rate)
        if wait > max_wait_s:
            return -wait
        self._execute("INSERT OR REPLACE INTO buckets VALUES (?, ?)", (bucket, booked))
        return wait

    def _forget_photo(self, photo_sha256: str) -> int:
        deleted = self._execute(
            "DELETE FROM entries WHERE key IN (SELECT key FROM photos WHERE photo = ?)", (photo_sha256,)
        )
        if self._execute("DELETE FROM photos WHERE photo = ?", (photo_sha256,)):
            mark_remains(self._writer)
        return deleted


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=_BUSY_TIMEOUT_MS / 1000)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA secure_delete = ON")
    return connection


def _prepare(connection: sqlite3.Connection) -> None:
    """Make the tables; those of another schema version are emptied first."""
    connection.execute("BEGIN IMMEDIATE")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version not in (0, SCHEMA_VERSION):
        for table in ("entries", "photos", "leases", "buckets"):
            connection.execute(f"DROP TABLE IF EXISTS {table}")
    for statement in (_SCHEMA + REMAINS_SCHEMA).split(";"):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    connection.execute("COMMIT")


@contextmanager
def _map_store_errors() -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise StoreError(f"the tool cache failed: {type(error).__name__}") from error
