"""The engine that plays a script takes as long as it says."""

from types import SimpleNamespace

import pytest
from support.basics import a_context

from tts.config import ScriptedEngine
from tts.inference.scripted import engine as scripted
from tts.ports.model_client import ModelRequest, Sampling


class Clock:
    """A clock that sleeping moves on, and every turn of a busy loop by `busy_s` more."""

    def __init__(self, busy_s=0.0):
        self.now = 100.0
        self.busy_s = busy_s

    def time(self):
        return self.now

    async def sleep(self, seconds):
        self.now += max(seconds, self.busy_s)


@pytest.fixture
def taken(monkeypatch):
    """Seconds from asking to each token."""

    async def measure(clock, **config):
        monkeypatch.setattr(scripted, "asyncio", SimpleNamespace(sleep=clock.sleep, get_running_loop=lambda: clock))
        request = ModelRequest(context=a_context(), session_id="loc_test/0", messages=(), sampling=Sampling(seed=1))
        asked = clock.now
        engine = scripted.ScriptedModel(ScriptedEngine(turns=1, **config))
        return [clock.now - asked async for delta in engine.generate(request) if delta.text]

    return measure


async def test_tokens_come_in_equal_steps_and_the_last_when_the_turn_is_over(taken):
    times = await taken(Clock(), tokens_per_turn=4, turn_s=0.2)
    step = 0.2 / len(times)
    assert times == pytest.approx([step * (i + 1) for i in range(len(times))])


async def test_a_busy_event_loop_does_not_make_a_turn_longer(taken):
    assert (await taken(Clock(busy_s=0.03), tokens_per_turn=4, turn_s=1.0))[-1] == pytest.approx(1.0)


async def test_a_turn_of_zero_seconds_takes_no_time(taken):
    assert set(await taken(Clock(), tokens_per_turn=4, turn_s=0.0)) == {0.0}
