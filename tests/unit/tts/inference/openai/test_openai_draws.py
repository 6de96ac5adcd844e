"""Several answers to one prompt from an endpoint: in one request where it gives them, one by one where it does not."""

import json

import pytest
from support.dialect_rollouts import play_with
from support.endpoint import Reply, text_chunks
from support.endpoint import serving as an_endpoint

from tts.config import OpenAIEngine
from tts.dialects import DIALECTS
from tts.domain.plan import Limits
from tts.inference.openai.engine import OpenAIModel
from tts.inference.openai.pool import EndpointPool

ANSWER = json.dumps({"lat": 43.19, "lon": 140.99, "city": "Otaru", "country": "Japan"})
ELSEWHERE = json.dumps({"lat": 43.06, "lon": 141.35, "city": "Sapporo", "country": "Japan"})


def choices(*texts):
    found = [
        {"index": i, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        for i, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": 1000, "completion_tokens": 20 * len(texts)}
    return Reply(body={"object": "chat.completion", "choices": found, "usage": usage})


def gives_all(body, number):
    return choices(*[ELSEWHERE, ANSWER, ELSEWHERE][: body["n"]]) if "n" in body else text_chunks(ANSWER)


def gives_one(body, number):
    return choices(ELSEWHERE) if "n" in body else text_chunks(ANSWER)


def refuses(body, number):
    if "n" not in body:
        return text_chunks(ANSWER)
    return Reply(status=400, body={"error": {"message": "Unsupported parameter: 'n'", "param": "n"}})


async def play_rollouts(play, photo, engine=OpenAIModel, rollouts=1):
    """Bodies that the endpoint got, and how the last of some rollouts ended."""
    async with an_endpoint(play) as endpoint:
        config = OpenAIEngine(base_url=endpoint.url, model="m", price={"input": 1.0, "output": 1.0})
        model = engine(config)
        for number in range(rollouts):
            limits = Limits(answer_draws=4)
            end = (await play_with(model, DIALECTS["generic"], photo, limits=limits, rollout_id=number)).end
        await model.aclose()
    return endpoint.bodies, end


@pytest.mark.parametrize("engine", [OpenAIModel, EndpointPool])
async def test_an_endpoint_that_supports_n_gives_all_draws_in_one_request(sign_photo, engine):
    bodies, end = await play_rollouts(gives_all, sign_photo, engine)
    answered, drawn = bodies
    assert (drawn["n"], "stream" in drawn) == (3, False)
    assert drawn["messages"] == answered["messages"]
    assert [round(point.lat, 2) for point in end.answer_draws] == [43.06, 43.19, 43.06]
    assert end.usage.model_calls == 2
    assert end.usage.cost_usd > 0


@pytest.mark.parametrize(("play", "given"), [(gives_one, 1), (refuses, 0)])
async def test_an_endpoint_without_n_gives_draws_one_by_one_and_is_asked_for_n_once(sign_photo, play, given):
    bodies, end = await play_rollouts(play, sign_photo, rollouts=2)
    assert sum("n" in body for body in bodies) == 1
    assert len(bodies) == 1 + 1 + (3 - given) + 1 + 3
    assert len(end.answer_draws) == 3
