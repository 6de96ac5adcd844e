"""The search-cache layout of REVERSE: two Parquet tables, pictures by (image hash, box) and texts by query.

`image_search.parquet`: image_hash, bbox_2d (four integers, 0 to 1000), results; `text_search.parquet`: query, results.
`results` is JSON: a list of objects with title, url or link, and snippet or source.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from tts.domain.photo import Box
from tts.domain.tooling import WebFact
from tts.errors import DataError
from tts.toolkit.parquet_rows import read_parquet_rows
from tts.toolkit.tape.similar_searches import Hits, SearchTape

IMAGES = "image_search.parquet"
TEXTS = "text_search.parquet"
_BOX_SCALE = 1000


def import_reverse(folder: Path) -> SearchTape:
    """Read the tables of a folder. Rows whose box cannot be read are left out; results that cannot be read are none.

    Args:
        folder: where the tables are; one of the two is enough.

    Returns:
        The searches by the hash of the photo and by query, as `SearchTape` compares them.

    Raises:
        DataError: neither table is there, one is not Parquet, or a column is missing.
    """
    tape = SearchTape()
    if not (folder / IMAGES).is_file() and not (folder / TEXTS).is_file():
        raise DataError(f"{folder} has neither {IMAGES} nor {TEXTS}")
    for row in read_parquet_rows(folder / IMAGES, ("image_hash", "bbox_2d", "results")):
        box = _box(row["bbox_2d"])
        if box is not None:
            tape.add_picture(row["image_hash"], box, _hits(row["results"]))
    for row in read_parquet_rows(folder / TEXTS, ("query", "results")):
        tape.add_text(row["query"], _hits(row["results"]))
    return tape


def export_reverse(tape: SearchTape, folder: Path) -> None:
    """Write both tables into a folder, which is made when it is not there. Needs the extra `parquet`.

    Args:
        tape: the searches to write. Boxes are rounded to thousandths.
        folder: tables that are there are replaced.
    """
    import pyarrow  # noqa: PLC0415  an extra
    from pyarrow import parquet  # noqa: PLC0415

    folder.mkdir(parents=True, exist_ok=True)
    pictures = [(photo, box, hits) for photo, known in tape.pictures.items() for box, hits in known]
    images = {
        "image_hash": [photo for photo, _, _ in pictures],
        "bbox_2d": [[round(_BOX_SCALE * side) for side in (box.x0, box.y0, box.x1, box.y1)] for _, box, _ in pictures],
        "results": [_json(hits) for _, _, hits in pictures],
    }
    texts = {"query": list(tape.texts), "results": [_json(hits) for hits in tape.texts.values()]}
    parquet.write_table(pyarrow.table(images), folder / IMAGES)
    parquet.write_table(pyarrow.table(texts), folder / TEXTS)


def _box(bbox: Any) -> Box | None:
    try:
        x0, y0, x1, y1 = (float(side) / _BOX_SCALE for side in bbox)
        return Box(x0=x0, y0=y0, x1=x1, y1=y1)
    except (TypeError, ValueError, ValidationError):
        return None


def _hits(results: Any) -> Hits:
    try:
        found = orjson.loads(results) if isinstance(results, str | bytes) else results
    except orjson.JSONDecodeError:
        return ()
    hits = [hit for hit in found or [] if isinstance(hit, dict)]
    return tuple(
        WebFact(
            number=i,
            title=str(hit.get("title") or ""),
            snippet=str(hit.get("snippet") or ""),
            url=str(hit.get("url") or hit.get("link") or ""),
            source=str(hit.get("source") or "tape"),
        )
        for i, hit in enumerate(hits, 1)
    )


def _json(hits: Hits) -> str:
    kept = [{"title": h.title, "url": h.url, "snippet": h.snippet, "source": h.source} for h in hits]
    return orjson.dumps(kept).decode()
