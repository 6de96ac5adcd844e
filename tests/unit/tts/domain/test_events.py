import json

import pytest
from pydantic import ValidationError
from support.basics import golden

from tts.domain.answer import StopReason
from tts.domain.events import (
    EVENT,
    SCHEMA_VERSION,
    Done,
    Sequencer,
    Text,
    VerifierText,
    parse_event,
)


def test_names_and_shapes_are_frozen():
    """A change here is a change for every client: bump SCHEMA_VERSION and say so in the changelog."""
    schema = {"schema_version": SCHEMA_VERSION, "event": EVENT.json_schema()}
    golden("events.json", json.dumps(schema, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def test_an_event_survives_the_wire():
    event = Text(rollout_id=3, turn=1, text="крупно: “АПТЕКА” 🏥\n", seq=7, t_s=1.5)
    assert parse_event(event.json_bytes()) == event
    assert json.loads(event.json_bytes()) == event.jsonable()


@pytest.mark.parametrize(
    "raw", ['{"type": "unknown"}', '{"type": "text"}', "[]", '{"type": "done", "stop_reason": "x"}', "nonsense"]
)
def test_what_is_no_event_is_refused(raw):
    with pytest.raises(ValidationError):
        parse_event(raw)


def test_events_are_immutable():
    event = Done(stop_reason=StopReason.ANSWERED)
    with pytest.raises(ValidationError):
        event.seq = 5


def test_the_sequencer_counts_from_one_without_gaps():
    now = iter([10.0, 10.5, 12.0])
    number = Sequencer(clock=lambda: next(now))
    first, second = (number(VerifierText(text="x")) for _ in range(2))
    assert [(e.seq, e.t_s) for e in (first, second)] == [(1, 0.5), (2, 2.0)]
