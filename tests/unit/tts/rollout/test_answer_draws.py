"""Answers drawn again from the same conversation: what they cost, what they may never cost, and what they are for."""

import asyncio
import json

import pytest
from support.basics import virtual_time
from support.dialect_rollouts import play_with

from tts.config import ScriptedEngine
from tts.dialects import DIALECTS
from tts.domain.answer import StopReason
from tts.domain.geo import LatLon
from tts.domain.plan import Limits
from tts.domain.usage import Usage
from tts.errors import ModelError
from tts.inference.scripted.engine import ScriptedModel
from tts.inference.token_estimate import prompt_tokens_about
from tts.ports.model_client import Delta

OTARU = (43.19, 140.99)
SAPPORO = (43.06, 141.35)


def answer(point):
    lat, lon = (None, None) if point is None else point
    return json.dumps({"lat": lat, "lon": lon, "city": "Otaru", "country": "Japan", "level": "city" if lat else "none"})


class Scattered:
    """Answers at once: the rollout with the first point, its draws with the others, in the order in which they come."""

    name = "scattered"

    def __init__(self, *points, hangs=False, fails=False):
        self.points = list(points)
        self.hangs = hangs
        self.fails = fails
        self.requests = []

    async def generate(self, request):
        self.requests.append(request)
        point = self.points[len(self.requests) - 1]
        if len(self.requests) > 1 and self.fails:
            raise ModelError("the engine is gone")
        if len(self.requests) > 1 and self.hangs:
            await asyncio.Event().wait()
        yield Delta(text=answer(point) if point != "call" else "Let me look again.")
        yield Delta(finish_reason="stop", usage=Usage(prompt_tokens=100, cached_tokens=90, completion_tokens=20))


async def play_rollout(photo, model, draws=4, **more):
    limits = Limits(answer_draws=draws, **more)
    return (await play_with(model, DIALECTS["generic"], photo, limits=limits, seconds=60.0)).end


@virtual_time
async def test_an_answer_is_drawn_again_from_the_same_conversation(sign_photo):
    model = Scattered(OTARU, OTARU, SAPPORO, None)
    end = await play_rollout(sign_photo, model)
    assert (end.answer.point.lat, end.answer.point.lon) == OTARU
    assert end.answer_draws == (LatLon(lat=43.19, lon=140.99), LatLon(lat=43.06, lon=141.35), None)
    first, *again = model.requests
    assert all(request.messages == first.messages for request in again)
    assert len({request.sampling.seed for request in model.requests}) == 4
    assert all(request.sampling.temperature > 0 for request in again)
    assert (end.usage.model_calls, end.usage.turns) == (4, 1)
    assert end.usage.completion_tokens == 4 * 20


@virtual_time
@pytest.mark.parametrize("draws", [None, 1])
async def test_an_answer_is_not_drawn_again_unless_the_limits_say_so(sign_photo, draws):
    model = Scattered(OTARU)
    end = await play_rollout(sign_photo, model, draws)
    assert (end.answer_draws, len(model.requests)) == ((), 1)


@virtual_time
async def test_a_draw_that_does_not_answer_is_left_out(sign_photo):
    end = await play_rollout(sign_photo, Scattered(OTARU, "call", SAPPORO, OTARU))
    assert len(end.answer_draws) == 2


@virtual_time
@pytest.mark.parametrize("fault", ["hangs", "fails"])
async def test_draws_that_fail_or_hang_cost_the_rollout_nothing_but_time(sign_photo, fault):
    started = asyncio.get_running_loop().time()
    end = await play_rollout(sign_photo, Scattered(OTARU, OTARU, OTARU, OTARU, **{fault: True}))
    assert (end.stop_reason, end.answer_draws) == (StopReason.ANSWERED, ())
    assert asyncio.get_running_loop().time() - started <= 30.0  # half of the time of the request


class Forking(Scattered):
    """Writes for four seconds; gives all draws together in as long, and counts those that were aborted."""

    forks_prompts = True

    def __init__(self, *points, call_first=False, says="", cut=(), draws_s=4.0, **more):
        super().__init__(*points, **more)
        self.call_first = call_first
        self.says = says
        self.cut = cut
        self.draws_s = draws_s
        self.drawn = []
        self.running = 0
        self.aborted = 0

    async def generate(self, request):
        self.requests.append(request)
        if self.call_first and len(self.requests) == 1:
            yield Delta(text="I look first.")
            yield Delta(finish_reason="stop", usage=Usage(prompt_tokens=100, completion_tokens=20))
            return
        yield Delta(text=" ")
        await asyncio.sleep(4.0)
        yield Delta(text=self.says or answer(self.points[0]))
        yield Delta(finish_reason="stop", usage=Usage(prompt_tokens=100, completion_tokens=20))

    async def draw(self, request, count):
        self.drawn.append((request, asyncio.get_running_loop().time()))
        self.running += 1
        try:
            await asyncio.sleep(1000.0 if self.hangs else self.draws_s)
        except asyncio.CancelledError:
            self.aborted += 1
            raise
        finally:
            self.running -= 1
        texts = [None if i in self.cut else answer(point) for i, point in enumerate(self.points[1 : 1 + count])]
        return tuple(texts), Usage(prompt_tokens=100 * count, cached_tokens=96 * count, completion_tokens=20 * count)


async def play_timed(photo, model, **more):
    started = asyncio.get_running_loop().time()
    return await play_rollout(photo, model, **more), asyncio.get_running_loop().time() - started


@virtual_time
async def test_an_engine_that_forks_prompts_draws_beside_the_answer_of_the_last_turn(sign_photo):
    model = Forking(OTARU, OTARU, SAPPORO, None)
    end, took = await play_timed(sign_photo, model, max_turns=1)
    assert took == pytest.approx(4.0)
    assert end.answer_draws == (LatLon(lat=43.19, lon=140.99), LatLon(lat=43.06, lon=141.35), None)
    ((drawn, _),) = model.drawn
    assert (drawn.messages, drawn.session_id) == (model.requests[0].messages, model.requests[0].session_id)
    assert drawn.sampling.seed != model.requests[0].sampling.seed
    assert (end.usage.model_calls, end.usage.turns, end.usage.completion_tokens) == (2, 1, 4 * 20)


class ForkingWithObserver(Forking):
    """Has an observer at work for three seconds before it writes."""

    async def generate(self, request):
        yield Delta(spent=Usage(model_calls=1))
        await asyncio.sleep(3.0)
        async for delta in super().generate(request):
            yield delta


@virtual_time
async def test_draws_do_not_begin_while_an_observer_still_describes_pictures(sign_photo):
    model = ForkingWithObserver(OTARU, OTARU, SAPPORO, None)
    started = asyncio.get_running_loop().time()
    end = await play_rollout(sign_photo, model, max_turns=1)
    ((_, drawn_at),) = model.drawn
    assert drawn_at - started == pytest.approx(3.0)
    assert len(end.answer_draws) == 3


@virtual_time
async def test_an_answer_before_the_last_turn_is_drawn_again_after_its_end(sign_photo):
    model = Forking(OTARU, OTARU, SAPPORO, OTARU)
    end, took = await play_timed(sign_photo, model)
    assert took == pytest.approx(8.0)
    assert len(end.answer_draws) == 3
    model = Forking(OTARU, OTARU, SAPPORO, OTARU, call_first=True)
    end, took = await play_timed(sign_photo, model, max_turns=2)
    assert took == pytest.approx(4.0), "the second turn is the last one"
    assert (len(end.answer_draws), len(model.drawn)) == (3, 1)


@virtual_time
async def test_draws_follow_the_answer_if_tokens_may_not_pay_for_both_at_once(sign_photo):
    model = Forking(OTARU, OTARU, SAPPORO, OTARU)
    end, took = await play_timed(sign_photo, model, max_turns=1, max_tokens=1200)
    assert (len(end.answer_draws), took) == (3, pytest.approx(8.0))


@virtual_time
async def test_a_draw_that_was_cut_off_is_not_made_again(sign_photo):
    model = Forking(OTARU, OTARU, SAPPORO, OTARU, cut=(1,))
    end, _ = await play_timed(sign_photo, model, max_turns=1)
    assert (len(end.answer_draws), len(model.requests)) == (2, 1)


@virtual_time
async def test_draws_beside_a_last_turn_that_does_not_answer_are_aborted(sign_photo):
    model = Forking(OTARU, OTARU, OTARU, OTARU, says="I do not see it.", hangs=True)
    end, took = await play_timed(sign_photo, model, max_turns=1)
    assert (end.answer_draws, end.stop_reason) == ((), StopReason.BUDGET)
    assert (model.running, model.aborted, took) == (0, 1, pytest.approx(4.0))
    read = prompt_tokens_about(model.requests[0].messages, model.requests[0].tools)
    assert end.usage.prompt_tokens == 100 + 3 * read, "aborted draws say nothing, but they have read the prompt"
    assert (end.usage.model_calls, end.usage.completion_tokens) == (2, 20)


@virtual_time
async def test_draws_that_end_before_a_turn_that_does_not_answer_are_counted(sign_photo):
    model = Forking(OTARU, OTARU, OTARU, OTARU, says="I do not see it.", draws_s=3.0)
    end, _ = await play_timed(sign_photo, model, max_turns=1)
    assert (end.answer_draws, model.aborted) == ((), 0)
    assert end.usage.prompt_tokens == 100 + 3 * 100


@virtual_time
async def test_a_cancelled_rollout_aborts_what_is_drawn_beside_its_answer(sign_photo):
    model = Forking(OTARU, OTARU, OTARU, OTARU)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(2.0):
            await play_rollout(sign_photo, model, max_turns=1)
    assert (len(model.drawn), model.running, model.aborted) == (1, 0, 1)


@virtual_time
async def test_the_remaining_tokens_limit_the_number_of_draws(sign_photo):
    model = Scattered(*[OTARU] * 9)
    end = await play_rollout(sign_photo, model, draws=8, max_tokens=1200)  # an answer may take 300 of them
    assert len(end.answer_draws) == (1200 - 20) // 300


class LongAnswers(Scattered):
    """Writes answers of `tokens` tokens, and cuts them off at the limit of the request, as engines do."""

    def __init__(self, *points, tokens, of_draws=None):
        super().__init__(*points)
        self.tokens = tokens
        self.of_draws = of_draws or tokens

    async def generate(self, request):
        self.requests.append(request)
        point = self.points[len(self.requests) - 1]
        whole = self.tokens if len(self.requests) == 1 else self.of_draws
        written = min(whole, request.sampling.max_tokens)
        yield Delta(text=answer(point) if point != "call" else "I look again.")
        yield Delta(
            finish_reason="length" if written < whole else "stop",
            usage=Usage(prompt_tokens=100, completion_tokens=written),
        )


@virtual_time
async def test_an_answer_of_700_tokens_loses_none_of_its_draws(sign_photo):
    model = LongAnswers(OTARU, OTARU, SAPPORO, OTARU, tokens=700)
    end = await play_rollout(sign_photo, model)
    assert len(end.answer_draws) == 3
    assert [request.sampling.max_tokens for request in model.requests[1:]] == [2 * 700] * 3


@virtual_time
async def test_a_draw_may_use_the_tokens_left_by_a_short_answer_up_to_the_limit_of_a_turn(sign_photo):
    short, long = LongAnswers(*[OTARU] * 4, tokens=100), LongAnswers(*[OTARU] * 4, tokens=1500)
    for model in (short, long):
        await play_rollout(sign_photo, model)
    assert {request.sampling.max_tokens for request in short.requests[1:]} == {512}
    turn, *drawn = (request.sampling.max_tokens for request in long.requests)
    assert 1500 < turn < 2 * 1500
    assert set(drawn) == {turn}


@virtual_time
async def test_a_draw_that_is_cut_off_all_the_same_is_left_out(sign_photo):
    model = LongAnswers(*[OTARU] * 4, tokens=300, of_draws=700)
    assert (await play_rollout(sign_photo, model)).answer_draws == ()


@virtual_time
async def test_the_length_of_earlier_turns_is_not_that_of_the_answer(sign_photo):
    model = LongAnswers("call", OTARU, OTARU, OTARU, OTARU, tokens=900, of_draws=300)
    end = await play_rollout(sign_photo, model)
    assert {request.sampling.max_tokens for request in model.requests[2:]} == {2 * 300}
    assert len(end.answer_draws) == 3


@virtual_time
async def test_draws_beside_an_answer_may_be_as_long_as_its_turn(sign_photo):
    model = Forking(OTARU, OTARU, SAPPORO, OTARU)
    await play_rollout(sign_photo, model, max_turns=1)
    ((drawn, _),) = model.drawn
    assert drawn.sampling.max_tokens == model.requests[0].sampling.max_tokens


@virtual_time
async def test_the_scripted_engine_draws_other_answers_of_its_rollout(sign_photo):
    model = ScriptedModel(ScriptedEngine(turns=2, tokens_per_turn=4, turn_s=0.0, tool=None))
    end = await play_rollout(sign_photo, model, 3)
    assert len({end.answer.point, *end.answer_draws}) == 3
    assert None not in end.answer_draws
