"""OpenAI's own client talks to the service as it would to any other."""

import base64
import json

import openai
import pytest
from service import PHOTO, an_app, serving

URL = "data:image/jpeg;base64," + base64.b64encode(PHOTO).decode()


@pytest.fixture
async def client(data_store):
    async with serving(an_app()) as (url, _), openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="any") as client:
        yield client


def asking(text="where?", *urls):
    parts = [{"type": "text", "text": text}, *({"type": "image_url", "image_url": {"url": u}} for u in urls or (URL,))]
    return [{"role": "system", "content": "You locate photos."}, {"role": "user", "content": parts}]


async def test_models_are_listed(client):
    names = [model.id async for model in client.models.list()]
    assert names == ["geotts", "geotts-direct", "geotts-standard", "geotts-deep"]
    assert (await client.models.retrieve("geotts")).owned_by == "geotts"


async def test_the_content_is_the_answer(client):
    reply = await client.chat.completions.create(
        model="geotts", messages=asking(), seed=3, extra_body={"geotts": {"n_parallel": 2}}
    )
    (choice,) = reply.choices
    answer = json.loads(choice.message.content)
    assert answer["n"]["asked"] == 2
    assert answer["provenance"]["seed"] == 3
    assert choice.finish_reason == "stop"
    assert "[rollout 1]" in choice.message.reasoning_content
    assert reply.usage.total_tokens == answer["usage"]["prompt_tokens"] + answer["usage"]["completion_tokens"]


async def test_a_stream_reasons_and_ends_with_the_answer(client):
    stream = await client.chat.completions.create(
        model="geotts-deep", messages=asking(), stream=True, stream_options={"include_usage": True}
    )
    chunks = [chunk async for chunk in stream]
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    reasoning = [delta.reasoning_content for delta in deltas if getattr(delta, "reasoning_content", None)]
    content = "".join(delta.content for delta in deltas if delta.content)
    assert "[rollout 0]" in "".join(reasoning)
    assert json.loads(content)["route"]["plan"]["depth"] == "deep"
    assert chunks[-1].usage is not None
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "stop"


async def test_several_images_are_photos_of_one_place(client):
    reply = await client.chat.completions.create(model="geotts-direct", messages=asking("both", URL, URL))
    assert len(json.loads(reply.choices[0].message.content)["provenance"]["photo_sha256"]) == 2


@pytest.mark.parametrize(
    ("error", "fields"),
    [
        (openai.NotFoundError, {"model": "gpt-9", "messages": asking()}),
        (openai.UnprocessableEntityError, {"model": "geotts", "messages": [{"role": "user", "content": "where?"}]}),
        (openai.UnprocessableEntityError, {"model": "geotts", "messages": asking(), "n": 2}),
        (openai.UnprocessableEntityError, {"model": "geotts", "messages": asking("many", *[URL] * 9)}),
        (openai.UnprocessableEntityError, {"model": "geotts", "messages": asking("x", "http://127.0.0.1/a.jpg")}),
    ],
)
async def test_what_is_wrong_is_told_in_openais_words(client, error, fields):
    with pytest.raises(error) as told:
        await client.chat.completions.create(**fields)
    assert told.value.body["message"]
    assert told.value.body["code"]


LONG = "x" * 2001


@pytest.mark.parametrize(
    ("sent", "named"),
    [
        ({"max_tokens": 10}, "max_tokens"),
        ({"max_completion_tokens": 10}, "max_completion_tokens"),
        ({"extra_body": {"geotts": {"max_tokens_total": 10}}}, "geotts.max_tokens_total"),
        ({"extra_body": {"geotts": {"dialect": "klingon"}}}, "geotts.dialect"),
        ({"seed": -1}, "seed"),
        ({"messages": asking(LONG)}, "messages.1.content"),
        ({"messages": asking("old") + asking(LONG)}, "messages.3.content"),
        ({"extra_body": {"geotts": {"hint": LONG}}}, "geotts.hint"),
    ],
)
async def test_what_is_wrong_is_named_as_it_was_sent(client, sent, named):
    with pytest.raises(openai.UnprocessableEntityError) as told:
        await client.chat.completions.create(**{"model": "geotts", "messages": asking(), **sent})
    assert told.value.body["param"] == named
    assert f"{named}: " in told.value.body["message"]


async def test_the_same_key_runs_once(client):
    key = {"Idempotency-Key": "a-key"}
    raw = client.chat.completions.with_raw_response
    first, second = [await raw.create(model="geotts", messages=asking(), extra_headers=key) for _ in range(2)]
    assert [reply.headers.get("idempotency-replayed") for reply in (first, second)] == [None, "true"]
    assert first.headers["x-request-id"] == second.headers["x-request-id"]
    assert first.parse().choices == second.parse().choices
    with pytest.raises(openai.UnprocessableEntityError) as told:
        await client.chat.completions.create(model="geotts", messages=asking("there?"), extra_headers=key)
    assert told.value.body["code"] == "idempotency-key-reused"
    with pytest.raises(openai.BadRequestError):
        await client.chat.completions.create(
            model="geotts", messages=asking(), extra_headers={"Idempotency-Key": "a b"}
        )


async def test_a_replay_may_be_streamed_and_leaves_the_first_reader_alone(client):
    key = {"Idempotency-Key": "another-key"}
    ask = {"model": "geotts", "messages": asking(), "stream": True, "extra_headers": key}
    first, second = await client.chat.completions.create(**ask), await client.chat.completions.create(**ask)
    await anext(second)
    await second.close()
    content = "".join([c.choices[0].delta.content or "" async for c in first if c.choices])
    assert json.loads(content)["n"]["asked"] >= 1
