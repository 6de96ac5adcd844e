"""What a generation costs of a GPU until it is cut off: with what the others report, it is the time that the engine
worked."""

import asyncio
from contextlib import suppress
from types import SimpleNamespace

import pytest
from support.basics import a_context

from tts.aio import cancel_and_wait, closing, spawn
from tts.config import VllmEngine
from tts.domain.messages import text_message
from tts.errors import ModelError
from tts.inference.unreported_gpu_time import UNREPORTED_GPU_TIME, UnreportedGpuTime
from tts.inference.vllm.engine import VllmModel
from tts.inference.vllm.seam import Piece
from tts.inference.vllm.shared_time import GpuCharge, SharedTime
from tts.ports.model_client import ModelRequest, Sampling

ID = a_context().id
GPUS = 2.0


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


class Words:
    """An engine that writes two words, and does not go on while `held`."""

    block_size = 16
    gpus = GPUS
    unfinished = 0
    stats = None

    def __init__(self):
        self.held = asyncio.Event()
        self.held.set()
        self.tokenizer = SimpleNamespace(
            end_of_turn=0,
            lists_tools=True,
            render=lambda messages, tools: "".join(str(message["content"]) for message in messages),
            encode=lambda text: [ord(letter) for letter in text],
        )

    async def generate(self, generation):
        await self.held.wait()
        yield Piece("one ", (1,), prompt_tokens=5)
        yield Piece("two", (2,), "stop", prompt_tokens=5)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def seam():
    return Words()


@pytest.fixture
def model(clock, seam):
    return VllmModel(VllmEngine(model="m"), seam, time=SharedTime(clock))


@pytest.fixture(autouse=True)
def _nothing_left():
    UNREPORTED_GPU_TIME.take(ID)
    yield
    assert not UNREPORTED_GPU_TIME.has_seconds(ID)


def a_turn(rollout):
    return ModelRequest(a_context(), f"{ID}/{rollout}", (text_message("user", "Where?"),), Sampling(seed=1))


async def test_a_cut_off_generation_and_its_neighbour_cost_the_time_the_engine_worked(clock, model):
    async with closing(model.generate(a_turn(0))) as kept:
        async with closing(model.generate(a_turn(1))) as cut:
            await anext(kept)
            await anext(cut)
            clock.now = 3.0
        clock.now = 5.0
        usage = (await anext(kept)).usage
        clock.now = 9.0  # nothing runs any more; its reader is slow
    assert usage.gpu_s == GPUS * (3 / 2 + 2)
    assert UNREPORTED_GPU_TIME.take(ID) == GPUS * 3 / 2
    assert model._gpu_time._n_running == 0


@pytest.mark.parametrize("draws", [False, True], ids=["a turn", "draws"])
async def test_a_generation_cancelled_before_its_first_token_costs_its_gpu_time(clock, seam, model, draws):
    async def turn():
        return [delta async for delta in model.generate(a_turn(0))]

    seam.held.clear()
    task = spawn(model.draw(a_turn(0), 3) if draws else turn(), name="cut")
    await asyncio.sleep(0.01)
    clock.now = 4.0
    with suppress(asyncio.CancelledError):
        await cancel_and_wait(task)
    clock.now = 5.0
    assert UNREPORTED_GPU_TIME.take(ID) == GPUS * 4


async def test_a_generation_that_fails_costs_its_gpu_time(clock, seam, model):
    async def failing(generation):
        yield Piece("one ", (1,), prompt_tokens=5)
        clock.now = 2.0
        raise RuntimeError

    seam.generate = failing
    with pytest.raises(ModelError):
        _ = [delta async for delta in model.generate(a_turn(0))]
    assert UNREPORTED_GPU_TIME.take(ID) == GPUS * 2


async def test_gpu_time_reported_while_a_generation_runs_is_subtracted_at_its_end(clock, model):
    passed_on = []
    async with closing(model.generate(a_turn(0))) as deltas:
        await anext(deltas)
        for now in (1.0, 2.5):
            clock.now = now
            passed_on.append(UNREPORTED_GPU_TIME.take(ID))
        assert passed_on == [GPUS * 1.0, GPUS * 1.5]
        clock.now = 4.0
        usage = (await anext(deltas)).usage
        passed_on.append(UNREPORTED_GPU_TIME.take(ID))
    assert usage.gpu_s == GPUS * 4
    assert sum(passed_on) == pytest.approx(0.0)


async def test_gpu_time_reported_before_a_generation_is_cut_off_is_not_counted_twice(clock, model):
    async with closing(model.generate(a_turn(0))) as deltas:
        await anext(deltas)
        clock.now = 1.0
        first = UNREPORTED_GPU_TIME.take(ID)
        clock.now = 4.0
    assert (first, UNREPORTED_GPU_TIME.take(ID)) == (GPUS * 1, GPUS * 3)


def test_gpu_time_without_a_request_or_of_old_requests_is_not_kept(clock):
    unreported, shared = UnreportedGpuTime(), SharedTime(clock)
    with unreported.track_generation("", GpuCharge(shared, 1.0)):
        clock.now = 1.0
    assert not unreported.has_seconds("")
    for number in range(10_001):
        unreported.add(f"loc_{number}", 1.0)
    assert not unreported.has_seconds("loc_0")
    assert unreported.has_seconds("loc_1")
