"""A run that is read while its events come."""

import gc

from tts.domain.answer import StopReason
from tts.domain.events import RolloutFinished, RolloutResumed, RolloutStarted, Text
from tts.domain.trajectory import Run, fold
from tts.growing_run import GrowingRun


def test_the_run_is_the_same_whenever_it_is_read():
    events = [
        RolloutStarted(seq=1, rollout_id=0),
        Text(seq=2, rollout_id=0, turn=0, text="a"),
        Text(seq=3, rollout_id=1, turn=0, text="b"),
        Text(seq=4, rollout_id=0, turn=0, text="c"),
        RolloutResumed(seq=5, rollout_id=0, from_turn=-1),
        Text(seq=6, rollout_id=0, turn=0, text="again"),
        RolloutFinished(seq=7, rollout_id=0, stop_reason=StopReason.ANSWERED),
    ]
    often, once = GrowingRun(Run()), GrowingRun(Run())
    for n, event in enumerate(events, 1):
        often.add(event)
        once.add(event)
        assert often.run == fold(events[:n])
    assert once.run == often.run == fold(events)
    assert once.run.rollouts[0].turns[0].text == "again"


def test_a_run_goes_on_from_where_another_process_stopped():
    before = fold([Text(seq=1, rollout_id=0, turn=0, text="so far, ")])
    growing = GrowingRun(before)
    growing.add(Text(seq=2, rollout_id=0, turn=0, text="so good"))
    assert growing.run.rollouts[0].turns[0].text == "so far, so good"
    assert before.rollouts[0].turns[0].text == "so far, "


def test_the_pieces_of_a_long_text_do_not_stay_in_memory_until_the_run_is_read():
    growing, text = GrowingRun(Run()), "x" * 5000
    before = sum(isinstance(each, Text) for each in gc.get_objects())
    for seq, piece in enumerate(text, 1):
        growing.add(Text(seq=seq, rollout_id=0, turn=0, text=piece))
    assert sum(isinstance(each, Text) for each in gc.get_objects()) - before < 1000
    assert growing.run.rollouts[0].turns[0].text == text
