"""A budget instead of n and depth, over HTTP: what is planned, what is refused, and that nothing is exceeded."""

import base64
import json

import pytest
from support.service import PHOTO, an_app, talking_to

from geotts_client import Budget, LocateOptions
from tts.config import ScriptedEngine
from tts.domain.events import parse_event
from tts.domain.trajectory import fold

pytestmark = pytest.mark.slow
IMAGE = {"base64": base64.b64encode(PHOTO).decode()}
TALKATIVE = ScriptedEngine(turns=8, tokens_per_turn=200, turn_s=0.05)
SLOW = ScriptedEngine(turns=8, tokens_per_turn=8, turn_s=0.5)


async def run_of(client, **body):
    reply = await client.post("/locate", json={"image": IMAGE, **body}, headers={"Accept": "application/x-ndjson"})
    assert reply.status_code == 200, reply.text
    return fold(parse_event(line) for line in reply.text.splitlines() if line.strip())


@pytest.mark.parametrize("tokens", [16, 100, 900, 20_000])
async def test_no_more_tokens_are_written_than_the_budget_allows(tokens):
    async with talking_to(an_app(TALKATIVE)) as client:
        run = await run_of(client, budget={"tokens": tokens})
    used = run.answer.budget
    assert used.budget == Budget(tokens=tokens)
    assert used.tokens == sum(one.usage.completion_tokens for one in run.trajectories) <= tokens
    assert (used.seconds, used.money_usd) == (None, None)


async def test_the_answer_is_ready_when_the_seconds_of_the_budget_are_over():
    async with talking_to(an_app(SLOW)) as client:
        run = await run_of(client, budget="1s")
    assert run.answer.budget.seconds == run.answer.timing.total_s < 1.2
    assert run.answer.n.asked == run.accepted.n_parallel >= 1


async def test_the_plan_says_what_the_budget_decided():
    async with talking_to(an_app()) as client:
        run = await run_of(client, budget="30s,20k-tokens")
    plan = run.routed.plan
    assert plan.n_planned == plan.n_asked == len(run.rollouts)
    assert "the budget is 20,000 tokens and 30 s; in made-up runs" in plan.summary


@pytest.mark.parametrize("more", [{"n_parallel": 4}, {"depth": "deep"}, {"n_parallel": 2, "depth": "auto"}])
async def test_a_budget_beside_what_it_decides_is_refused(more):
    async with talking_to(an_app()) as client:
        reply = await client.post("/locate", json={"image": IMAGE, "budget": {"seconds": 3}, **more})
    assert reply.status_code == 422
    problem = reply.json()
    assert "either a budget or these" in problem["detail"]
    assert problem["errors"][0]["field"] == "budget"


@pytest.mark.parametrize("budget", [{}, {"seconds": 0}, {"hours": 1}, "soon", '{"a":' * 50_000])
async def test_an_invalid_budget_is_refused_by_its_field(budget):
    async with talking_to(an_app()) as client:
        reply = await client.post("/locate", json={"image": IMAGE, "budget": budget})
    assert reply.status_code == 422
    assert reply.json()["errors"][0]["field"].startswith("budget")


async def test_forms_and_chat_completions_accept_a_budget_too():
    async with talking_to(an_app()) as client:
        form = await client.post("/locate", files={"image": PHOTO}, data={"budget": json.dumps({"tokens": 5000})})
        content = [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{IMAGE['base64']}"}}]
        chat = {
            "model": "geotts",
            "messages": [{"role": "user", "content": content}],
            "geotts": {"budget": "5k-tokens"},
        }
        reply = await client.post("/v1/chat/completions", json=chat)
        deep = await client.post("/v1/chat/completions", json={**chat, "model": "geotts-deep"})
    assert form.json()["answer"]["budget"]["budget"]["tokens"] == 5000
    answer = json.loads(reply.json()["choices"][0]["message"]["content"])
    assert answer["budget"]["tokens"] <= 5000
    assert deep.status_code == 422


async def test_a_request_without_a_budget_says_nothing_of_one():
    async with talking_to(an_app()) as client:
        reply = await client.post("/locate", json={"image": IMAGE, "n_parallel": 1})
    assert "budget" not in reply.json()["answer"]


def test_the_client_reads_a_budget_written_in_words():
    assert LocateOptions(budget="2min").budget == Budget(seconds=120)
