"""Decodes values of a store to which gateways of other releases write, or which is damaged.

While a service is upgraded its gateways share one store: additions of a newer release are ignored; a value that cannot
be read raises StoreUnavailable with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar, get_args

from pydantic import ValidationError

from deployments.runstore.port import LogEntry, StoreUnavailable
from tts.domain.events import Event, parse_event
from tts.domain.value import Value

V = TypeVar("V", bound=Value)
_EVENT_KINDS = frozenset(model.model_fields["type"].default for model in get_args(get_args(Event)[0]))


def event_of(entry: LogEntry) -> Event | None:
    """None for a kind of event that this release does not know. Raises StoreUnavailable for one it cannot read."""
    if entry.kind not in _EVENT_KINDS:
        return None
    try:
        return parse_event(entry.payload)
    except ValidationError as error:
        raise _unreadable_error() from error


def events_of(entries: Iterable[LogEntry]) -> list[Event]:
    """The events of some entries, as `event_of` has them; those of unknown kinds are left out."""
    return [event for entry in entries if (event := event_of(entry)) is not None]


def value_of(kind: type[V], raw: bytes | str) -> V:
    """Raises StoreUnavailable for what is no value of this kind."""
    try:
        return kind.model_validate_json(raw)
    except ValidationError as error:
        raise _unreadable_error() from error


def _unreadable_error() -> StoreUnavailable:
    return StoreUnavailable(
        "this gateway cannot read what the run store has: a newer release wrote it, or it is damaged"
    )
