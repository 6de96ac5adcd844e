"""The recorded searches that the rows of training rest on.

The corpus states the box of the photo's first recorded call; which results were recorded, and which were useful, shows
in what its rows return: all of them, in random order, as long as there are fewer than are shown at most.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from deployments.conformance.corpus import Corpus, Row
from tts.toolkit.reverse_cache.calls import Box, CachedResult, PictureCall, ReverseCache, TextCall

_SHOWN_MOST: Final = 10
_PICTURE: Final = re.compile(r"^\[(\d+)\] (.*)\n    Source: (.*)\n    Link: (.*)$", re.MULTILINE)
_PAGE: Final = re.compile(r"^\[(\d+)\] (.*)\n    URL: (.*)\n    (.*)$", re.MULTILINE)
_HEADING: Final = re.compile(r"^Web search results for: (.*)$", re.MULTILINE)
_NUMBER: Final = re.compile(r"\d+")


@lru_cache(maxsize=2)
def recorded(folder: Path) -> ReverseCache:
    """The cache behind the rows of a corpus."""
    corpus = Corpus(folder)
    rows = [row for row in corpus.rows("reverse", "tools") if row["path"] == "rl"]
    box = _recorded_box(corpus)
    pictures: dict[str, tuple[PictureCall, ...]] = {}
    texts: dict[str, dict[str, TextCall]] = {}
    for row in rows:
        meta, path = row.get("meta") or {}, row["image"]
        if row["tool"] == "image_search_tool" and meta.get("iou") is not None:
            found = _results(row, _PICTURE)
            if found or path not in pictures:
                pictures[path] = (PictureCall(path, 0, box, found),)
        if row["tool"] == "text_search_tool" and meta.get("cache_hit"):
            heading = _HEADING.match(row["returned"]["text"])
            query = heading[1] if heading is not None else ""
            known = texts.setdefault(path, {})
            known.setdefault(query, TextCall(path, len(known), query, _results(row, _PAGE)))
    return ReverseCache(pictures, {path: _numbered(known, corpus) for path, known in texts.items()})


def is_complete(row: Row) -> bool:
    """Whether all that was recorded is shown."""
    return int((row.get("meta") or {}).get("_n_total_results", 0)) < _SHOWN_MOST


def _results(row: Row, pattern: re.Pattern[str]) -> tuple[CachedResult, ...]:
    useful = set((row.get("meta") or {}).get("_pos_indices_in_mixed", ()))
    found = []
    for number, title, second, third in pattern.findall(row["returned"]["text"]):
        at = _NUMBER.search(title)
        fields = {"source": second, "link": third} if pattern is _PICTURE else {"link": second, "text": third}
        found.append(CachedResult(int(at[0]) if at else 0, title, useful=int(number) in useful, **fields))
    return tuple(sorted(found, key=lambda result: result.position))


def _recorded_box(corpus: Corpus) -> Box:
    x0, y0, x1, y1 = json.loads(_tables(corpus)["image_search_cache.parquet"]["rows"][0]["bbox"])
    return x0, y0, x1, y1


def _numbered(known: Mapping[str, TextCall], corpus: Corpus) -> tuple[TextCall, ...]:
    """In the order of the calls that the schema's rows state."""
    order = {row["query"]: row["call_idx"] for row in _tables(corpus)["text_search_cache.parquet"]["rows"]}
    return tuple(sorted(known.values(), key=lambda call: order.get(call.query, len(order))))


def _tables(corpus: Corpus) -> Mapping[str, Any]:
    tables: Mapping[str, Any] = corpus.other("reverse", "cache_schema")["training"]
    return tables
