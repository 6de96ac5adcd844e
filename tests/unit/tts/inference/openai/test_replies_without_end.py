"""Endpoints that never stop, or send more than a model writes: a failure of the endpoint in bounded memory and time."""

import itertools
import json
import time
import tracemalloc
from contextlib import asynccontextmanager

import pytest
from support.basics import a_context
from support.endpoint import Reply, chunk, serving, text_chunks

from tts.aio import Deadline
from tts.config import OpenAIEngine
from tts.domain.messages import text_message
from tts.errors import ModelError
from tts.inference.openai import connection as openai_connection
from tts.inference.openai import streamed_completion as openai_stream
from tts.inference.openai.engine import OpenAIModel
from tts.ports.model_client import ModelRequest, Sampling

HUGE = "x" * 3_000_000
ENDLESS = {
    "a line without an end": lambda: itertools.chain([b"data: {"], itertools.repeat(b"x" * 65536)),
    "text without an end": lambda: itertools.repeat(chunk("word " * 200)),
    "calls without an end": lambda: (
        chunk(tool_calls=[{"index": i, "id": str(i), "function": {"name": "look", "arguments": "{}"}}])
        for i in itertools.count()
    ),
    "calls without an index": lambda: (
        chunk(tool_calls=[{"id": str(i), "function": {"name": "look", "arguments": "{}"}}]) for i in itertools.count()
    ),
    "arguments without an end": lambda: itertools.repeat(
        chunk(tool_calls=[{"index": 0, "function": {"name": "look", "arguments": "x" * 4000}}])
    ),
    "a text far too long": lambda: (chunk("word " * 2000) for _ in range(20)),
    "a huge completion": lambda: Reply(200, {"choices": [{"message": {"content": HUGE}}]}),
    "a huge refusal": lambda: Reply(400, {"error": HUGE}),
}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(openai_connection, "MAX_REPLY_BYTES", 2 * 2**20)
    monkeypatch.setattr(openai_stream, "_MAX_LINE_BYTES", 2**20)


@asynccontextmanager
async def model_against(play, pages=None):
    async with serving(play, pages) as endpoint:
        model = OpenAIModel(OpenAIEngine(base_url=endpoint.url, model="m", retries=0, server="vllm"))
        try:
            yield model
        finally:
            await model.aclose()


async def generated_text(model):
    request = ModelRequest(
        context=a_context(60.0),
        session_id="loc_test/0",
        messages=(text_message("user", "Where?"),),
        sampling=Sampling(temperature=0.7, seed=3),
        tools=(),
    )
    return "".join([delta.text async for delta in model.generate(request)])


@pytest.mark.parametrize("name", ENDLESS)
async def test_an_endless_reply_is_a_failure_and_the_next_turn_works(name):
    async with model_against(lambda body, number: ENDLESS[name]() if number == 0 else text_chunks("ok")) as model:
        tracemalloc.start()
        try:
            with pytest.raises(ModelError, match=r"more than [12] MiB|tokens were asked for|than 256 tools"):
                await generated_text(model)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 40e6
        assert (await generated_text(model)).strip() == "ok"


async def test_the_size_of_a_list_of_models_is_bounded_too():
    async with model_against(lambda body, number: text_chunks("ok"), {"/v1/models": {"data": [{"id": HUGE}]}}) as model:
        with pytest.raises(ModelError, match="more than 2 MiB"):
            await model._http.ask("GET", "models", None, Deadline(60.0), 10.0, "loc_1")
        assert (await generated_text(model)).strip() == "ok"


def chunks_of(delta, count):
    return itertools.repeat(json.dumps({"choices": [{"delta": delta}]}).encode(), count)


@pytest.mark.parametrize(
    "delta",
    [
        {"tool_calls": [{"index": 0, "function": {"name": "look", "arguments": "x" * 20}}]},
        {"a_field_of_its_own": "x"},
        {"a_field_of_its_own": ["x"]},
    ],
    ids=["arguments", "text of a field", "list of a field"],
)
def test_many_small_pieces_are_put_together_in_linear_time(delta):
    """A megabyte of them; one after the other copied anew, they took minutes."""
    completion = openai_stream.Completion(turn=0, used_ids=frozenset(), max_tokens=2**20)
    started = time.process_time()
    for data in chunks_of(delta, 50_000):
        completion.feed(data)
    completion.ended = True
    completion.last()
    assert time.process_time() - started < 10.0


def test_a_long_line_in_small_pieces_is_put_together_in_linear_time(monkeypatch):
    monkeypatch.setattr(openai_stream, "_MAX_LINE_BYTES", 8 * 2**20)
    lines, started = openai_stream.SseLines(), time.process_time()
    for _ in range(80_000):
        assert not list(lines.feed(b"data: " + b"x" * 90))
    assert [len(line) for line in lines.feed(b"\n")] == [80_000 * 96 - 6]
    assert time.process_time() - started < 10.0
