"""The `openai` engine against an endpoint on loopback that misbehaves in every way real ones do."""

import asyncio
import time
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from support.endpoint import CUT, DONE, Reply, chunk, text_chunks, usage
from support.openai_calls import a_model_request, deltas_of, served_model, text_of

from tts.config import OpenAIEngine
from tts.errors import DeadlineExceeded, ModelError, Overloaded
from tts.inference.openai.engine import OpenAIModel
from tts.inference.openai.retry import Backoff, retry_after_s


def function(name=None, arguments=None):
    return {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}


# Tool calls as published servers stream them; all mean look(query="Café").
SHAPES = {
    "openai: id and name first, arguments in pieces, later pieces by index": [
        chunk(tool_calls=[{"index": 0, "id": "a", "type": "function", "function": function("look", "")}]),
        chunk(tool_calls=[{"index": 0, "function": function(arguments='{"que')}]),
        chunk(tool_calls=[{"index": 0, "function": function(arguments='ry": "Café"}')}]),
    ],
    "vllm: the id repeated, name and arguments null afterwards": [
        chunk(tool_calls=[{"index": 0, "id": "a", "type": "function", "function": {"name": "look"}}]),
        chunk(tool_calls=[{"index": 0, "id": "a", "function": {"name": None, "arguments": '{"query": '}}]),
        chunk(tool_calls=[{"index": 0, "id": "a", "function": {"arguments": '"Café"}'}}]),
        chunk(tool_calls=[{"index": 0, "function": {"arguments": None}}]),
    ],
    "sglang: the name in every piece": [
        chunk(tool_calls=[{"index": 0, "id": "a", "function": function("look", '{"query":')}]),
        chunk(tool_calls=[{"index": 0, "id": None, "function": function("look", ' "Café"}')}]),
    ],
    "llama.cpp: whole, at once, without an id": [
        chunk(tool_calls=[{"index": 0, "id": "", "function": function("look", '{"query": "Café"}')}]),
    ],
    "arguments as an object": [
        chunk(tool_calls=[{"index": 0, "id": "a", "function": function("look", {"query": "Café"})}]),
    ],
    "no index": [
        chunk(tool_calls=[{"id": "a", "function": function("look", '{"query": ')}]),
        chunk(tool_calls=[{"function": function(arguments='"Café"}')}]),
    ],
    "the older function_call": [
        chunk(function_call=function("look", '{"query":')),
        chunk(function_call=function(arguments='"Café"}')),
    ],
    "a whole message instead of a delta": [
        {"choices": [{"message": {"tool_calls": [{"id": "a", "function": function("look", '{"query": "Café"}')}]}}]}
    ],
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("finish", ["tool_calls", "stop"])
async def test_every_published_shape_of_a_tool_call_is_the_same_call(shape, finish):
    async with served_model(lambda body, n: text_chunks("hm", *SHAPES[shape], finish=finish)) as (model, _):
        last = (await deltas_of(model))[-1]
    (call,) = last.tool_calls
    assert (call.name, call.arguments) == ("look", {"query": "Café"})
    assert call.id
    assert last.finish_reason == "tool_calls"


@pytest.mark.parametrize("indexed", [True, False])
async def test_several_calls_keep_their_order_and_have_their_own_ids(indexed):
    pieces = [
        chunk(tool_calls=[{**({"index": i} if indexed else {}), "id": "same", "function": function(name, "{}")}])
        for i, name in enumerate(("look", "zoom"))
    ]
    if not indexed:
        pieces[1]["choices"][0]["delta"]["tool_calls"][0]["id"] = "other"
    async with served_model(lambda body, n: text_chunks("", *pieces)) as (model, _):
        calls = (await deltas_of(model))[-1].tool_calls
    assert [call.name for call in calls] == ["look", "zoom"]
    assert calls[0].id != calls[1].id


async def test_arguments_that_are_no_object_become_text_the_dialect_can_complain_about():
    broken = chunk(tool_calls=[{"index": 0, "id": "a", "function": function("look", '{"query": "Par')}])
    async with served_model(lambda body, n: text_chunks("so", broken, finish="length")) as (model, _):
        deltas = await deltas_of(model)
    assert deltas[-1].tool_calls == ()
    assert deltas[-1].finish_reason == "length"
    assert '<tool_call>\n{"name": "look", "arguments": {"query": "Par' in text_of(deltas)


NOISE = [
    b": keep-alive\n\n", b"event: ping\ndata: {}\n\n", b"data: not json\n\n", b"data: [1, 2]\n\n", b'data: "text"\n\n',
    b"data: null\n\n", b"retry: 10\n\n", {"choices": []}, {"choices": None}, {"choices": [None]}, {"choices": [{}]},
    {"choices": [{"delta": None, "finish_reason": None}]}, {"choices": [{"delta": "x"}]}, {"object": "other", "n": 1},
    chunk(tool_calls=None), chunk(tool_calls=[None]), {"usage": None}, chunk(finish=""),
]  # fmt: skip


async def test_stream_events_that_are_no_part_of_a_completion_are_passed_over():
    async with served_model(lambda body, n: [*NOISE, *text_chunks("good morning", *NOISE)]) as (model, endpoint):
        deltas = await deltas_of(model)
    assert text_of(deltas).split() == ["good", "morning"]
    assert deltas[-1].finish_reason == "stop"
    assert len(endpoint.bodies) == 1


async def test_bytes_may_be_cut_anywhere_even_inside_a_character():
    raw = 'data: {"choices":[{"delta":{"content":"Größe 東京"}}]}\r\n\r\n'.encode()
    async with served_model(
        lambda body, n: [*(raw[i : i + 1] for i in range(len(raw))), chunk(finish="stop"), DONE]
    ) as (
        m,
        _,
    ):
        assert text_of(await deltas_of(m)) == "Größe 東京"


async def test_reasoning_that_the_server_split_off_is_put_back():
    steps = [
        chunk(reasoning_content="a sign"),
        chunk(reasoning_content=" in Thai"),
        chunk("Bangkok"),
        chunk(finish="stop"),
        DONE,
    ]
    async with served_model(lambda body, n: steps) as (model, _):
        assert text_of(await deltas_of(model)) == "<think>a sign in Thai</think>Bangkok"
    async with served_model(lambda body, n: [chunk(reasoning="hm"), chunk(finish="length"), DONE]) as (model, _):
        assert text_of(await deltas_of(model)) == "<think>hm</think>"


@pytest.mark.parametrize(
    ("ending", "expected"),
    [
        ([usage(100, 7, cached=64)], (100, 7, 64)),
        ([{"usage": {"prompt_tokens": 9, "completion_tokens": 2, "prompt_cache_hit_tokens": 8}}], (9, 2, 8)),
        ([{**chunk(), "timings": {"cache_n": 50, "prompt_n": 10, "predicted_n": 4}}], (60, 4, 50)),
        ([], (0, 3, 0)),
    ],
    ids=["openai", "deepseek", "llama.cpp", "none"],
)  # fmt: skip
async def test_usage_is_read_in_every_shape(ending, expected):
    steps = [chunk("one "), chunk("two "), chunk("three"), chunk(finish="stop"), *ending, DONE]
    async with served_model(lambda body, n: steps) as (model, _):
        found = (await deltas_of(model))[-1].usage
    assert (found.prompt_tokens, found.completion_tokens, found.cached_tokens) == expected


async def test_an_endpoint_that_does_not_stream_is_understood():
    whole = {"choices": [{"message": {"content": "Paris"}, "finish_reason": "stop"}], "usage": {"completion_tokens": 1}}
    async with served_model(lambda body, n: Reply(body=whole)) as (model, _):
        deltas = await deltas_of(model)
    assert text_of(deltas) == "Paris"
    assert deltas[-1].usage.completion_tokens == 1


@pytest.mark.parametrize("status", [429, 500, 502, 503, 529])
async def test_a_busy_or_broken_endpoint_is_asked_again(status):
    def play(body, number):
        return Reply(status, {"error": {"message": "later"}}) if number < 2 else text_chunks("at last")

    async with served_model(play) as (model, endpoint):
        if status in (429, 503, 529):  # these wait a second each unless the endpoint says how long
            endpoint.play = lambda b, n: Reply(status, {}, {"Retry-After": "0"}) if n < 2 else text_chunks("at last")
        assert text_of(await deltas_of(model)).strip() == "at last"
    assert len(endpoint.bodies) == 3


async def test_a_retry_waits_as_long_as_retry_after_says():
    def play(body, number):
        return Reply(429, {}, {"Retry-After": "0.3"}) if number == 0 else text_chunks("ok")

    async with served_model(play) as (model, _):
        started = time.monotonic()
        await deltas_of(model)
        assert time.monotonic() - started >= 0.3


async def test_a_pause_beyond_the_deadline_is_not_begun():
    async with served_model(lambda body, n: Reply(429, {}, {"Retry-After": "60"})) as (model, endpoint):
        with pytest.raises(Overloaded) as caught:
            await deltas_of(model, a_model_request(remaining_s=5.0))
    assert caught.value.retry_after_s == 60.0
    assert len(endpoint.bodies) == 1


async def test_a_request_refused_with_400_is_not_repeated():
    async with served_model(lambda body, n: Reply(400, {"error": {"message": "context is too long"}})) as (
        model,
        endpoint,
    ):
        with pytest.raises(ModelError, match="answered 400: context is too long"):
            await deltas_of(model)
    assert len(endpoint.bodies) == 1


async def test_a_refused_key_is_explained_and_never_shown(monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-secret")
    async with served_model(lambda body, n: Reply(401, b"<html>"), api_key_env="MY_KEY") as (model, endpoint):
        with pytest.raises(ModelError, match=r"401 .*\$MY_KEY") as caught:
            await deltas_of(model)
    assert endpoint.headers[0]["authorization"] == "Bearer sk-secret"
    assert "sk-secret" not in str(caught.value)


async def test_a_request_is_repeated_only_if_its_connection_is_lost_before_the_first_word():
    async with served_model(lambda body, n: [CUT] if n == 0 else text_chunks("ok")) as (model, endpoint):
        assert text_of(await deltas_of(model)).strip() == "ok"
        assert len(endpoint.bodies) == 2
    async with served_model(lambda body, n: [chunk("I see"), CUT]) as (model, endpoint):
        with pytest.raises(ModelError) as caught:
            await deltas_of(model)
    assert caught.value.fields["transient"]
    assert len(endpoint.bodies) == 1


async def test_a_stream_that_ends_without_a_reason_was_cut():
    async with served_model(lambda body, n: [chunk("I see")], retries=0) as (model, _):
        with pytest.raises(ModelError, match="was cut"):
            await deltas_of(model)


async def test_an_error_inside_a_stream_is_raised_after_the_retries():
    async with served_model(lambda body, n: [{"error": {"message": "CUDA out of memory"}}], retries=1) as (
        model,
        endpoint,
    ):
        with pytest.raises(ModelError, match="CUDA out of memory"):
            await deltas_of(model)
    assert len(endpoint.bodies) == 2


async def test_silence_is_bounded_by_phase_and_by_the_deadline():
    async with served_model(lambda body, n: [0.5, *text_chunks("late")], first_token_s=0.1, retries=0) as (model, _):
        with pytest.raises(ModelError, match=r"silent for 0\.1 s"):
            await deltas_of(model)
    async with served_model(lambda body, n: [chunk("a"), 0.5, *text_chunks("late")], idle_s=0.1, retries=0) as (
        model,
        _,
    ):
        with pytest.raises(ModelError, match=r"silent for 0\.1 s"):
            await deltas_of(model)
    async with served_model(lambda body, n: [5.0, *text_chunks("late")]) as (model, _):
        with pytest.raises(DeadlineExceeded):
            await deltas_of(model, a_model_request(remaining_s=0.1))


async def test_an_endpoint_that_is_not_there_is_an_error():
    model = OpenAIModel(OpenAIEngine(base_url="http://127.0.0.1:9", model="m", retries=1, backoff_s=0.01))
    with pytest.raises(ModelError, match="connection to the endpoint failed: ConnectError"):
        await deltas_of(model)


async def test_closing_the_iterator_closes_the_connection():
    async with served_model(
        lambda body, n: [chunk("a"), *[0.05, chunk("b")] * 200] if n == 0 else text_chunks("ok")
    ) as (
        model,
        endpoint,
    ):
        async with aclosing(model.generate(a_model_request())) as deltas:
            while not (await anext(deltas)).text:
                pass
            assert (model.running, endpoint.streaming) == (1, 1)
        await asyncio.sleep(0.15)
        assert (model.running, endpoint.streaming, endpoint.hung_up) == (0, 0, 1)
        assert text_of(await deltas_of(model)).strip() == "ok"


async def test_turns_share_a_connection_unless_the_endpoint_leaves_its_reply_open():
    async with served_model(lambda body, n: text_chunks("ok")) as (model, endpoint):
        for _ in range(3):
            await deltas_of(model)
    assert endpoint.connections == 1
    async with served_model(lambda body, n: [*text_chunks("ok"), 5.0]) as (model, endpoint):
        async with asyncio.timeout(2.0):
            assert text_of(await deltas_of(model)).strip() == "ok"


async def test_no_more_generations_run_at_once_than_configured():
    peak = 0

    def play(body, number):
        nonlocal peak
        peak = max(peak, endpoint.streaming + 1)
        return [0.05, *text_chunks("ok")]

    async with served_model(play, max_running=2) as (model, endpoint):
        await asyncio.gather(*(deltas_of(model) for _ in range(6)))
    assert peak == 2
    async with served_model(play, max_running=1, max_queued=0) as (model, endpoint):
        results = await asyncio.gather(*(deltas_of(model) for _ in range(3)), return_exceptions=True)
    assert sum(isinstance(result, Overloaded) for result in results) == 2


async def test_the_first_listed_model_is_taken_when_none_is_named():
    async with served_model(lambda body, n: text_chunks("ok"), model="") as (model, endpoint):
        await deltas_of(model)
        assert endpoint.bodies[0]["model"] == model.name == "listed-model"


def test_pauses_double_with_jitter_and_never_undercut_the_server():
    backoff = Backoff(1.0)
    for attempt, longest in enumerate((1.0, 2.0, 4.0, 8.0)):
        assert longest / 2 <= backoff.pause_s(attempt, None) <= longest
    assert backoff.pause_s(20, None) <= 30.0
    assert 7.0 <= backoff.pause_s(0, 7.0) <= 7.1


@pytest.mark.parametrize(
    ("header", "expected"),
    [("3", 3.0), ("0.5", 0.5), ("", None), (None, None), ("soon", None), ("-4", None), ("inf", None)],
)
def test_retry_after_is_read_as_seconds(header, expected):
    assert retry_after_s(header) == expected


def test_retry_after_is_read_as_a_date():
    in_a_minute = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    seconds = retry_after_s(in_a_minute)
    assert seconds is not None
    assert 58.0 <= seconds <= 60.0
