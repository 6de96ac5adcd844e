"""`/v1/responses` with OpenAI's own client: streams, background, cancels, and streams that are cut 100 times."""

import asyncio
import base64
import json
import random

import httpx
import openai
import pytest
from openai.types.responses import Response
from support.service import PHOTO, an_app, idle, serving

from deployments.wiring.local import local_ports
from tts.api.responses import ResponseFold
from tts.config import OpenAIEngine, ScriptedEngine

URL = "data:image/jpeg;base64," + base64.b64encode(PHOTO).decode()
SLOW = ScriptedEngine(turns=3, tokens_per_turn=20, turn_s=20.0)
PARTS = [{"type": "input_text", "text": "Where?"}, {"type": "input_image", "image_url": URL}]
INPUT = [{"role": "user", "content": PARTS}]
QUICK = ScriptedEngine(turns=2, tokens_per_turn=20, turn_s=0.4)
GIVEN = {"model": "geotts", "input": INPUT, "extra_body": {"geotts": {"n_parallel": 2, "seed": 3}}}


def a_client(url):
    return openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0, timeout=60.0)


@pytest.fixture
async def client(data_store):
    async with serving(an_app()) as (url, gateway), a_client(url) as client:
        yield client
        await idle(gateway)


async def test_the_text_is_the_answer_and_tools_are_no_function_calls(client):
    made = await client.responses.create(**GIVEN)
    answer = json.loads(made.output_text)
    assert answer["n"]["asked"] == 2
    assert [item.type for item in made.output] == ["reasoning", "message"]
    assert "[rollout 1]" in made.output[0].summary[0].text
    assert (made.status, made.model, made.usage.total_tokens > 0) == ("completed", "geotts", True)
    assert (await client.responses.retrieve(made.id)).model_dump() == made.model_dump()


async def test_a_stream_ends_with_the_response_that_is_kept(client):
    async with client.responses.stream(**GIVEN) as stream:
        events = [event async for event in stream]
        final = await stream.get_final_response()
    kinds = [event.type for event in events]
    assert kinds[:3] == ["response.created", "response.in_progress", "response.output_item.added"]
    assert kinds[-1] == "response.completed"
    assert json.loads(final.output_text)["n"]["answered"] == 2
    assert [event.sequence_number for event in events] == list(range(len(events)))
    kept = await client.responses.retrieve(final.id)
    assert kept.output_text == final.output_text
    summary = "".join(event.delta for event in events if event.type == "response.reasoning_summary_text.delta")
    assert summary == kept.output[0].summary[0].text


@pytest.mark.slow
async def test_a_stream_that_is_cut_100_times_equals_the_uncut_one(client):
    made = await client.responses.create(**GIVEN, background=True)
    assert made.status in ("queued", "in_progress")
    uncut = [e.model_dump() async for e in await client.responses.retrieve(made.id, stream=True)]
    assert uncut[-1]["type"] == "response.completed"
    luck = random.Random(7)
    for _ in range(100):
        read, after = [], -1
        cut_at = sorted(luck.sample(range(len(uncut)), k=min(3, len(uncut))))
        for cut in [*cut_at, len(uncut)]:
            stream = await client.responses.retrieve(made.id, stream=True, starting_after=after)
            async for event in stream:
                read.append(event.model_dump())
                after = event.sequence_number
                if after >= cut:
                    break
            await stream.close()
        assert read == uncut


async def test_a_live_stream_in_the_background_outlives_its_reader(data_store):
    async with serving(an_app(QUICK)) as (url, _), a_client(url) as client:
        stream = await client.responses.create(**GIVEN, background=True, stream=True)
        first = [await anext(stream) for _ in range(4)]
        await stream.close()
        id_, after = first[0].response.id, first[-1].sequence_number
        rest = [e async for e in await client.responses.retrieve(id_, stream=True, starting_after=after)]
        numbers = [event.sequence_number for event in [*first, *rest]]
        assert numbers == list(range(len(numbers)))
        assert rest[-1].response.status == "completed"


async def test_a_stream_after_the_last_event_is_empty_and_after_a_later_number_refused(client):
    made = await client.responses.create(**GIVEN)
    last = [e async for e in await client.responses.retrieve(made.id, stream=True)][-1].sequence_number
    assert [e async for e in await client.responses.retrieve(made.id, stream=True, starting_after=last)] == []
    for wrong in (last + 1, 2**70):
        with pytest.raises(
            openai.UnprocessableEntityError, match=f"the last event of this response has the number {last}"
        ):
            await client.responses.retrieve(made.id, stream=True, starting_after=wrong)
    with pytest.raises(openai.UnprocessableEntityError, match="starting_after"):
        await client.responses.retrieve(made.id, stream=True, starting_after=-2)


async def test_an_unknown_response_is_named_by_the_id_that_the_client_sent(client):
    unknown = "resp_" + "0" * 20
    responses = client.responses
    for call in (
        responses.retrieve(unknown),
        responses.retrieve(unknown, stream=True, starting_after=3),
        responses.cancel(unknown),
        responses.delete(unknown),
        responses.create(model="geotts", input="not there", previous_response_id=unknown),
    ):
        with pytest.raises(openai.NotFoundError, match=f"there is no response {unknown}"):
            await call


async def test_a_response_can_be_cancelled_and_deleted(data_store):
    async with serving(an_app(SLOW)) as (url, gateway), a_client(url) as client:
        made = await client.responses.create(**GIVEN, background=True)
        assert (await client.responses.retrieve(made.id)).status == "in_progress"
        assert (await client.responses.cancel(made.id)).status == "cancelled"
        await idle(gateway)
        ended = [e async for e in await client.responses.retrieve(made.id, stream=True)]
        assert ended[-1].response.status == "cancelled"
        await client.responses.delete(made.id)
        with pytest.raises(openai.NotFoundError):
            await client.responses.retrieve(made.id)


async def test_a_reader_that_disconnects_cancels_a_response_in_the_foreground(data_store):
    async with serving(an_app(SLOW)) as (url, gateway), a_client(url) as client:
        stream = await client.responses.create(**GIVEN, stream=True)
        await anext(stream)
        assert gateway.in_flight == 1
        await stream.close()
        await idle(gateway)


async def test_a_response_with_store_false_is_erased(client):
    made = await client.responses.create(**GIVEN, store=False)
    async with asyncio.timeout(5):
        while True:
            try:
                await client.responses.retrieve(made.id)
            except openai.NotFoundError:
                break
            await asyncio.sleep(0.02)
    assert made.output_text


async def test_an_upload_is_a_file_of_the_input(data_store):
    async with serving(an_app()) as (url, _), a_client(url) as client, httpx.AsyncClient() as http:
        ticket = (await http.post(f"{url}/uploads", content=PHOTO)).json()["upload_id"]
        part = {"type": "input_image", "file_id": ticket}
        made = await client.responses.create(model="geotts-deep", input=[{"role": "user", "content": [part]}])
        assert json.loads(made.output_text)["route"]["plan"]["depth"] == "deep"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"input": "Where am I?"}, "there is no photo"),
        ({"previous_response_id": "resp_1"}, "previous_response_id"),
        ({"tools": [{"type": "function", "name": "f", "parameters": {}}]}, "calls of your tools"),
        ({"text": {"format": {"type": "json_schema", "name": "x", "schema": {}}}}, "is not supported"),
        ({"background": True, "store": False}, "has to be stored"),
        ({"model": "gpt-9"}, "there is no model"),
        ({"extra_body": {"geotts": {"n_parallel": 99}}}, "geotts.n_parallel"),
        ({"input": [{"role": "user", "content": [{"type": "input_image", "file_id": "upl_0"}]}]}, "no such upload"),
    ],
)
async def test_unsupported_input_of_a_response_is_refused_with_a_reason(client, change, words):
    with pytest.raises(openai.APIStatusError, match=words) as refused:
        await client.responses.create(**{**GIVEN, **change})
    assert refused.value.status_code in (400, 404, 422)


async def test_a_failure_ends_a_stream_with_response_failed_and_is_an_error_otherwise(data_store):
    engine = OpenAIEngine(base_url="http://127.0.0.1:9/v1", model="m")
    args = an_app().model_copy(update={"engine": engine})
    async with serving(args, ports=local_ports(args)) as (url, _), a_client(url) as client:
        given = {**GIVEN, "extra_body": {"geotts": {"n_parallel": 1, "deadline_s": 2}}}
        events = [event async for event in await client.responses.create(**given, stream=True)]
        assert events[-1].type == "response.failed"
        assert events[-1].response.error.message
        with pytest.raises(openai.APIStatusError) as refused:
            await client.responses.create(**given)
        assert refused.value.status_code in (502, 503)


def test_a_response_without_events_is_queued():
    made = ResponseFold("loc_" + "0" * 20, 1, background=True).response()
    assert Response.model_validate(made).status == "queued"
