"""What the `openai` engine sends: conversations, tools, sampling and pictures in the shapes of the API."""

import base64
import io

import pytest
from PIL import Image
from support.endpoint import text_chunks
from support.openai_calls import SEARCH, a_model_request, deltas_of, served_model

from tts.dialects.base import Task
from tts.dialects.served.generic import GenericDialect
from tts.domain.messages import ImagePart, Message, TextPart, text_message
from tts.domain.photo import Box
from tts.domain.picture_rules import PictureRules, ResizeRule
from tts.domain.tooling import ImageRef, ToolCall, ToolResult
from tts.errors import ModelError
from tts.ports.model_client import Sampling

CALL = ToolCall(id="c1", name="look", arguments={"q": "é"})


CONVERSATION = (
    text_message("system", "You look."),
    text_message("user", "Where?"),
    Message(role="assistant", parts=(TextPart(text="A sign."),), tool_calls=(CALL,)),
    Message(role="tool", parts=(TextPart(text="found"),), result=ToolResult(call_id="c1", name="look", text="found")),
)  # fmt: skip


async def body_of(request, **config):
    async with served_model(lambda body, n: text_chunks("ok"), **config) as (model, endpoint):
        await deltas_of(model, request)
    return endpoint.bodies[0]


async def test_native_tool_calls_and_results_are_sent_in_the_form_of_the_api():
    body = await body_of(a_model_request(*CONVERSATION))
    assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant", "tool"]
    assert body["messages"][2]["tool_calls"][0]["function"] == {"name": "look", "arguments": '{"q": "\\u00e9"}'}
    assert body["messages"][3] == {"role": "tool", "tool_call_id": "c1", "content": "found"}
    assert (body["tools"][0]["function"]["name"], body["tool_choice"]) == ("look", "auto")


async def test_a_last_turn_without_tools_keeps_the_prompt():
    body = await body_of(a_model_request(*CONVERSATION, tools=(), listed_tools=(SEARCH,)))
    assert (len(body["tools"]), body["tool_choice"]) == (1, "none")


async def test_tools_configured_as_text_are_described_in_the_system_turn():
    body = await body_of(a_model_request(*CONVERSATION), tools="text")
    assert "tools" not in body
    roles = [message["role"] for message in body["messages"]]
    assert roles == ["system", "user", "assistant", "user"]
    assert body["messages"][0]["content"].startswith("You look.\n\n# Tools\n")
    assert (
        body["messages"][2]["content"]
        == 'A sign.\n<tool_call>\n{"name": "look", "arguments": {"q": "é"}}\n</tool_call>'
    )
    assert body["messages"][3]["content"] == "<tool_response>\nfound\n</tool_response>"
    template = await body_of(a_model_request(*CONVERSATION), tools="template")
    assert template["messages"][0]["content"] == "You look."
    assert template["tool_choice"] == "none"


async def test_sampling_goes_out_in_the_words_of_the_server():
    sampling = Sampling(temperature=1.0, top_p=0.95, top_k=60, min_p=0.1, seed=4, max_tokens=99, stop=("END",))
    full = await body_of(a_model_request(sampling=sampling, json_schema={"type": "object"}), server="vllm")
    expected = {
        "temperature": 1.0,
        "top_p": 0.95,
        "top_k": 60,
        "min_p": 0.1,
        "seed": 4,
        "max_tokens": 99,
        "stop": ["END"],
    }
    assert expected.items() <= full.items()
    assert full["response_format"]["json_schema"]["schema"] == {"type": "object"}
    hosted = await body_of(a_model_request(sampling=sampling), server="openai", extra_body={"user": "geo"})
    assert not {"top_k", "min_p", "max_tokens"} & hosted.keys()
    assert (hosted["max_completion_tokens"], hosted["user"]) == (99, "geo")


def picture(part):
    url = part["image_url"]["url"]
    assert url.startswith("data:image/jpeg;base64,")
    return Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2])))


async def test_pictures_are_scaled_by_the_dialects_rule_and_follow_tool_text(sign_photo):
    rules = PictureRules(photo=ResizeRule(max_pixels=100_000), crop=ResizeRule(min_pixels=65536, multiple=28))
    crop = ImageRef(sha256=sign_photo.sha256, width=80, height=48, box=Box(x0=0.1, y0=0.1, x1=0.2, y1=0.2))
    tool = Message(
        role="tool",
        parts=(TextPart(text="the region"), ImagePart(image=crop)),
        result=ToolResult(call_id="c1", name="zoom", text="the region"),
    )
    opening = GenericDialect().opening(Task(photos=(sign_photo,)))
    asked = (*opening, CONVERSATION[2], tool, text_message("user", "go on"))
    body = await body_of(a_model_request(*asked, photos=(sign_photo,), pictures=rules))
    image, words = body["messages"][1]["content"]
    assert words["type"] == "text"
    photo = picture(image)
    assert photo.width * photo.height <= 100_000
    assert photo.width / photo.height == pytest.approx(sign_photo.width / sign_photo.height, rel=0.02)
    assert [message["role"] for message in body["messages"][2:]] == ["assistant", "tool", "user", "user"]
    zoomed = picture(body["messages"][4]["content"][0])
    assert zoomed.width % 28 == zoomed.height % 28 == 0
    assert zoomed.width * zoomed.height >= 65536


async def test_a_picture_that_is_gone_is_an_error_of_this_rollout():
    lost = Message(role="user", parts=(ImagePart(image=ImageRef(sha256="0" * 64, width=9, height=9)),))
    async with served_model(lambda body, n: text_chunks("ok")) as (model, _):
        with pytest.raises(ModelError, match="gone"):
            await deltas_of(model, a_model_request(lost))
