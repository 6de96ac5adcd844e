"""The run store in one SQLite file, for one gateway. Finished requests survive its restarts.

One connection in one thread; an append is one transaction in the write-ahead log. The file is locked for as long as a
gateway has it open: a second one is refused. Deleted rows are overwritten (`secure_delete`) and the write-ahead log is
cut; `scrub` then removes the copies that SQLite left elsewhere in the file, so that nothing of a request stays on disk.
"""

from __future__ import annotations

import asyncio
import fcntl
import secrets
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any, TypeVar

from deployments.runstore.log_following import PAGE, Page, follow
from deployments.runstore.port import (
    PROBE_BYTES,
    REMINDERS,
    STORE_VERSION,
    IdempotencyClaim,
    KeyTaken,
    LogEntry,
    StoreUnavailable,
)
from deployments.runstore.run_meta import RunMeta
from deployments.runstore.single_gateway import SingleGateway
from deployments.runstore.sqlite_cases import CASE_SCHEMA, IS_KEPT, SQLiteCases
from deployments.runstore.stored_values import value_of
from tts.erasure.sqlite_remains import REMAINS_SCHEMA, cut_log, mark_remains, write_anew
from tts.errors import ConfigError
from tts.ports.toolbox import Attachment
from tts.private_files import make_database_private

T = TypeVar("T")
_LOCK_PATIENCE_S = 25.0  # a replaced gateway replica drains for up to 20 s
_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    request_id TEXT PRIMARY KEY, meta TEXT NOT NULL, closed INTEGER NOT NULL DEFAULT 0, touched REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS events (
    request_id TEXT NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL, payload BLOB NOT NULL,
    PRIMARY KEY (request_id, seq)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS files (
    request_id TEXT NOT NULL, sha256 TEXT NOT NULL, media_type TEXT NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (request_id, sha256)
);
CREATE TABLE IF NOT EXISTS reminders (request_id TEXT PRIMARY KEY, due REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS claims (key TEXT PRIMARY KEY, claim TEXT NOT NULL, until REAL NOT NULL) WITHOUT ROWID;
"""
_MAX_PAGES = 4_294_967_294  # SQLite's own limit: sqlite.org/limits.html
_RELEASE_CLAIM = "DELETE FROM claims WHERE key = ? AND claim ->> 'request_id' = ?"


class SQLiteRunStore(SQLiteCases, SingleGateway):
    """Times in the file are Unix seconds of `wall`, so that retention goes on while nothing runs."""

    def __init__(self, path: Path, retention_s: float, *, wall: Callable[[], float] = time.time) -> None:
        SingleGateway.__init__(self)
        self._path = path
        self._retention_s = retention_s
        self._wall_clock = wall
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="runstore")
        self._lock: IO[bytes] | None = None
        self._db: sqlite3.Connection | None = None

    async def open(self, meta: RunMeta, *, lease_s: float, max_open: int | None = None) -> bool:
        """One transaction looks at the key and inserts the row of the request. Raises ConfigError when another gateway
        has the file open.
        """
        if not self._admit(meta, lease_s, max_open):
            return False
        now = self._wall_clock()
        if not await self._run_in_thread(lambda db: _open_run(db, meta, now)):
            self._leases.pop(meta.request_id, None)
            raise KeyTaken
        return True

    async def append(self, request_id: str, entries: Sequence[LogEntry]) -> None:
        """One transaction. Entries with a `seq` not above the last, or of a log that is not open, are dropped."""
        rows = [(request_id, e.seq, e.kind, e.payload, request_id, request_id, e.seq) for e in entries]
        await self._write(
            "INSERT INTO events SELECT ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM runs WHERE request_id = ? AND NOT closed)"
            " AND NOT EXISTS (SELECT 1 FROM events WHERE request_id = ? AND seq >= ?)",
            rows,
        )
        self._signals.notify(request_id)

    async def attach(self, request_id: str, attachment: Attachment) -> None:
        """Keep a file, once for each hash; nothing for a request that is unknown or erased."""
        row = (request_id, attachment.sha256, attachment.media_type, attachment.data, request_id)
        await self._write(
            "INSERT OR IGNORE INTO files SELECT ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM runs WHERE request_id = ?)",
            [row],
        )

    async def close(self, meta: RunMeta) -> bool:
        """Mark the log as closed and give up its lease; the retention begins now."""
        row = (self._wall_clock(), meta.request_id)
        await self._write("UPDATE runs SET closed = 1, touched = ? WHERE request_id = ?", [row])
        self._forget(meta.request_id)
        return True

    async def meta(self, request_id: str) -> RunMeta | None:
        """None for a request without a row. Raises StoreUnavailable when this release cannot read the row."""
        row = await self._fetch_row("SELECT meta FROM runs WHERE request_id = ?", request_id)
        return None if row is None else value_of(RunMeta, row[0])

    async def is_open(self, request_id: str) -> bool:
        """Whether the log is in the file and not closed, also when it is from before a restart."""
        return await self._fetch_row("SELECT 1 FROM runs WHERE request_id = ? AND NOT closed", request_id) is not None

    async def last_seq_without_lease(self, request_id: str) -> int | None:
        """The last `seq` of an open log without a lease, as all have after a restart; 0 without entries."""
        if self._has_lease(request_id) or not await self.is_open(request_id):
            return None
        row = await self._fetch_row("SELECT coalesce(max(seq), 0) FROM events WHERE request_id = ?", request_id)
        return int(row[0]) if row is not None else 0

    async def file(self, request_id: str, sha256: str) -> Attachment | None:
        """None when the request is unknown or has no file of this hash."""
        row = await self._fetch_row(
            "SELECT media_type, data FROM files WHERE request_id = ? AND sha256 = ?", request_id, sha256
        )
        return None if row is None else Attachment(sha256=sha256, media_type=row[0], data=row[1])

    async def erase(self, request_id: str) -> bool:
        """Delete all rows and the idempotency key in one transaction, then truncate the write-ahead log."""
        meta = await self.meta(request_id)
        self._forget(request_id)
        if meta is None:
            return False
        await self._run_in_thread(lambda db: _erase_run(db, meta))
        self._signals.notify(request_id)
        return True

    def read(self, request_id: str, *, after: int = 0, idle_s: float | None = None) -> AsyncIterator[LogEntry | None]:
        """Pages from the file; a signal of this process wakes a reader, which never polls."""

        async def page(position: int) -> Page:
            return await self._run_in_thread(lambda db: _read_page(db, request_id, position))

        return follow(page, self._signals, request_id, after=after, idle_s=idle_s)

    async def claim(self, key: str, claim: IdempotencyClaim) -> IdempotencyClaim | None:
        """One transaction; the claim outlives restarts, until its time by the wall clock."""
        now = self._wall_clock()
        return await self._run_in_thread(lambda db: _claim_key(db, key, claim, now, now + self._retention_s))

    async def release(self, key: str, request_id: str) -> None:
        """Delete the key if the request holds it."""
        await self._write(_RELEASE_CLAIM, [(key, request_id)])

    async def set_reminder(self, request_id: str, after_s: float | None) -> None:
        """A row with the time by the wall clock, so that it outlives restarts."""
        await self._write("DELETE FROM reminders WHERE request_id = ?", [(request_id,)])
        if after_s is not None:
            row = (request_id, self._wall_clock() + after_s, request_id)
            await self._write(
                "INSERT INTO reminders SELECT ?, ? WHERE EXISTS (SELECT 1 FROM runs WHERE request_id = ?)", [row]
            )

    async def reminders(self, *, again_s: float) -> Sequence[str]:
        """One transaction finds and puts off those that are due."""
        now = self._wall_clock()
        return await self._run_in_thread(lambda db: _due_reminders(db, now, now + again_s))

    async def ping(self) -> None:
        """Insert a row of `PROBE_BYTES` and delete it."""
        key, row = f"probe {secrets.token_hex(8)}", "x" * PROBE_BYTES
        await self._write("INSERT INTO claims VALUES (?, ?, ?)", [(key, row, 0.0)])
        await self._write("DELETE FROM claims WHERE key = ?", [(key,)])

    async def purge(self) -> None:
        """Erase runs without a lease that are past their retention, and claims that are past their time."""
        now = self._wall_clock()
        old = await self._run_in_thread(
            lambda db: db.execute(
                f"SELECT request_id FROM runs WHERE touched < ? AND NOT {IS_KEPT}", (now - self._retention_s, now)
            ).fetchall()
        )
        for (request_id,) in old:
            if not self._has_lease(request_id):
                await self.erase(request_id)
        await self._write("DELETE FROM claims WHERE until < ?", [(now,)])
        await self._purge_cases()
        await self.scrub()

    async def scrub(self) -> None:
        """Write the file anew, if rows were erased since the last time."""
        why = "another process reads it"
        try:
            if await self._run_in_thread(_clear_remains):
                return
        except StoreUnavailable as error:
            why = error.detail
        raise StoreUnavailable(
            f"erased, but parts may be left in the file of the run store until its next purge, within a minute: {why}"
        )

    async def limit_pages(self, more: int | None) -> None:
        """Let the file grow by so many pages and no further, as on a full disk; None: as far as the disk goes."""

        def limit(db: sqlite3.Connection) -> None:
            (pages,) = db.execute("PRAGMA page_count").fetchone()
            db.execute(f"PRAGMA max_page_count = {_MAX_PAGES if more is None else pages + more}")

        await self._run_in_thread(limit)

    async def aclose(self) -> None:
        """Wake all readers, then close the database, give up the lock and end the thread."""
        self._signals.notify_all()
        await asyncio.get_running_loop().run_in_executor(self._thread, self._close_files)
        self._thread.shutdown()

    async def _fetch_row(self, sql: str, *values: Any) -> Any:
        return await self._run_in_thread(lambda db: db.execute(sql, values).fetchone())

    async def _write(self, sql: str, rows: Sequence[tuple[Any, ...]]) -> None:
        def write(db: sqlite3.Connection) -> None:
            with db:
                db.executemany(sql, rows)

        await self._run_in_thread(write)

    async def _run_in_thread(self, work: Callable[[sqlite3.Connection], T]) -> T:
        def run() -> T:
            try:
                return work(self._open_database())
            except sqlite3.Error as error:
                raise StoreUnavailable(_error_text(error)) from error
            except OSError as error:
                raise StoreUnavailable(f"the run store cannot be opened: {error.strerror}") from error

        return await asyncio.get_running_loop().run_in_executor(self._thread, run)

    def _open_database(self) -> sqlite3.Connection:
        if self._db is None:
            lock = self._path.with_suffix(".lock")
            for path in (lock, self._path):  # SQLite gives its other files the mode of this one
                make_database_private(path)
            self._lock = _lock_file(lock)
            self._db = _connect(self._path)
        return self._db

    def _close_files(self) -> None:
        if self._db is not None:
            self._db.close()
        if self._lock is not None:
            self._lock.close()


def _error_text(error: sqlite3.Error) -> str:
    name = getattr(error, "sqlite_errorname", "")
    if name == "SQLITE_FULL":
        return "the disk of the run store is full"
    if name.startswith("SQLITE_READONLY"):
        return "the run store cannot be written: its file is read-only"
    if name.startswith("SQLITE_IOERR"):
        return f"the disk of the run store failed or is full ({name})"
    return f"the run store failed: {name or type(error).__name__}"


def _lock_file(path: Path) -> IO[bytes]:
    """Hold the file's lock. Raises ConfigError when another gateway does not give it up in time."""
    handle = path.open("ab")
    give_up = time.monotonic() + _LOCK_PATIENCE_S
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > give_up:
                handle.close()
                raise ConfigError(
                    "another gateway has this run store open: SQLite is for one gateway, use redis:// for more"
                ) from None
            time.sleep(0.1)
        else:
            return handle


def _connect(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, check_same_thread=False)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("PRAGMA secure_delete = ON")
    (found,) = db.execute("PRAGMA user_version").fetchone()
    if found not in (0, STORE_VERSION):
        db.close()
        raise ConfigError(
            f"{path.name} is a run store of version {found}, this release reads {STORE_VERSION}: remove it"
        )
    with db:
        db.executescript(_SCHEMA + CASE_SCHEMA + REMAINS_SCHEMA)
        db.execute(f"PRAGMA user_version = {STORE_VERSION}")
    return db


def _read_page(db: sqlite3.Connection, request_id: str, position: int) -> Page:
    row = db.execute("SELECT closed FROM runs WHERE request_id = ?", (request_id,)).fetchone()
    if row is None:
        return Page((), final=True)
    rows = db.execute(
        "SELECT seq, kind, payload FROM events WHERE request_id = ? AND seq > ? ORDER BY seq LIMIT ?",
        (request_id, position, PAGE),
    ).fetchall()
    return Page([LogEntry(*found) for found in rows], final=bool(row[0]))


def _due_reminders(db: sqlite3.Connection, now: float, again: float) -> list[str]:
    with db:
        rows = db.execute("SELECT request_id FROM reminders WHERE due <= ? ORDER BY due LIMIT ?", (now, REMINDERS))
        found = [str(request_id) for (request_id,) in rows.fetchall()]
        db.executemany("UPDATE reminders SET due = ? WHERE request_id = ?", [(again, one) for one in found])
    return found


def _open_run(db: sqlite3.Connection, meta: RunMeta, now: float) -> bool:
    row = (meta.request_id, meta.model_dump_json(), now)
    with db:
        if meta.claim:
            held = db.execute("SELECT claim ->> 'request_id' FROM claims WHERE key = ?", (meta.claim,)).fetchone()
            if held != (meta.request_id,):
                return False
        db.execute("INSERT OR REPLACE INTO runs (request_id, meta, touched) VALUES (?, ?, ?)", row)
    return True


def _claim_key(
    db: sqlite3.Connection, key: str, claim: IdempotencyClaim, now: float, until: float
) -> IdempotencyClaim | None:
    with db:
        row = db.execute("SELECT claim FROM claims WHERE key = ? AND until > ?", (key, now)).fetchone()
        if row is not None:
            return value_of(IdempotencyClaim, row[0])
        db.execute("INSERT OR REPLACE INTO claims VALUES (?, ?, ?)", (key, claim.model_dump_json(), until))
    return None


def _clear_remains(db: sqlite3.Connection) -> bool:
    last = write_anew(db)
    return last is None or cut_log(db, last)


def _erase_run(db: sqlite3.Connection, meta: RunMeta) -> None:
    with db:
        for table in ("events", "files", "runs", "kept", "reminders"):
            db.execute(f"DELETE FROM {table} WHERE request_id = ?", (meta.request_id,))
        db.execute(_RELEASE_CLAIM, (meta.claim, meta.request_id))
        mark_remains(db)
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
