"""`previous_response_id` and conversations that go on, with OpenAI's own client and the embedded engine."""

import base64
import json

import openai
import pytest

from tts.package_files import sample_photos

SIGN = sample_photos()["town-sign-latin.jpg"].read_bytes()  # Bellinzona
URL = "data:image/jpeg;base64," + base64.b64encode(SIGN).decode()
BODY = {"geotts": {"seed": 1, "n_parallel": 2}}
INPUT = [{"role": "user", "content": [{"type": "input_image", "image_url": URL}]}]
ASKED = {
    "role": "user",
    "content": [{"type": "image_url", "image_url": {"url": URL}}, {"type": "text", "text": "Where?"}],
}
RULED_OUT = ["you ruled out Bellinzona (Switzerland)"]


@pytest.fixture
async def client(url):
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0, timeout=60.0) as client:
        yield client


def content_of(made):
    return made.choices[0].message.content


async def test_a_response_continues_an_earlier_one(client):
    first = await client.responses.create(model="geotts", input=INPUT, extra_body=BODY)
    assert json.loads(first.output_text)["city"] == "Bellinzona"
    second = await client.responses.create(model="geotts", input="It is not there.", previous_response_id=first.id)
    answer = json.loads(second.output_text)
    assert answer["city"] != "Bellinzona"
    assert answer["changed"]["why"] == RULED_OUT
    assert second.previous_response_id == first.id
    assert (await client.responses.retrieve(second.id)).model_dump() == second.model_dump()
    body = {"geotts": {"not_there": "Lugano"}}
    given = {"model": "geotts", "input": INPUT, "previous_response_id": second.id, "extra_body": body}
    async with client.responses.stream(**given) as stream:
        third = json.loads((await stream.get_final_response()).output_text)
    assert third["changed"]["why"] == ["you ruled out Lugano (Switzerland)", "you added a photo"]


async def test_a_follow_up_of_an_unknown_response_or_with_new_limits_is_refused(client):
    with pytest.raises(openai.NotFoundError):
        await client.responses.create(model="geotts", input="no", previous_response_id="resp_" + "0" * 20)
    first = await client.responses.create(model="geotts", input=INPUT, extra_body=BODY)
    given = {"model": "geotts", "input": "no", "previous_response_id": first.id}
    with pytest.raises(openai.UnprocessableEntityError) as refused:
        await client.responses.create(**given, extra_body={"geotts": {"n_parallel": 8}})
    assert "geotts.n_parallel" in str(refused.value)


async def test_a_conversation_goes_on_from_its_last_answer(client):
    first = await client.chat.completions.create(model="geotts", messages=[ASKED], extra_body=BODY)
    messages = [
        ASKED,
        {"role": "assistant", "content": content_of(first)},
        {"role": "user", "content": "No, it's wrong."},
    ]
    second = json.loads(content_of(await client.chat.completions.create(model="geotts", messages=messages)))
    assert second["changed"]["why"] == RULED_OUT
    assert second["city"] != "Bellinzona"
    assert second["n"]["asked"] == 2, "the options of the first request hold"
    fact = [*messages[:2], {"role": "user", "content": "Not in Switzerland."}]
    pieces = await client.chat.completions.create(model="geotts", messages=fact, stream=True)
    text = "".join([piece.choices[0].delta.content or "" async for piece in pieces])
    assert json.loads(text)["changed"]["why"] == ["you ruled out Switzerland"]


async def test_a_conversation_whose_request_is_gone_begins_anew(client):
    made = json.loads(
        content_of(await client.chat.completions.create(model="geotts", messages=[ASKED], extra_body=BODY))
    )
    made["provenance"]["request_id"] = "loc_" + "0" * 20
    messages = [ASKED, {"role": "assistant", "content": json.dumps(made)}, {"role": "user", "content": "Sure?"}]
    again = json.loads(content_of(await client.chat.completions.create(model="geotts", messages=messages)))
    assert again["changed"] is None
    assert again["city"] == "Bellinzona"
