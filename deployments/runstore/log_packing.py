"""Compresses the log of a request into one value when the request has ended and has no readers.

Pieces of text that follow each other become one event with the `seq` of the last. The end of each piece is kept, so
that a reader that has some of the pieces gets the rest of the text and nothing twice.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from deployments.runstore.port import LogEntry

_TEXT_EVENTS = frozenset({"text", "verifier_text"})


def pack_entries(entries: Iterable[LogEntry]) -> bytes:
    """The log as one value. What stands between other events stays between them."""
    lines = [orjson.dumps(line) for line in _merge_pieces(entries)]
    return zlib.compress(b"\n".join(lines), 6)


def unpack_entries(value: bytes, *, after: int = 0, most: int | None = None) -> list[LogEntry]:
    """The entries with a `seq` above `after`, at most so many; the first may be the rest of a merged one."""
    found: list[LogEntry] = []
    for line in zlib.decompress(value).splitlines():
        seq, kind, event, cuts = orjson.loads(line)
        if seq <= after:
            continue
        if cuts and cuts[0][0] <= after:
            start = max(end for cut, end in cuts if cut <= after)
            event = {**event, "text": event["text"][start:]}
        found.append(LogEntry(seq, kind, orjson.dumps(event)))
        if most is not None and len(found) >= most:
            break
    return found


def _merge_pieces(entries: Iterable[LogEntry]) -> Iterator[list[Any]]:
    """[seq, kind, event, cuts] for each event that is left; a cut is [seq of a piece, characters up to its end].

    Only pieces without anything between them are put together: whoever has an event has all that was before it.
    """
    waiting: list[Any] | None = None
    for entry in entries:
        event = orjson.loads(entry.payload)
        if (
            waiting is not None
            and entry.kind in _TEXT_EVENTS
            and _merge_key(entry.kind, event) == _merge_key(*waiting[1:3])
        ):
            text = waiting[2]["text"] + event["text"]
            waiting = [entry.seq, entry.kind, {**event, "text": text}, [*waiting[3], [entry.seq, len(text)]]]
            continue
        if waiting is not None:
            yield waiting
        waiting = [
            entry.seq,
            entry.kind,
            event,
            [[entry.seq, len(event["text"])]] if entry.kind in _TEXT_EVENTS else [],
        ]
    if waiting is not None:
        yield waiting


def _merge_key(kind: str, event: dict[str, Any]) -> tuple[Any, ...]:
    return kind, event.get("rollout_id"), event.get("turn")
