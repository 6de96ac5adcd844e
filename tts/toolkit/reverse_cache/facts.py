"""Recorded results as the facts of a tool result."""

from __future__ import annotations

from collections.abc import Iterable

from tts.domain.tooling import WebFact
from tts.toolkit.reverse_cache.recorded_searches import CachedResult


def as_facts(results: Iterable[CachedResult], query: str = "") -> tuple[WebFact, ...]:
    """Turn the results of a call into facts.

    Args:
        results: those of one call; those with neither a title nor a link are left out.
        query: the query that found them; "" for a search by picture.

    Returns:
        Facts that are numbered from 1 in the order given. None if the results of the call could not be read.
    """
    readable = [result for result in results if result.title or result.link]
    return tuple(
        WebFact(
            number=number,
            title=result.title,
            snippet=result.text,
            url=result.link,
            query=query,
            source=result.source or "tape",
        )
        for number, result in enumerate(readable, 1)
    )
