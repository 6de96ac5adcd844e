"""Rows of a table file, whatever its form: JSON Lines, JSON, CSV/TSV, Parquet. One dict a row, keys as written."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from tts.errors import DataError

Row = dict[str, Any]
_LIST_KEYS = ("rows", "data", "samples", "results", "predictions", "images", "annotations")
_CSV_FIELD_LIMIT = 2**31 - 1


def read_rows(path: Path) -> Iterator[Row]:
    """Rows in file order. The form follows the suffix; anything unknown is taken for JSON Lines.

    Raises:
        DataError: naming the file, and the line where there is one, of what cannot be read.
    """
    if not path.is_file():
        raise DataError(f"{path} is not a file")
    suffix = path.suffix.lower()
    if suffix in (".csv", ".tsv"):
        return _csv_rows(path, "\t" if suffix == ".tsv" else ",")
    if suffix == ".parquet":
        return _parquet_rows(path)
    if suffix == ".json":
        return _json_rows(path)
    return _json_lines(path)


def _json_lines(path: Path) -> Iterator[Row]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                raise DataError(f"{path}, line {number} is not JSON: {error}") from error
            if not isinstance(row, dict):
                raise DataError(f"{path}, line {number} is not a JSON object")
            yield row


def _json_rows(path: Path) -> Iterator[Row]:
    """A list of objects, an object that holds one, or an object of objects keyed by id; JSON Lines as a last resort."""
    data = path.read_bytes()
    try:
        tree = orjson.loads(data)
    except orjson.JSONDecodeError:
        yield from _json_lines(path)
        return
    if isinstance(tree, dict):
        held = next((tree[key] for key in _LIST_KEYS if isinstance(tree.get(key), list)), None)
        if held is None and tree and all(isinstance(value, dict) for value in tree.values()):
            held = [{"id": key, **value} for key, value in tree.items()]
        tree = [tree] if held is None else held
    if not isinstance(tree, list) or not all(isinstance(row, dict) for row in tree):
        raise DataError(f"{path} holds no list of JSON objects")
    yield from tree


def _csv_rows(path: Path, delimiter: str) -> Iterator[Row]:
    csv.field_size_limit(min(sys.maxsize, _CSV_FIELD_LIMIT))
    with path.open(newline="", encoding="utf-8-sig") as file:
        try:
            for row in csv.DictReader(file, delimiter=delimiter):
                yield {key: value for key, value in row.items() if key is not None}
        except (csv.Error, UnicodeDecodeError) as error:
            raise DataError(f"{path} is not a UTF-8 table: {error}") from error


def _parquet_rows(path: Path) -> Iterator[Row]:
    try:
        import pyarrow.parquet  # noqa: PLC0415  optional: the `parquet` extra
    except ModuleNotFoundError as error:
        raise DataError(f"reading {path} needs pyarrow: pip install 'geotts[parquet]'") from error
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=256):
                yield from batch.to_pylist()
    except (OSError, pyarrow.ArrowException) as error:
        raise DataError(f"{path} is not a Parquet file: {error}") from error
