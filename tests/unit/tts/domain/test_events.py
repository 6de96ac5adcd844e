import json
from typing import Any

import pytest
from pydantic import ValidationError
from support.basics import golden

from tts.domain.answer import StopReason
from tts.domain.events import (
    EVENT,
    SCHEMA_VERSION,
    Done,
    RolloutStarted,
    Sequencer,
    Text,
    ToolCalled,
    ToolResulted,
    VerifierText,
    parse_event,
)
from tts.domain.tooling import ToolCall, ToolResult
from tts.domain.trajectory import fold


def test_the_schema_of_events_equals_the_golden_file():
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
def test_text_that_is_no_event_is_refused(raw):
    with pytest.raises(ValidationError):
        parse_event(raw)


def test_events_are_immutable():
    event: Any = Done(stop_reason=StopReason.ANSWERED)
    with pytest.raises(ValidationError):
        event.seq = 5


def test_the_sequencer_counts_from_one_without_gaps():
    now = iter([10.0, 10.5, 12.0])
    number = Sequencer(clock=lambda: next(now))
    first, second = (number(VerifierText(text="x")) for _ in range(2))
    assert [(e.seq, e.t_s) for e in (first, second)] == [(1, 0.5), (2, 2.0)]


def test_calls_of_the_verifier_are_in_no_rollout():
    call, result = ToolCall(id="v", name="web_search"), ToolResult(call_id="v", name="web_search", text="found")
    run = fold(
        [
            RolloutStarted(rollout_id=0),
            ToolCalled(rollout_id=1, turn=0, call=call, asker="verifier"),
            ToolResulted(rollout_id=1, turn=0, result=result, asker="verifier"),
        ]
    )
    assert set(run.rollouts) == {0}
    assert [(turn.calls, turn.results) for turn in run.inquiry] == [((call,), (result,))]


def test_the_asker_is_written_only_where_it_is_the_verifier():
    call = ToolCall(id="v", name="web_search")
    assert b"asker" not in ToolCalled(rollout_id=0, turn=0, call=call).json_bytes()
    written = ToolCalled(rollout_id=0, turn=0, call=call, asker="verifier").json_bytes()
    assert parse_event(written).asker == "verifier"
