"""Numbers the events that close a log which did not come to its own end."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from deployments.runstore import LogEntry
from tts.domain.answer import StopReason
from tts.domain.events import Done, Event, Failed


def ends_of_failure(code: str, status: int, detail: str) -> tuple[Event, Event]:
    """The error and the end of a request that failed."""
    return Failed(code=code, status=status, detail=detail), Done(stop_reason=StopReason.FAILED)


def number_closing_events(ends: Sequence[Event], last_seq: int, elapsed_s: float) -> list[Event]:
    """Copies of `ends` with the numbers after `last_seq`, at `elapsed_s` seconds since the start of the request."""
    t_s = round(max(0.0, elapsed_s), 4)
    return [end.model_copy(update={"seq": seq, "t_s": t_s}) for seq, end in enumerate(ends, last_seq + 1)]


def seconds_of(last_entry: LogEntry | None) -> float:
    """Seconds from the start of a request to an entry of its log; 0 without one, and for one that cannot be read: a log
    is closed whatever is in it."""
    try:
        return 0.0 if last_entry is None else float(orjson.loads(last_entry.payload)["t_s"])
    except (ValueError, KeyError, TypeError):
        return 0.0
