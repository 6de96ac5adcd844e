"""Answers drawn again from the same conversation: what they cost, what they may never cost, and what they are for."""

import asyncio
import json

import pytest
from support.basics import virtual_time
from support.dialect_rollouts import play_with

from tts.dialects import DIALECTS
from tts.domain.answer import StopReason
from tts.domain.geo import LatLon
from tts.domain.plan import Limits
from tts.domain.usage import Usage
from tts.errors import ModelError
from tts.ports import Delta

OTARU, SAPPORO = (43.19, 140.99), (43.06, 141.35)


def answer(point):
    lat, lon = (None, None) if point is None else point
    return json.dumps({"lat": lat, "lon": lon, "city": "Otaru", "country": "Japan", "level": "city" if lat else "none"})


class Scattered:
    """Answers at once: the rollout with the first point, its draws with the others, in the order in which they come."""

    name = "scattered"

    def __init__(self, *points, hangs=False, fails=False):
        self.points, self.hangs, self.fails = list(points), hangs, fails
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


async def played(photo, model, draws=4, **more):
    limits = Limits(answer_draws=draws, **more)
    return (await play_with(model, DIALECTS["generic"], photo, limits=limits, seconds=60.0)).end


@virtual_time
async def test_an_answer_is_drawn_again_from_the_same_conversation(sign_photo):
    model = Scattered(OTARU, OTARU, SAPPORO, None)
    end = await played(sign_photo, model)
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
    end = await played(sign_photo, model, draws)
    assert (end.answer_draws, len(model.requests)) == ((), 1)


@virtual_time
async def test_a_draw_that_does_not_answer_is_left_out(sign_photo):
    end = await played(sign_photo, Scattered(OTARU, "call", SAPPORO, OTARU))
    assert len(end.answer_draws) == 2


@virtual_time
@pytest.mark.parametrize("fault", ["hangs", "fails"])
async def test_draws_that_fail_or_hang_cost_the_rollout_nothing_but_time(sign_photo, fault):
    started = asyncio.get_running_loop().time()
    end = await played(sign_photo, Scattered(OTARU, OTARU, OTARU, OTARU, **{fault: True}))
    assert (end.stop_reason, end.answer_draws) == (StopReason.ANSWERED, ())
    assert asyncio.get_running_loop().time() - started <= 30.0  # half of the time of the request


@virtual_time
async def test_there_are_no_more_draws_than_tokens_pay_for(sign_photo):
    model = Scattered(*[OTARU] * 9)
    end = await played(sign_photo, model, draws=8, max_tokens=1200)  # an answer may take 300 of them
    assert len(end.answer_draws) == (1200 - 20) // 300
