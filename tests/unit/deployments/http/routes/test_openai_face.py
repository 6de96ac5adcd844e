"""OpenAI's own client talks to the service as it would to any other."""

import asyncio
import base64
import json
import sys
from pathlib import Path

import openai
import pytest
from support.endpoint import serving as an_endpoint
from support.endpoint import text_chunks
from support.service import PHOTO, an_app, serving

from deployments.config import AppArgs
from deployments.wiring.local import local_ports
from tts.config import OpenAIEngine, RoutingConfig

URL = "data:image/jpeg;base64," + base64.b64encode(PHOTO).decode()


@pytest.fixture
async def client(data_store):
    async with serving(an_app()) as (url, _), openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="any") as client:
        yield client


def messages_with_photo(text="where?", *urls):
    parts = [{"type": "text", "text": text}, *({"type": "image_url", "image_url": {"url": u}} for u in urls or (URL,))]
    return [{"role": "system", "content": "You locate photos."}, {"role": "user", "content": parts}]


async def test_models_are_listed(client):
    names = [model.id async for model in client.models.list()]
    assert names == ["geotts", "geotts-direct", "geotts-standard", "geotts-deep"]
    assert (await client.models.retrieve("geotts")).owned_by == "geotts"


async def test_the_content_of_a_chat_completion_is_the_answer_as_json(client):
    reply = await client.chat.completions.create(
        model="geotts", messages=messages_with_photo(), seed=3, extra_body={"geotts": {"n_parallel": 2}}
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
        model="geotts-deep", messages=messages_with_photo(), stream=True, stream_options={"include_usage": True}
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
    reply = await client.chat.completions.create(model="geotts-direct", messages=messages_with_photo("both", URL, URL))
    assert len(json.loads(reply.choices[0].message.content)["provenance"]["photo_sha256"]) == 2


@pytest.mark.parametrize(
    ("error", "fields"),
    [
        (openai.NotFoundError, {"model": "gpt-9", "messages": messages_with_photo()}),
        (openai.UnprocessableEntityError, {"model": "geotts", "messages": [{"role": "user", "content": "where?"}]}),
        (openai.UnprocessableEntityError, {"model": "geotts", "messages": messages_with_photo(), "n": 2}),
        (openai.UnprocessableEntityError, {"model": "geotts", "messages": messages_with_photo("many", *[URL] * 9)}),
        (
            openai.UnprocessableEntityError,
            {"model": "geotts", "messages": messages_with_photo("x", "http://127.0.0.1/a.jpg")},
        ),
    ],
)
async def test_an_error_has_the_fields_of_openais_errors(client, error, fields):
    with pytest.raises(error) as caught:
        await client.chat.completions.create(**fields)
    assert caught.value.body["message"]
    assert caught.value.body["code"]


LONG = "x" * 2001


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"max_tokens": 10}, "max_tokens"),
        ({"max_completion_tokens": 10}, "max_completion_tokens"),
        ({"extra_body": {"geotts": {"max_tokens_total": 10}}}, "geotts.max_tokens_total"),
        ({"extra_body": {"geotts": {"dialect": "klingon"}}}, "geotts.dialect"),
        ({"seed": -1}, "seed"),
        ({"extra_body": {"geotts": {"hint": LONG}}}, "geotts.hint"),
    ],
)
async def test_an_error_names_the_parameter_as_the_client_sent_it(client, fields, named):
    with pytest.raises(openai.UnprocessableEntityError) as caught:
        await client.chat.completions.create(**{"model": "geotts", "messages": messages_with_photo(), **fields})
    assert isinstance(caught.value.body, dict)
    assert caught.value.body["param"] == named
    assert f"{named}: " in caught.value.body["message"]


@pytest.mark.parametrize(
    "prompt",
    [
        "reply in English please",
        "Of all places on Earth, where?",
        "Mobile phone picture",
        "Is this Rome, Milan or Turin?",
        "Kyiv",
        LONG,
    ],
)
async def test_a_prompt_is_no_hint(client, prompt):
    reply = await client.chat.completions.create(model="geotts-direct", messages=messages_with_photo(prompt))
    answer = json.loads(reply.choices[0].message.content)
    assert (answer["hint"], answer["contradictions"]) == (None, [])
    assert not [e for e in answer["evidence"] if e["claim"].startswith("the caller")]


async def test_a_hint_is_sent_among_the_options(client):
    options = {"geotts": {"hint": "in Kyiv"}}
    reply = await client.chat.completions.create(
        model="geotts-direct", messages=messages_with_photo("where?"), extra_body=options
    )
    assert json.loads(reply.choices[0].message.content)["hint"]["place"] == "Kyiv (Ukraine)"


async def test_two_completions_with_the_same_idempotency_key_run_once(client):
    key = {"Idempotency-Key": "a-key"}
    raw = client.chat.completions.with_raw_response
    first, second = [
        await raw.create(model="geotts", messages=messages_with_photo(), extra_headers=key) for _ in range(2)
    ]
    assert [reply.headers.get("idempotency-replayed") for reply in (first, second)] == [None, "true"]
    assert first.headers["x-request-id"] == second.headers["x-request-id"]
    assert first.parse().choices == second.parse().choices
    with pytest.raises(openai.UnprocessableEntityError) as caught:
        await client.chat.completions.create(model="geotts", messages=messages_with_photo(), seed=4, extra_headers=key)
    assert isinstance(caught.value.body, dict)
    assert caught.value.body["code"] == "idempotency-key-reused"
    with pytest.raises(openai.BadRequestError):
        await client.chat.completions.create(
            model="geotts", messages=messages_with_photo(), extra_headers={"Idempotency-Key": "a b"}
        )


async def test_a_replay_may_be_streamed_and_leaves_the_first_reader_alone(client):
    key = {"Idempotency-Key": "another-key"}
    ask = {"model": "geotts", "messages": messages_with_photo(), "stream": True, "extra_headers": key}
    first, second = await client.chat.completions.create(**ask), await client.chat.completions.create(**ask)
    await anext(second)
    await second.close()
    content = "".join([c.choices[0].delta.content or "" async for c in first if c.choices])
    assert json.loads(content)["n"]["asked"] >= 1


TOOL = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}
SCHEMA = {"type": "json_schema", "json_schema": {"name": "place", "schema": {"type": "object"}}}


@pytest.mark.parametrize(
    ("asked", "field", "says"),
    [
        ({"tools": [TOOL]}, "tools", "geotts.tools"),
        ({"response_format": SCHEMA}, "response_format", "json_object"),
        ({"extra_body": {"functions": [TOOL["function"]]}}, "functions", "geotts.tools"),
    ],
)
async def test_unsupported_parameters_of_a_chat_completion_are_refused_by_name(client, asked, field, says):
    for stream in (False, True):
        with pytest.raises(openai.BadRequestError) as refused:
            await client.chat.completions.create(model="geotts", messages=messages_with_photo(), stream=stream, **asked)
        assert (refused.value.param, refused.value.code) == (field, "unsupported")
        assert says in refused.value.message


async def test_an_answer_as_a_json_object_is_given(client):
    for wanted in ("json_object", "text"):
        reply = await client.chat.completions.create(
            model="geotts-direct",
            messages=messages_with_photo(),
            response_format={"type": wanted},
            tools=[],
            tool_choice="none",
        )
        assert json.loads(reply.choices[0].message.content)["abstained"] is False


EXAMPLE = Path(__file__).parents[5] / "examples" / "openai_client.py"
FOUND = '{"lat": 43.19, "lon": 140.99, "country": "Japan"}'
NOT_FOUND = '{"lat": null, "lon": null, "level": "none"}'


@pytest.mark.parametrize(
    ("model_reply", "printed"), [(FOUND, "nine in ten within"), (NOT_FOUND, "Not known: nothing supports")]
)
async def test_the_example_of_the_openai_client_prints_the_answer_in_words(data_store, tmp_path, model_reply, printed):
    photo = tmp_path / "photo.jpg"
    photo.write_bytes(PHOTO)
    async with an_endpoint(lambda body, number: text_chunks(model_reply)) as endpoint:
        args = AppArgs(engine=OpenAIEngine(base_url=endpoint.url, model="m"), routing=RoutingConfig(method="fixed"))
        async with serving(args, ports=local_ports(args)) as (url, _):
            ran = await asyncio.create_subprocess_exec(
                sys.executable, EXAMPLE, photo, url, stdout=asyncio.subprocess.PIPE
            )
            out, _ = await ran.communicate()
    assert ran.returncode == 0
    assert printed in out.decode()
    assert "None" not in out.decode().splitlines()[-1]
