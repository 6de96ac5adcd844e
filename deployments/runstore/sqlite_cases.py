"""Cases in the SQLite run store: a table of their own, and one that says which requests they keep."""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from deployments.runstore.case_record import CaseRecord
from deployments.runstore.stored_values import value_of
from tts.erasure.sqlite_remains import mark_remains

T = TypeVar("T")

CASE_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS cases (
    case_id TEXT PRIMARY KEY, tenant TEXT NOT NULL, version INTEGER NOT NULL, record TEXT NOT NULL, until REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS kept (
    case_id TEXT NOT NULL, request_id TEXT NOT NULL, until REAL NOT NULL, PRIMARY KEY (request_id, case_id)
) WITHOUT ROWID;
"""
IS_KEPT: Final = "EXISTS (SELECT 1 FROM kept WHERE kept.request_id = runs.request_id AND kept.until > ?)"


class SQLiteCases(ABC):
    """The part of `SQLiteRunStore` that keeps cases; times are Unix seconds."""

    _wall_clock: Callable[[], float]

    @abstractmethod
    async def _run_in_thread(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do the work in one transaction. Raises StoreUnavailable."""

    async def save_case(self, record: CaseRecord, *, keep_s: float) -> bool:
        """One transaction: the row changes when the version follows, and the requests are kept with it."""
        now = self._wall_clock()
        return await self._run_in_thread(lambda db: _save_case(db, record, now, now + keep_s))

    async def case(self, case_id: str) -> CaseRecord | None:
        """None also when its time is over. Raises StoreUnavailable when this release cannot read the row."""
        now = self._wall_clock()
        row = await self._run_in_thread(
            lambda db: db.execute("SELECT record FROM cases WHERE case_id = ? AND until > ?", (case_id, now)).fetchone()
        )
        return None if row is None else value_of(CaseRecord, row[0])

    async def cases(self, tenant: str) -> Sequence[CaseRecord]:
        """Those whose time is not over."""
        now = self._wall_clock()
        rows = await self._run_in_thread(
            lambda db: db.execute("SELECT record FROM cases WHERE tenant = ? AND until > ?", (tenant, now)).fetchall()
        )
        return [value_of(CaseRecord, record) for (record,) in rows]

    async def erase_case(self, case_id: str) -> bool:
        """Delete the rows, then truncate the write-ahead log."""
        return await self._run_in_thread(lambda db: _erase_case(db, case_id))

    async def _purge_cases(self) -> None:
        now = self._wall_clock()

        def purge(db: sqlite3.Connection) -> None:
            with db:
                if db.execute("DELETE FROM cases WHERE until <= ?", (now,)).rowcount:
                    mark_remains(db)
                db.execute("DELETE FROM kept WHERE until <= ?", (now,))

        await self._run_in_thread(purge)


def _save_case(db: sqlite3.Connection, record: CaseRecord, now: float, until: float) -> bool:
    with db:
        db.execute("DELETE FROM cases WHERE case_id = ? AND until <= ?", (record.case_id, now))
        row = db.execute("SELECT version FROM cases WHERE case_id = ?", (record.case_id,)).fetchone()
        if record.version != (row[0] if row else 0) + 1:
            return False
        kept = (record.case_id, record.tenant, record.version, record.model_dump_json(), until)
        db.execute("INSERT OR REPLACE INTO cases VALUES (?, ?, ?, ?, ?)", kept)
        db.execute("DELETE FROM kept WHERE case_id = ?", (record.case_id,))
        rows = [(record.case_id, request_id, until) for request_id in record.requests]
        db.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?, ?)", rows)
    return True


def _erase_case(db: sqlite3.Connection, case_id: str) -> bool:
    with db:
        there = db.execute("DELETE FROM cases WHERE case_id = ?", (case_id,)).rowcount > 0
        db.execute("DELETE FROM kept WHERE case_id = ?", (case_id,))
        mark_remains(db)
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return there
