from hypothesis import given
from hypothesis import strategies as st

from tts.domain.answer import StopReason
from tts.domain.events import (
    Hypothesised,
    RolloutFinished,
    RolloutResumed,
    RolloutStarted,
    Text,
    ToolCalled,
    ToolResulted,
    TurnFinished,
)
from tts.domain.geo import LatLon
from tts.domain.hypothesis import Hypothesis
from tts.domain.tooling import ToolCall, ToolResult
from tts.domain.trajectory import Run, fold
from tts.domain.usage import Usage

PARIS = Hypothesis(point=LatLon(lat=48.85, lon=2.35), city="Paris")
rollouts = st.integers(0, 2)
turns = st.integers(0, 3)
results = st.builds(ToolResult, call_id=st.sampled_from("ab"), name=st.just("geocode"), text=st.text(max_size=5))
anything = st.one_of(
    st.builds(RolloutStarted, rollout_id=rollouts, seed=st.integers(0, 9)),
    st.builds(Text, rollout_id=rollouts, turn=turns, text=st.text(max_size=5)),
    st.builds(
        ToolCalled, rollout_id=rollouts, turn=turns, call=st.builds(ToolCall, id=st.just("a"), name=st.just("t"))
    ),
    st.builds(ToolResulted, rollout_id=rollouts, turn=turns, result=results),
    st.builds(Hypothesised, rollout_id=rollouts, turn=turns, hypothesis=st.sampled_from([PARIS, Hypothesis()])),
    st.builds(TurnFinished, rollout_id=rollouts, turn=turns, usage=st.builds(Usage, turns=st.integers(0, 9))),
    st.builds(RolloutResumed, rollout_id=rollouts, from_turn=st.integers(-1, 3)),
    st.builds(RolloutFinished, rollout_id=rollouts, stop_reason=st.sampled_from(list(StopReason))),
)
streams = st.lists(anything, max_size=40)


def numbered(events):
    return [event.model_copy(update={"seq": i + 1}) for i, event in enumerate(events)]


@given(streams, st.integers(0, 40))
def test_folding_is_incremental(events, cut):
    assert fold(events) == fold(events[cut:], fold(events[:cut]))


@given(streams)
def test_folding_does_not_depend_on_how_text_was_cut(events):
    letters = [
        event.model_copy(update={"text": letter}) if isinstance(event, Text) else event
        for event in events
        for letter in (event.text if isinstance(event, Text) and event.text else [""])
    ]
    assert fold(letters) == fold(events)


@given(streams, st.integers(0, 40), st.integers(0, 40))
def test_folding_events_again_does_not_change_the_run(events, start, end):
    whole = numbered(events)
    assert fold(whole[start:end], fold(whole)) == fold(whole)
    assert fold(whole).last_seq == len(whole)


@given(streams)
def test_a_run_survives_json(events):
    run = fold(events)
    assert Run.model_validate_json(run.json_bytes()) == run


def test_resuming_drops_what_came_after_the_checkpoint():
    events = [
        RolloutStarted(rollout_id=0),
        Text(rollout_id=0, turn=0, text="kept"),
        TurnFinished(rollout_id=0, turn=0, usage=Usage(turns=1, tool_calls=2)),
        Text(rollout_id=0, turn=1, text="lost when the replica died"),
        ToolCalled(rollout_id=0, turn=1, call=ToolCall(id="x", name="geocode")),
        RolloutResumed(rollout_id=0, from_turn=0),
        Text(rollout_id=0, turn=1, text="said again"),
    ]
    (trajectory,) = fold(events).trajectories
    assert [turn.text for turn in trajectory.turns] == ["kept", "said again"]
    assert trajectory.turns[1].calls == ()
    assert (trajectory.resumed, trajectory.usage.tool_calls) == (1, 2)


def test_an_unanswered_rollout_still_has_its_best_hypothesis():
    lyon = Hypothesis(point=LatLon(lat=45.76, lon=4.84), city="Lyon")
    events = [
        Hypothesised(rollout_id=0, turn=0, hypothesis=PARIS),
        Hypothesised(rollout_id=0, turn=1, hypothesis=lyon),
        Hypothesised(rollout_id=0, turn=2, hypothesis=Hypothesis()),
    ]
    assert fold(events).trajectories[0].best == lyon
    assert fold([RolloutStarted(rollout_id=1)]).trajectories[0].best is None
