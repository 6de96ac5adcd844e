"""Removes the remains of deleted rows from an SQLite file.

`PRAGMA secure_delete` overwrites a row where it lies when it is deleted. When SQLite divides a full page, it moves rows
and leaves copies of them in the free space of the old page; deleting the row does not reach these. `VACUUM` writes the
file anew, without free space (sqlite.org/lang_vacuum.html).
"""

from __future__ import annotations

import sqlite3

REMAINS_SCHEMA = "CREATE TABLE IF NOT EXISTS remains (id INTEGER PRIMARY KEY AUTOINCREMENT);"


def mark_remains(db: sqlite3.Connection) -> None:
    """Note that rows were deleted, in the transaction that deletes them: a crash before `cut_log` is found later.

    Args:
        db: a connection to a file in which `REMAINS_SCHEMA` was executed.

    Raises:
        sqlite3.Error: the file cannot be written.
    """
    db.execute("INSERT INTO remains DEFAULT VALUES")


def write_anew(db: sqlite3.Connection) -> int | None:
    """Write the file anew if rows were deleted since the last time.

    This takes about half a second for each 100 MB, during which others can read but not write. One call serves all
    deletions before it.

    Args:
        db: a connection in WAL mode that is not in a transaction, to a file as for `mark_remains`.

    Returns:
        The last deletion that it serves, for `cut_log`; None when there was nothing to do.

    Raises:
        sqlite3.Error: the file cannot be written, for instance because the disk has no space for a copy of it.
    """
    last: int | None = db.execute("SELECT max(id) FROM remains").fetchone()[0]
    if last is not None:
        db.execute("VACUUM")
    return last


def cut_log(db: sqlite3.Connection, last: int) -> bool:
    """Move the write-ahead log into the file that was written anew, and empty the log.

    Args:
        db: the connection of `write_anew`.
        last: what `write_anew` returned.

    Returns:
        False when another process was using the log, so that remains may still be in the file or the log: call again.

    Raises:
        sqlite3.Error: the file cannot be written.
    """
    (busy, _, _) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        return False
    db.execute("DELETE FROM remains WHERE id <= ?", (last,))
    db.commit()
    return True
