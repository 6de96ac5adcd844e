"""Requests of the `openai` engine to an endpoint on loopback, for the tests of it."""

from contextlib import asynccontextmanager

from support.basics import a_context
from support.endpoint import serving
from tts.config import OpenAIEngine
from tts.domain.messages import text_message
from tts.inference.openai.engine import OpenAIModel
from tts.ports.model_client import ModelRequest, Sampling
from tts.ports.toolbox import ToolSchema

SEARCH = ToolSchema(name="look", description="Look it up.", parameters={"type": "object"})


def a_model_request(*messages, tools=(SEARCH,), remaining_s=20.0, **changes):
    return ModelRequest(
        context=a_context(remaining_s),
        session_id="loc_test/0",
        messages=messages or (text_message("user", "Where?"),),
        sampling=changes.pop("sampling", Sampling(temperature=0.7, seed=3)),
        tools=tools,
        **changes,
    )


@asynccontextmanager
async def served_model(play, **config):
    async with serving(play) as endpoint:
        model = OpenAIModel(OpenAIEngine(base_url=endpoint.url, **{"model": "m", "backoff_s": 0.01, **config}))
        try:
            yield model, endpoint
        finally:
            await model.aclose()


async def deltas_of(model, request=None):
    return [delta async for delta in model.generate(request or a_model_request())]


def text_of(deltas):
    return "".join(delta.text for delta in deltas)
