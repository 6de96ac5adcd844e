"""Converts REVERSE's tables into tapes, and tapes into these tables.

A tape names photos by their hash and finds boxes and queries by similarity. It has no numbers of calls and no labels,
so these are lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from pydantic import ValidationError

from tts.domain import photo
from tts.toolkit.reverse_cache.facts import as_facts
from tts.toolkit.reverse_cache.recorded_searches import Box, CachedResult, PictureCall, ReverseCache, TextCall
from tts.toolkit.tape.similar_searches import Hits, SearchTape

_THOUSAND = 1000.0


def as_tape(cache: ReverseCache) -> SearchTape:
    """Convert the calls of the tables to a tape.

    Args:
        cache: the calls. Searches by picture whose box is empty are left out.

    Returns:
        A tape with every call under the SHA-256 of its photo; a photo that the table of photos does not name keeps its
        path as its name.
    """
    names = {path: sha256 for sha256, path in cache.paths.items()}
    tape = SearchTape()
    for path, pictures in cache.pictures.items():
        for call in pictures:
            if (box := _fractions(call.box)) is not None:
                tape.add_picture(names.get(path, path), box, as_facts(call.results))
    for texts in cache.texts.values():
        for text in texts:
            tape.add_text(text.query, as_facts(text.results, text.query))
    return tape


def as_tables(tape: SearchTape, paths: Mapping[str, str] | None = None) -> ReverseCache:
    """Convert the searches of a tape to calls of tables.

    Args:
        tape: the searches. No result of it counts as useful.
        paths: the path of each photo by its SHA-256; a photo without one keeps its hash as its path. None: no photo has
            one.

    Returns:
        The calls under the paths of their photos. Texts of a tape belong to no photo: each photo gets all of them.
    """
    named = paths or {}
    pictures = {
        named.get(sha256, sha256): tuple(
            PictureCall(named.get(sha256, sha256), number, _box_in_thousandths(box), _results(hits))
            for number, (box, hits) in enumerate(known)
        )
        for sha256, known in tape.pictures.items()
    }
    recorded = [(query, _results(hits)) for query, hits in tape.texts.items()]
    texts = {
        path: tuple(TextCall(path, number, query, results) for number, (query, results) in enumerate(recorded))
        for path in sorted({*pictures, *named.values()})
        if recorded
    }
    return ReverseCache(pictures=pictures, texts=texts, paths=dict(named))


def _fractions(box: Box) -> photo.Box | None:
    x0, y0, x1, y1 = (min(1.0, max(0.0, side / _THOUSAND)) for side in box)
    try:
        return photo.Box(x0=x0, y0=y0, x1=x1, y1=y1)
    except ValidationError:
        return None


def _box_in_thousandths(box: photo.Box) -> Box:
    sides = tuple(round(_THOUSAND * side, 3) for side in (box.x0, box.y0, box.x1, box.y1))
    return cast(Box, sides)


def _results(hits: Hits) -> tuple[CachedResult, ...]:
    return tuple(
        CachedResult(position=number, title=hit.title, link=hit.url, source=hit.source, text=hit.snippet)
        for number, hit in enumerate(hits, 1)
    )
