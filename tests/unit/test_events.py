import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from support import golden

from tts.domain.answer import StopReason
from tts.domain.events import (
    EVENT,
    SCHEMA_VERSION,
    Done,
    RolloutFinished,
    Sequencer,
    Text,
    TurnFinished,
    VerifierText,
    merge_text,
    parse_event,
)
from tts.domain.usage import Usage


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


pieces = st.lists(
    st.one_of(
        st.builds(Text, rollout_id=st.integers(0, 2), turn=st.integers(0, 1), text=st.text(max_size=4)),
        st.builds(TurnFinished, rollout_id=st.integers(0, 2), turn=st.integers(0, 1), usage=st.just(Usage())),
        st.builds(VerifierText, text=st.text(max_size=3)),
    ),
    max_size=30,
)


def said(events):
    """What each rollout said between its own milestones, in order."""
    story = {}
    for event in events:
        if isinstance(event, Text):
            lines = story.setdefault(event.rollout_id, [])
            if lines and lines[-1][0] == ("text", event.turn):
                lines[-1] = (lines[-1][0], lines[-1][1] + event.text)
            else:
                lines.append((("text", event.turn), event.text))
        elif isinstance(event, TurnFinished):
            story.setdefault(event.rollout_id, []).append((("finished", event.turn), ""))
    return story


@given(pieces)
def test_merging_changes_nothing_a_rollout_said(events):
    merged = merge_text(events)
    assert said(merged) == said(events)
    assert [e for e in merged if not isinstance(e, Text)] == [e for e in events if not isinstance(e, Text)]
    assert len(merged) <= len(events)


def test_text_merges_across_siblings_but_not_across_its_own_milestones():
    def text(rollout, piece):
        return Text(rollout_id=rollout, turn=0, text=piece)

    end = RolloutFinished(rollout_id=0, stop_reason=StopReason.ANSWERED)
    merged = merge_text([text(0, "a"), text(1, "x"), text(0, "b"), end, text(1, "y"), text(0, "c")])
    assert [getattr(e, "text", "|") for e in merged] == ["ab", "xy", "|", "c"]


def test_the_sequencer_counts_from_one_without_gaps():
    now = iter([10.0, 10.5, 12.0])
    number = Sequencer(clock=lambda: next(now))
    first, second = (number(VerifierText(text="x")) for _ in range(2))
    assert [(e.seq, e.t_s) for e in (first, second)] == [(1, 0.5), (2, 2.0)]
