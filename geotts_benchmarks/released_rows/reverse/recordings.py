"""The recorded searches that the rows of training rest on.

The corpus states the box of the photo's first recorded call; which results were recorded, and which were useful, shows
in what its rows return: all of them, in random order, as long as there are fewer than are shown at most. No row is
played with what it returns itself: its recordings are those that the other rows show.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from geotts_benchmarks.released_rows.corpus import Corpus, Row
from tts.toolkit.reverse_cache.recorded_searches import Box, CachedResult, PictureCall, ReverseCache, TextCall

_MANY_MARK: Final = "many"
_EMPTY_MARK: Final = "empty"
# `many_0`: the only number of results, and of useful ones before the others, of which the draw of seed 0 is the row's
_MANY_RESULTS = 19
_MANY_USEFUL = 5
_PICTURE_ENTRY: Final = re.compile(r"^\[(\d+)\] (.*)\n    Source: (.*)\n    Link: (.*)$", re.MULTILINE)
_PAGE_ENTRY: Final = re.compile(r"^\[(\d+)\] (.*)\n    URL: (.*)\n    (.*)$", re.MULTILINE)
_HEADING: Final = re.compile(r"^Web search results for: (.*)$", re.MULTILINE)
_NUMBER: Final = re.compile(r"\d+")


@lru_cache(maxsize=64)
def recorded_cache(folder: Path, without: str = "") -> ReverseCache:
    """The cache behind the rows of a corpus, as the rows but one (by its id) show it."""
    corpus = Corpus(folder)
    box = _recorded_box(corpus)
    pictures: dict[str, tuple[PictureCall, ...]] = {}
    texts: dict[str, dict[str, TextCall]] = {}
    for row in corpus.rows("reverse", "tools"):
        if row["path"] != "rl":
            continue
        path = row["image"]
        if row["tool"] in ("image_search_tool", "text_search_tool") and (made := _synthetic_results(path)) is not None:
            pictures[path] = (PictureCall(path, 0, box, made),)
            texts.setdefault(path, {} if made else {"": TextCall(path, 0, "", ())})
        elif row["id"] != without and _shows_results(row):
            if row["tool"] == "image_search_tool":
                pictures[path] = (PictureCall(path, 0, box, _results(row, _PICTURE_ENTRY)),)
            else:
                known = texts.setdefault(path, {})
                known.setdefault(_query(row), TextCall(path, len(known), _query(row), _results(row, _PAGE_ENTRY)))
        elif row["tool"] == "image_search_tool" and (row.get("meta") or {}).get("iou") is not None:
            pictures.setdefault(path, (PictureCall(path, 0, box, ()),))  # a call was recorded: which is not shown here
    return ReverseCache(pictures, {path: _sort_by_call(known, corpus) for path, known in texts.items()})


def is_known(row: Row, cache: ReverseCache) -> bool:
    """Whether the cache has what a row shows of the recordings."""
    if not _shows_results(row):
        return True
    if row["tool"] == "image_search_tool":
        return any(call.results for call in cache.pictures.get(row["image"], ()))
    return any(call.query == _query(row) for call in cache.texts.get(row["image"], ()))


def _shows_results(row: Row) -> bool:
    meta = row.get("meta") or {}
    return bool(meta.get("cache_hit") and meta.get("_n_total_results"))


def _query(row: Row) -> str:
    heading = _HEADING.match(row["returned"]["text"])
    return heading[1] if heading is not None else ""


def _synthetic_results(path: str) -> tuple[CachedResult, ...] | None:
    """What was recorded for the photos whose names say it: nothing readable, or many results; None for others."""
    if _EMPTY_MARK in path:
        return ()
    if _MANY_MARK not in path:
        return None
    return tuple(
        CachedResult(
            i,
            f"Look-alike {i} {'in Testhaven' if i <= _MANY_USEFUL else 'elsewhere'}",
            useful=i <= _MANY_USEFUL,
            source=f"H{i}",
            link=f"https://h{i}.example/p",
        )
        for i in range(1, _MANY_RESULTS + 1)
    )


def _results(row: Row, pattern: re.Pattern[str]) -> tuple[CachedResult, ...]:
    useful = set((row.get("meta") or {}).get("_pos_indices_in_mixed", ()))
    found = []
    for number, title, second, third in pattern.findall(row["returned"]["text"]):
        at = _NUMBER.search(title)
        fields = {"source": second, "link": third} if pattern is _PICTURE_ENTRY else {"link": second, "text": third}
        found.append(CachedResult(int(at[0]) if at else 0, title, useful=int(number) in useful, **fields))
    return tuple(sorted(found, key=lambda result: result.position))


def _recorded_box(corpus: Corpus) -> Box:
    x0, y0, x1, y1 = json.loads(_tables(corpus)["image_search_cache.parquet"]["rows"][0]["bbox"])
    return x0, y0, x1, y1


def _sort_by_call(known: Mapping[str, TextCall], corpus: Corpus) -> tuple[TextCall, ...]:
    """In the order of the calls that the schema's rows state."""
    order = {row["query"]: row["call_idx"] for row in _tables(corpus)["text_search_cache.parquet"]["rows"]}
    return tuple(sorted(known.values(), key=lambda call: order.get(call.query, len(order))))


def _tables(corpus: Corpus) -> Mapping[str, Any]:
    tables: Mapping[str, Any] = corpus.other_file("reverse", "cache_schema")["training"]
    return tables
