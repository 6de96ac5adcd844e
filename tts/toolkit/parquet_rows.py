"""Reads the rows of a Parquet table that somebody else wrote."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tts.errors import DataError


def read_parquet_rows(path: Path, columns: Sequence[str]) -> list[dict[str, Any]]:
    """All rows, with all columns of the table; none if there is no file.

    Args:
        path: the Parquet file.
        columns: names of columns that the table must have.

    Returns:
        A value for each column by its name, for each row.

    Raises:
        DataError: the file is not Parquet, or lacks one of `columns`.
    """
    import pyarrow  # noqa: PLC0415  an extra
    from pyarrow import parquet  # noqa: PLC0415

    if not path.is_file():
        return []
    try:
        table = parquet.read_table(path)
    except pyarrow.ArrowException:
        raise DataError(f"{path} is not a Parquet file") from None
    missing = [column for column in columns if column not in table.column_names]
    if missing:
        raise DataError(f"{path} has no column {', '.join(missing)}; it has {', '.join(table.column_names)}")
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows
