"""Rows of a table file, whatever its form: JSON Lines, JSON, CSV/TSV, Parquet. One dict a row, keys as written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from tts.errors import DataError
from tts.eval.delimited_rows import delimited_rows

Row = dict[str, Any]
_LIST_KEYS = ("rows", "data", "samples", "results", "predictions", "images", "annotations")
_BOM = b"\xef\xbb\xbf"
_PACKED = {
    b"PK\x03\x04": "a ZIP archive or an Excel workbook: unpack it, or save the sheet as CSV",
    b"\x1f\x8b": "packed with gzip: unpack it",
}


def read_rows(path: Path) -> Iterator[Row]:
    """Rows in file order. The form follows the suffix; anything unknown is taken for JSON Lines.

    Raises:
        DataError: naming the file, and the line where there is one, of what cannot be read.
    """
    if not path.is_file():
        raise DataError(f"{path} is not a file")
    with path.open("rb") as file:
        head = file.read(4)
    if (packed := next((how for magic, how in _PACKED.items() if head.startswith(magic)), None)) is not None:
        raise DataError(f"{path} is {packed}")
    suffix = path.suffix.lower()
    if suffix in (".csv", ".tsv"):
        return delimited_rows(path)
    if suffix == ".parquet":
        return _parquet_rows(path)
    if suffix == ".json":
        return _json_rows(path)
    return _json_lines(path)


def _json_lines(path: Path) -> Iterator[Row]:
    known = path.suffix.lower() in (".json", ".jsonl", ".ndjson")
    hint = "" if known else "; the name of a table must end in .csv, .tsv or .parquet"
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = _parse_json(line)
            except ValueError as error:
                raise DataError(f"{path}, line {number} is not JSON: {error}{hint}") from error
            if not isinstance(row, dict):
                raise DataError(f"{path}, line {number} is not a JSON object")
            yield row


def _parse_json(data: bytes) -> Any:
    """Also what Python and pandas write beyond JSON: a byte order mark, NaN and Infinity. Raises ValueError."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as strict:
        if not (data.startswith(_BOM) or any(name in data for name in (b"NaN", b"Infinity"))):
            raise
        try:
            return json.loads(data.removeprefix(_BOM))
        except (ValueError, RecursionError):
            raise strict from None


def _json_rows(path: Path) -> Iterator[Row]:
    """A list of objects, an object that holds one, or an object of objects keyed by id; JSON Lines as a last resort."""
    try:
        tree = _parse_json(path.read_bytes())
    except ValueError:
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
