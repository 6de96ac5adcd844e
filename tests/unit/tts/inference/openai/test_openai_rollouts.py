"""Four rollouts over HTTP against an endpoint that treats each of them badly in its own way."""

import asyncio
import json
import time

import pytest
from support.basics import a_context, leftover_tasks
from support.dialect_rollouts import toolbox
from support.endpoint import CUT, DONE, Reply, chunk, serving, text_chunks

from tts.config import OpenAIEngine
from tts.dialects import DIALECTS
from tts.domain.answer import StopReason
from tts.domain.events import RolloutFinished, RolloutResumed, Text, ToolResulted
from tts.domain.plan import Limits
from tts.domain.trajectory import fold
from tts.inference.openai.engine import OpenAIModel
from tts.ports.rollout_groups import GroupRequest, RolloutTask
from tts.rollout.agent import Agent
from tts.rollout.group import run_group

ANSWER = '{"lat": 43.19, "lon": 140.99, "city": "Otaru", "country": "Japan"}'
SEARCH = {"name": "poi_keyword_search", "arguments": '{"query": "Otaru"}'}


def a_search(number):
    return text_chunks(
        "A sign.", chunk(tool_calls=[{"index": 0, "id": f"x{number}", "function": SEARCH}]), finish="tool_calls"
    )


def turns_of(body):
    return sum(message["role"] == "assistant" for message in body["messages"])


class Hostile:
    """By rollout (its seed tells which): never ends, is cut in mid-sentence once, is busy twice, garbles its answer."""

    def __init__(self, n):
        self.seeds = {}
        self.seen = {}
        self.n = n

    def __call__(self, body, number):
        rollout = self.seeds[body["seed"]]
        asked = self.seen[rollout] = self.seen.get(rollout, -1) + 1
        if rollout == 0:
            return [chunk("I am "), *[0.05, chunk("thinking ")] * 2000]
        if rollout == 1 and asked == 1:
            return [chunk("I almost kn"), CUT]
        if rollout == 2 and asked < 2:
            return Reply(503, {"error": "warming up"}, {"Retry-After": "0.05"})
        if rollout == 3 and asked == 1:
            return [chunk('It is {"lat": nor'), {"choices": []}, b"data: oops\n\n", chunk(finish="stop"), DONE]
        return text_chunks(f"So: {ANSWER}") if turns_of(body) else a_search(number)


async def run(play, dialect, photo, *, n=4, seconds=6.0, **config):
    async with serving(play) as endpoint:
        model = OpenAIModel(OpenAIEngine(base_url=endpoint.url, model="m", backoff_s=0.01, **config))
        tasks = tuple(RolloutTask(rollout_id=i, seed=i + 1) for i in range(n))
        play.seeds = {
            dialect.sampling(rollout_id=i, n=n, seed=i + 1, turn=turn, max_tokens=9).seed: i
            for i in range(n)
            for turn in range(8)
        }
        group = GroupRequest(
            context=a_context(seconds), photos=(photo,), tasks=tasks, n_total=n, limits=Limits()
        )  # fmt: skip
        started = time.monotonic()
        items = [
            i async for batch in run_group(Agent(model, dialect, toolbox()), group, coalesce_s=0.02) for i in batch
        ]
        took = time.monotonic() - started
        await model.aclose()
        await asyncio.sleep(0.1)
        assert (model.running, endpoint.streaming) == (0, 0)
    assert not leftover_tasks()
    return items, took


@pytest.mark.slow
async def test_four_rollouts_answer_in_time_whatever_happens_to_one_of_them(sign_photo):
    items, took = await run(Hostile(4), DIALECTS["generic"], sign_photo)
    ends = {end.rollout_id: end for end in items if isinstance(end, RolloutFinished)}
    assert {i: end.stop_reason for i, end in ends.items()} == {
        0: StopReason.DEADLINE, 1: StopReason.ANSWERED, 2: StopReason.ANSWERED, 3: StopReason.ANSWERED,
    }  # fmt: skip
    assert all(ends[i].answer.city == "Otaru" for i in (1, 2, 3))
    assert took < 7.0
    (resumed,) = (item for item in items if isinstance(item, RolloutResumed))
    assert (resumed.rollout_id, resumed.from_turn) == (1, 0)


@pytest.mark.slow
async def test_text_that_came_before_the_connection_was_lost_is_void(sign_photo):
    items, _ = await run(Hostile(2), DIALECTS["generic"], sign_photo, n=2, seconds=8.0)
    numbered = [item.model_copy(update={"seq": i + 1}) for i, item in enumerate(items) if hasattr(item, "seq")]
    trajectory = next(t for t in fold(numbered).trajectories if t.rollout_id == 1)
    assert "almost" in "".join(item.text for item in items if isinstance(item, Text))
    assert "almost" not in "".join(turn.text for turn in trajectory.turns)


class Hermes:
    """Writes calls as text, as a server without a tool parser passes them on."""

    seeds: dict

    def __call__(self, body, number):
        assert "tools" not in body
        assert "# Tools" in body["messages"][0]["content"]
        if not turns_of(body):
            call = {"name": "amap_keyword_search", "arguments": {"query": "Hefei"}}
            return text_chunks(f"Hypothesis.\n<tool_call>\n{json.dumps(call)}\n</tool_call>")
        assert "<tool_response>\nid: p2" in body["messages"][-1]["content"]
        return text_chunks(ANSWER)


async def test_tool_calls_in_hermes_text_are_read_over_http(sign_photo):
    items, _ = await run(Hermes(), DIALECTS["thinking_with_map"], sign_photo, n=1, tools="text")
    (result,) = (item.result for item in items if isinstance(item, ToolResulted))
    assert (result.ok, result.name) == (True, "amap_keyword_search")
    assert next(item for item in items if isinstance(item, RolloutFinished)).stop_reason is StopReason.ANSWERED


class Unparsed(Hermes):
    """Was asked with native tools and writes hermes text; refuses results without a call, as the API does."""

    def __call__(self, body, number):
        ids = {call["id"] for message in body["messages"] for call in message.get("tool_calls") or ()}
        if any(m["role"] == "tool" and m["tool_call_id"] not in ids for m in body["messages"]):
            return Reply(400, {"error": {"message": "tool message without a call"}})
        if not turns_of(body):
            call = {"name": "poi_keyword_search", "arguments": {"query": "Hefei"}}
            return text_chunks(f"<tool_call>\n{json.dumps(call)}\n</tool_call>")
        return text_chunks(ANSWER)


async def test_calls_that_came_as_text_are_answered_as_text(sign_photo):
    items, _ = await run(Unparsed(), DIALECTS["generic"], sign_photo, n=1)
    assert next(item for item in items if isinstance(item, RolloutFinished)).stop_reason is StopReason.ANSWERED
