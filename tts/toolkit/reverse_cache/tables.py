"""The Parquet tables of training: one row a result, read and written with the columns of the released data pipeline."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

from tts.errors import DataError
from tts.toolkit.parquet_rows import read_parquet_rows
from tts.toolkit.reverse_cache.recorded_searches import (
    Annotation,
    Box,
    CachedResult,
    PictureCall,
    ReverseCache,
    TextCall,
)

IMAGES = "image_search_cache.parquet"
TEXTS = "text_search_cache.parquet"
_IMAGE_COLUMNS = ("image_path", "bbox", "result_title", "result_link", "result_source")
_TEXT_COLUMNS = ("image_path", "query", "result_title", "result_url", "result_content")
_EMPTY_POSITION = -1
_Row = dict[str, Any]
_Call = TypeVar("_Call", PictureCall, TextCall)


def has_tables(folder: Path) -> bool:
    """Tell whether the folder has recorded searches of the training.

    Args:
        folder: any path; a folder that is not there has none.

    Returns:
        True if at least one of the two tables is there.
    """
    return (folder / IMAGES).is_file() or (folder / TEXTS).is_file()


def read_tables(folder: Path, paths: Mapping[str, str] | None = None) -> ReverseCache:
    """Read the calls of a folder's tables.

    Of rows with one path, call and position the one marked useful counts. Rows without labels are useful in the table
    of pictures and not in that of texts; calls whose box cannot be read are left out.

    Args:
        folder: where the tables are, under their released names.
        paths: the path in the tables of each photo, by the SHA-256 of the photo; None if no photo is named.

    Returns:
        The calls by the path of their photo, with `paths`.

    Raises:
        DataError: no table is there, it is not Parquet, or a column is missing.
    """
    if not has_tables(folder):
        raise DataError(f"{folder} has neither {IMAGES} nor {TEXTS}")
    pictures, texts = (
        read_parquet_rows(folder / IMAGES, _IMAGE_COLUMNS),
        read_parquet_rows(folder / TEXTS, _TEXT_COLUMNS),
    )
    return ReverseCache(
        pictures=_group_by_path(_picture_calls(_group_calls(pictures, "result_pos", unlabelled=True))),
        texts=_group_by_path(_text_calls(_group_calls(texts, "result_index", unlabelled=False))),
        paths=dict(paths or {}),
    )


def write_tables(cache: ReverseCache, folder: Path) -> None:
    """Write both tables, with every column of the released pipeline.

    Args:
        cache: the calls to write; the hashes of its photos have no place in the tables.
        folder: made if it is not there. Tables that are there are replaced.
    """
    folder.mkdir(parents=True, exist_ok=True)
    pictures = [row for calls in cache.pictures.values() for call in calls for row in _picture_rows(call)]
    texts = [row for calls in cache.texts.values() for call in calls for row in _text_rows(call)]
    _write(folder / IMAGES, pictures, _picture_rows(PictureCall("", 0, (0, 0, 0, 0)))[0])
    _write(folder / TEXTS, texts, _text_rows(TextCall("", 0, ""))[0])


def _group_calls(
    rows: Sequence[_Row], position: str, *, unlabelled: bool
) -> Iterable[tuple[tuple[str, int], list[_Row]]]:
    """Rows by path and number of the call, sorted, without duplicates."""

    def order(row: _Row) -> tuple[str, int, int, bool]:
        useful = row.get("is_geo_useful", unlabelled)
        return str(row["image_path"]), int(row.get("call_idx") or 0), int(row.get(position) or 0), not useful

    kept: dict[tuple[str, int, int], _Row] = {}
    for row in sorted(rows, key=order):
        path, number, place, useless = order(row)
        kept.setdefault((path, number, place), {**row, "position": place, "useful": not useless})
    for key, group in groupby(kept.items(), key=lambda item: item[0][:2]):
        yield key, [row for _, row in group]


def _picture_calls(calls: Iterable[tuple[tuple[str, int], list[_Row]]]) -> Iterable[PictureCall]:
    for (path, number), rows in calls:
        if (box := _box(rows[0]["bbox"])) is not None:
            found = [_result(row, link="result_link", source="result_source") for row in rows]
            yield PictureCall(path, number, box, tuple(found), _annotation(rows[0]))


def _text_calls(calls: Iterable[tuple[tuple[str, int], list[_Row]]]) -> Iterable[TextCall]:
    for (path, number), rows in calls:
        found = [_result(row, link="result_url", text="result_content") for row in rows]
        query = _text_or_empty(rows[0]["query"])
        yield TextCall(path, number, query, tuple(found), _annotation(rows[0]))


def _annotation(row: _Row) -> Annotation:
    image_id, part, turn = (_text_or_empty(row.get(name)) or None for name in ("image_id", "part", "call_turn"))
    return Annotation(image_id, None if turn is None else int(float(turn)), part)


def _result(row: _Row, *, link: str, source: str = "", text: str = "") -> CachedResult:
    return CachedResult(
        position=row["position"],
        title=_text_or_empty(row["result_title"]),
        link=_text_or_empty(row[link]),
        source=_text_or_empty(row.get(source)),
        text=_text_or_empty(row.get(text)),
        useful=row["useful"],
    )


def _text_or_empty(value: Any) -> str:
    """Nothing is None or, where a table went through pandas, NaN."""
    return "" if value is None or (isinstance(value, float) and math.isnan(value)) else str(value)


def _box(written: Any) -> Box | None:
    try:
        x0, y0, x1, y1 = map(float, json.loads(written) if isinstance(written, str) else written)
    except (TypeError, ValueError):
        return None
    return x0, y0, x1, y1


def _group_by_path(calls: Iterable[_Call]) -> dict[str, tuple[_Call, ...]]:
    found: dict[str, list[_Call]] = {}
    for call in calls:
        found.setdefault(call.path, []).append(call)
    return {path: tuple(sorted(group, key=lambda call: call.number)) for path, group in found.items()}


def _write(path: Path, rows: Sequence[_Row], example: _Row) -> None:
    import pyarrow  # noqa: PLC0415  an extra
    from pyarrow import parquet  # noqa: PLC0415

    columns = {name: [row[name] for row in rows] for name in example}
    schema = pyarrow.table({name: [value] for name, value in example.items()}).schema
    parquet.write_table(pyarrow.table(columns, schema=schema), path)


def _picture_rows(call: PictureCall) -> list[_Row]:
    """In the order of the released pipeline's columns."""
    before, after = _shared_columns(call)
    return [
        {
            **before,
            "bbox": json.dumps(list(map(float, call.box))),
            "call_idx": call.number,
            "result_pos": result.position,
            "result_title": result.title,
            "result_link": result.link,
            "result_source": result.source,
            "result_thumbnail": "",
            "is_geo_useful": result.useful,
            **after,
        }
        for result in call.results or (CachedResult(_EMPTY_POSITION),)
    ]


def _text_rows(call: TextCall) -> list[_Row]:
    """In the order of the released pipeline's columns."""
    before, after = _shared_columns(call)
    return [
        {
            **before,
            "call_idx": call.number,
            "query": call.query,
            "result_index": result.position,
            "result_title": result.title,
            "result_url": result.link,
            "result_content": result.text,
            "is_geo_useful": result.useful,
            **after,
        }
        for result in call.results or (CachedResult(_EMPTY_POSITION),)
    ]


def _shared_columns(call: PictureCall | TextCall) -> tuple[_Row, _Row]:
    """The first and the last columns, which both tables have. Calls that nobody annotated get the name of the photo's
    file, a turn by their number, and no part."""
    useful = [result.position for result in call.results if result.useful]
    annotated = call.annotation
    before: _Row = {
        "image_id": call.path.rpartition("/")[2] if annotated.image_id is None else annotated.image_id,
        "image_path": call.path,
    }
    after: _Row = {
        "useful_indices": json.dumps(useful),
        "n_useful": len(useful),
        "call_turn": 2 * (call.number + 1) if annotated.turn is None else annotated.turn,
        "part": annotated.part or "",
    }
    return before, after
