"""Tapes on disk: JSONL while recording (a killed run keeps every whole line), Parquet to keep and to share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from tts.errors import DataError
from tts.toolkit.tape.row import TAPE_VERSION, TapeHead, TapeRow


@dataclass(frozen=True, slots=True)
class Tape:
    """A whole tape in memory, its rows in the order in which they were recorded."""

    head: TapeHead
    rows: tuple[TapeRow, ...]


def read_tape(path: Path) -> Tape:
    """Read a tape of either kind.

    Args:
        path: a file in Parquet if its suffix is `.parquet`, else in JSONL. Rows that cannot be read are left out.

    Returns:
        The head, and the rows in the order in which they were recorded.

    Raises:
        DataError: not there, not a tape, of another version, or in Parquet without the extra `parquet`.
    """
    if not path.is_file():
        raise DataError(f"there is no tape at {path}")
    lines = _parquet_lines(path) if path.suffix == ".parquet" else iter(path.read_bytes().split(b"\n"))
    head = _parse_head(next(lines, b""), path)
    return Tape(head, tuple(_parse_rows(lines)))


def write_tape(tape: Tape, path: Path) -> None:
    """Written whole: JSONL, or Parquet by its suffix.

    Args:
        tape: the head and the rows to write.
        path: the file, which is replaced; its folder is made if it is not there. The suffix `.parquet` chooses Parquet.

    Raises:
        DataError: Parquet without the extra `parquet`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        _write_parquet(tape, path)
    else:
        path.write_bytes(b"".join(value.json_bytes() + b"\n" for value in (tape.head, *tape.rows)))


def _parse_head(line: bytes, path: Path) -> TapeHead:
    try:
        version = orjson.loads(line)["tape"]
        head = TapeHead.model_validate_json(line) if version == TAPE_VERSION else None
    except (orjson.JSONDecodeError, ValidationError, KeyError, TypeError):
        raise DataError(f"{path} is not a tape") from None
    if head is None:
        raise DataError(f"{path} is a tape of version {version}, this release reads {TAPE_VERSION}")
    return head


def _parse_rows(lines: Iterable[bytes]) -> Iterator[TapeRow]:
    """Whole rows; a torn line is what a killed run was writing."""
    for line in lines:
        try:
            yield TapeRow.model_validate_json(line)
        except ValidationError:
            continue


def _import_pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow  # noqa: PLC0415  an extra
        import pyarrow.parquet  # noqa: PLC0415
    except ImportError:
        raise DataError("Parquet tapes need the extra: pip install 'geotts[parquet]'") from None
    return pyarrow, pyarrow.parquet


def _write_parquet(tape: Tape, path: Path) -> None:
    pyarrow, parquet = _import_pyarrow()
    columns = {
        "key": [row.key for row in tape.rows],
        "tool": [row.name for row in tape.rows],
        "photos": [list(row.photos) for row in tape.rows],
        "arguments": [orjson.dumps(row.arguments).decode() for row in tape.rows],
        "row": [row.json_bytes() for row in tape.rows],
    }
    text, blob = pyarrow.string(), pyarrow.binary()
    schema = pyarrow.schema(
        [("key", text), ("tool", text), ("photos", pyarrow.list_(text)), ("arguments", text), ("row", blob)],
        metadata={"geotts_tape": tape.head.json_bytes()},
    )
    parquet.write_table(pyarrow.table(columns, schema=schema), path, compression="zstd")


def _parquet_lines(path: Path) -> Iterator[bytes]:
    pyarrow, parquet = _import_pyarrow()
    try:
        table = parquet.read_table(path)
    except pyarrow.ArrowException:
        raise DataError(f"{path} is not a Parquet file") from None
    yield (table.schema.metadata or {}).get(b"geotts_tape", b"")
    if "row" in table.column_names:
        yield from table.column("row").to_pylist()
