"""What rollouts write goes out in as few pieces as are taken, and in the order in which it was said."""

from hypothesis import given
from hypothesis import strategies as st
from support.basics import virtual_time

from tts.domain.answer import StopReason
from tts.domain.events import RolloutFinished, Text
from tts.rollout.text_coalescer import PendingText, TextCoalescer, to_events

TAKE = "<take>"
PAUSE = "<pause>"
steps = st.lists(st.one_of(st.sampled_from([TAKE, PAUSE]), st.text(min_size=1, max_size=3)), max_size=30)


class Way:
    """Between a rollout and its reader."""

    def __init__(self):
        self.waiting = []
        self.taken = []

    async def send(self, item):
        self.waiting.append(item)

    def take(self):
        self.taken += to_events(self.waiting)
        self.waiting.clear()


async def coalesce(script):
    way = Way()
    speech = TextCoalescer(2, 1, way.send)
    for step in script:
        if step == TAKE:
            way.take()
        elif step == PAUSE:
            speech.pause()
        else:
            await speech.append(step)
    way.take()
    return way.taken


@virtual_time
async def test_words_that_nobody_took_yet_are_joined_into_one_piece():
    (piece,) = await coalesce(["a ", "sign ", "says"])
    assert piece == Text(rollout_id=2, turn=1, text="a sign says")


@virtual_time
async def test_a_piece_that_was_taken_does_not_grow():
    pieces = await coalesce(["a ", "sign", TAKE, " says"])
    assert [piece.text for piece in pieces] == ["a sign", " says"]


@virtual_time
async def test_rollouts_do_not_mix_and_milestones_stay_in_their_place():
    way = Way()
    mine, other = TextCoalescer(0, 0, way.send), TextCoalescer(1, 0, way.send)
    end = RolloutFinished(rollout_id=0, stop_reason=StopReason.ANSWERED)
    await mine.append("a")
    await other.append("x")
    await mine.append("b")
    await way.send(end)
    mine.pause()
    await other.append("y")
    await mine.append("c")
    way.take()
    assert [getattr(item, "text", "|") for item in way.taken] == ["ab", "xy", "|", "c"]


@given(steps)
def test_the_coalescer_neither_loses_doubles_nor_reorders_text(script):
    @virtual_time
    async def checked():
        taken = await coalesce(script)
        texts = [step for step in script if step not in (TAKE, PAUSE)]
        assert "".join(piece.text for piece in taken) == "".join(texts)
        assert len(taken) <= len(texts)

    checked()


def test_events_that_are_no_text_pass_unchanged():
    end = RolloutFinished(rollout_id=0, stop_reason=StopReason.ANSWERED)
    assert to_events([end, PendingText(0, 0, ["x"])]) == [end, Text(rollout_id=0, turn=0, text="x")]
