"""Fifty refusals in the words of real servers: each is served in another form, or is an error that names a setting.

Here the engine is sent a request with everything in it; `test_refusals_by_http.py` asks for the same as a user does.
"""

import pytest
from support.basics import a_context
from support.endpoint import Reply, serving, text_chunks
from support.refusal_rows import ROWS

from tts.config import OpenAIEngine
from tts.dialects.base import Task
from tts.dialects.served.generic import GenericDialect
from tts.domain.messages import ImagePart, Message, text_message
from tts.domain.tooling import ImageRef, ToolCall, ToolResult
from tts.errors import ModelError
from tts.inference.openai.engine import OpenAIModel
from tts.ports.model_client import ModelRequest, Sampling
from tts.ports.toolbox import ToolSchema

SEARCH = ToolSchema(name="poi_keyword_search", description="Find places.", parameters={"type": "object"})


def a_full_request(photo) -> ModelRequest:
    """Everything a request may have: a tool result with a picture, a correction, a schema, all sampling parameters."""
    call = ToolCall(id="c0", name="poi_keyword_search", arguments={"query": "x"})
    shown = ImageRef(sha256=photo.sha256, width=photo.width, height=photo.height)
    result = Message(
        role="tool",
        parts=(ImagePart(image=shown), ImagePart(image=shown)),
        result=ToolResult(call_id="c0", name="poi_keyword_search", text="a place"),
    )
    messages = (
        *GenericDialect().opening(Task(photos=(photo,))),
        Message(role="assistant", tool_calls=(call,)),
        result,
        text_message("user", "Go on."),
    )
    sampling = Sampling(temperature=0.7, top_p=0.9, top_k=20, seed=3, max_tokens=30000, stop=("END",))
    return ModelRequest(
        a_context(), "loc_test/0", messages, sampling, photos=(photo,), tools=(SEARCH,), json_schema={"type": "object"}
    )


def test_the_corpus_has_at_least_fifty_refusals():
    assert len(ROWS) >= 50
    assert len({row.name for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
async def test_a_refusal_is_avoided_or_names_the_setting_that_mends_it(row, sign_photo):
    def play(body, number):
        if row.refused(body):
            reply = row.reply.encode() if isinstance(row.reply, str) else row.reply
            return Reply(row.status, reply)
        if not body["stream"]:
            choice = {"message": {"content": "fine "}, "finish_reason": "stop"}
            return Reply(200, {"choices": [choice]})
        return text_chunks("fine")

    async with serving(play) as endpoint:
        model = OpenAIModel(OpenAIEngine(base_url=endpoint.url, model="m", server="vllm", backoff_s=0.01, retries=1))
        if row.error:
            with pytest.raises(ModelError) as refused:
                await all_deltas(model, sign_photo)
            assert row.error in refused.value.detail
        else:
            text = "".join(delta.text for delta in await all_deltas(model, sign_photo))
            assert text.strip() == "fine"
            first_round = len(endpoint.bodies)
            await all_deltas(model, sign_photo)
            assert len(endpoint.bodies) - first_round <= 2  # remembered; only the room of a prompt is asked anew
        await model.aclose()


async def all_deltas(model, photo):
    return [delta async for delta in model.generate(a_full_request(photo))]
