"""The scripted engine can have a KV cache of a size: what does not fit waits, and the last comer is put back."""

import asyncio

from support.basics import a_context

from tts.aio import run_all
from tts.config import ScriptedEngine
from tts.domain.messages import text_message
from tts.domain.usage import Usage
from tts.inference.scripted.engine import ScriptedModel
from tts.inference.simulated_kv import SimulatedKv
from tts.ports.engine_offers import EngineCapacity
from tts.ports.model_client import ModelRequest, Sampling

PROMPT = 100
WORDS = 40


async def all_used(engine, n):
    """What each of `n` generations begun together used, in their order."""
    found = {}

    async def one(i):
        request = ModelRequest(
            context=a_context(),
            session_id=f"loc_test/{i}",
            messages=(text_message("user", "x" * 4 * PROMPT),),
            sampling=Sampling(seed=1),
        )
        deltas = [delta async for delta in engine.generate(request)]
        found[i] = deltas[-1].usage

    await run_all([one(i) for i in range(n)])
    return [found[i] for i in range(n)]


def scripted(kv_tokens):
    return ScriptedModel(ScriptedEngine(turns=1, tokens_per_turn=WORDS, turn_s=0.2, kv_tokens=kv_tokens))


async def test_a_cache_with_room_for_all_generations_preempts_none():
    assert sum((await all_used(scripted(4 * 2 * PROMPT), 4)), Usage()).preempted_tokens == 0


async def test_a_full_cache_preempts_the_last_generation_which_ends_all_the_same():
    engine = scripted(2 * PROMPT + WORDS)
    first, second = await all_used(engine, 2)
    assert first.preempted_tokens == 0
    assert second.preempted_tokens > PROMPT
    assert second.completion_tokens == first.completion_tokens
    assert (engine.kv_used_tokens, engine.running) == (0, 0)


async def test_a_generation_that_does_not_fit_waits_for_those_before_it():
    engine = scripted(PROMPT + 2 * WORDS)
    used = await all_used(engine, 3)
    assert [one.preempted_tokens for one in used] == [0, 0, 0]
    assert all(one.completion_tokens for one in used)


async def test_a_single_generation_fits_into_a_cache_of_any_size():
    assert (await all_used(scripted(10), 1))[0].completion_tokens > 10


async def test_a_generation_cancelled_while_it_waits_takes_no_room():
    kv = SimulatedKv(10)
    holding, waiting = kv.place(8), kv.place(8)
    await holding.enter()
    waiter = asyncio.create_task(waiting.enter())
    await asyncio.sleep(0)
    waiter.cancel()
    await asyncio.gather(waiter, return_exceptions=True)
    waiting.leave()
    assert kv.used_tokens == 8


def test_a_scripted_engine_reports_the_size_of_its_cache():
    assert isinstance(scripted(7), EngineCapacity)
    assert (scripted(7).kv_tokens, scripted(None).kv_tokens) == (7, None)
