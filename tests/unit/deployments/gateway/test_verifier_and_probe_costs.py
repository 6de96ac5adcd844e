"""What verifier, second reader and probe cost is in the answer and the metric, and `max_cost_usd` holds with them."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import httpx
import pytest
from support.basics import a_context
from support.endpoint import DONE, Reply, chunk, serving, usage
from support.service import PHOTO, a_gateway, samples

from deployments.config import AppArgs
from deployments.http.app import create_app
from deployments.wiring.local import local_ports
from tts.config import ConsistencyConfig, OpenAIEngine, RoutingConfig, VerifierConfig
from tts.domain.messages import text_message
from tts.domain.plan import Limits
from tts.domain.token_price import Price
from tts.domain.usage import Usage
from tts.errors import MoneySpent
from tts.inference.usage_meter import Meter
from tts.ports.model_client import Delta, ModelRequest, Sampling

ANSWER = '{"lat": 43.19, "lon": 140.99, "city": "Otaru", "country": "Japan", "reasoning": "Kanji on every sign."}'
PRICE = Price(input=1000.0, output=1.0)
READ = {"rollout": 1670, "verifier": 650, "reader": 150, "probe": 500}  # prompt tokens, as the endpoint counts them
JUST_A_ROLLOUT = 1.75


def asked_of(body):
    """What a request is for: `verifier`, `reader`, `probe` or `rollout`."""
    text = json.dumps(body["messages"])
    role_by_words = {"Several investigators": "verifier", "are hidden as": "reader", "How easily could": "probe"}
    return next((role for words, role in role_by_words.items() if words in text), "rollout")


def play(body, number):
    role = asked_of(body)
    text_by_role = {"probe": "8 DEEP", "reader": json.dumps({"country": "Japan", "region": "", "place": "Otaru"})}
    if role == "verifier":
        ids = re.findall(r"\[([A-Z]\d+)\]", json.dumps(body["messages"]))
        text_by_role["verifier"] = json.dumps({"reasons": [{"text": "the signs", "evidence": ids[:1]}], "choice": "A"})
    text = text_by_role.get(role, f"Kanji on every sign, so this is in the far east of Asia. {ANSWER}")
    return [chunk(text), chunk(finish="stop"), usage(prompt=READ[role]), DONE]


@asynccontextmanager
async def service(play=play, **config):
    """A client of a service over a hosted model that verifies, reads again and is asked to rate photos, too."""
    async with serving(play) as endpoint:
        engine = OpenAIEngine(base_url=endpoint.url, model="m", server="sglang", price=PRICE)
        verifier = VerifierConfig(kind="model", consistency=ConsistencyConfig())
        config = {"engine": engine, "verifier": verifier, "routing": RoutingConfig(method="probe"), **config}
        args = AppArgs(**config)
        gateway, metrics = a_gateway(args, ports=local_ports(args))
        transport = httpx.ASGITransport(create_app(gateway, args, metrics=metrics), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=30) as client:
            yield client, endpoint
        await gateway.aclose()


def cost_of(endpoint):
    read = sum(READ[asked_of(body)] for body in endpoint.bodies)
    return PRICE.cost_usd(Usage(prompt_tokens=read, completion_tokens=10 * len(endpoint.bodies)))


async def locate_photo(client, **form):
    reply = await client.post("/locate", files={"image": PHOTO}, data={"depth": "standard", **form})
    assert reply.status_code == 200, reply.text
    return reply.json()


async def test_the_answer_and_the_metric_count_every_model_that_was_asked(data_store):
    async with service() as (client, endpoint):
        answer = (await locate_photo(client, n_parallel="2"))["answer"]
        metric = samples((await client.get("/metrics")).text)
    roles = [asked_of(body) for body in endpoint.bodies]
    assert sorted(set(roles)) == ["probe", "reader", "rollout", "verifier"]
    used = answer["usage"]
    assert used["cost_usd"] == pytest.approx(cost_of(endpoint))
    assert (used["model_calls"], used["prompt_tokens"]) == (len(roles), sum(READ[role] for role in roles))
    assert used["turns"] == roles.count("rollout")
    assert used["bytes_sent"] == sum(int(headers["content-length"]) for headers in endpoint.headers)
    assert metric["geotts_cost_usd_total"] == pytest.approx(used["cost_usd"])
    assert metric['geotts_tokens_total{kind="prompt"}'] == used["prompt_tokens"]


@pytest.mark.parametrize("whose", ["caller", "operator"])
async def test_without_money_for_the_verifier_model_the_consensus_decides_and_says_so(data_store, whose):
    operator = Limits(max_cost_usd=JUST_A_ROLLOUT) if whose == "operator" else Limits()
    async with service(routing=RoutingConfig(method="fixed"), limits=operator) as (client, endpoint):
        form = {"max_cost_usd": str(JUST_A_ROLLOUT)} if whose == "caller" else {}
        answer = (await locate_photo(client, n_parallel="1", **form))["answer"]
    assert [asked_of(body) for body in endpoint.bodies] == ["rollout"]
    assert answer["usage"]["cost_usd"] <= JUST_A_ROLLOUT
    assert answer["country"] == "Japan"
    warning_text = " ".join(answer["warnings"])
    assert (
        "the money limit of this request is used up: the consensus decided without the verifier model" in warning_text
    )


@pytest.mark.parametrize("bound", [1.6, 2.3, 3.6, 4.2, 5.0, 6.0])
async def test_no_request_costs_more_than_max_cost_usd_with_probe_and_verifier(data_store, bound):
    async with service() as (client, endpoint):
        answer = (await locate_photo(client, n_parallel="2", max_cost_usd=str(bound)))["answer"]
    assert answer["usage"]["cost_usd"] == pytest.approx(cost_of(endpoint))
    assert answer["usage"]["cost_usd"] <= bound


async def test_the_probe_is_not_asked_without_money_for_it(data_store):
    async with service() as (client, endpoint):
        await client.post("/locate", files={"image": PHOTO}, data={"max_cost_usd": "1e-6"})
    assert endpoint.bodies == []


COST = "geotts_cost_usd_total"


async def test_a_request_that_fails_has_cost_what_its_probe_cost(data_store):
    def refuses_rollouts(body, number):
        return Reply(401, {"error": {"message": "no"}}) if asked_of(body) == "rollout" else play(body, number)

    async with service(refuses_rollouts) as (client, endpoint):
        reply = await client.post("/locate", files={"image": PHOTO}, data={"depth": "auto"})
        metric = samples((await client.get("/metrics")).text)
    assert reply.status_code == 502, reply.text
    roles = [asked_of(body) for body in endpoint.bodies]
    assert (roles.count("probe"), set(roles)) == (1, {"probe", "rollout"})
    assert metric[COST] == pytest.approx(PRICE.cost_usd(Usage(prompt_tokens=READ["probe"], completion_tokens=10)))
    assert metric['geotts_tokens_total{kind="prompt"}'] == READ["probe"]


@pytest.mark.parametrize("stops_in", ["reader", "verifier"])
async def test_a_cancelled_request_has_cost_what_probe_and_verifier_were_answered_before(data_store, stops_in):
    """The question in which it is cancelled has no usage yet; all before it count."""
    reached = asyncio.Event()

    def waits(body, number):
        if asked_of(body) != stops_in:
            return play(body, number)
        reached.set()
        return [30.0]

    async with service(waits) as (client, endpoint):
        under_way = asyncio.create_task(
            client.post("/locate", files={"image": PHOTO}, data={"depth": "standard", "n_parallel": "2"})
        )
        async with asyncio.timeout(20):
            await reached.wait()
        under_way.cancel()
        async with asyncio.timeout(20):
            while True:
                metric = samples((await client.get("/metrics")).text)
                if 'geotts_requests_total{stop_reason="cancelled"}' in metric:
                    break
                await asyncio.sleep(0.02)
    asked = [asked_of(body) for body in endpoint.bodies]
    answered = [role for role in asked if role != stops_in]
    assert ("probe" in answered, "verifier" in answered) == (True, stops_in == "reader")
    used = Usage(prompt_tokens=sum(READ[role] for role in answered), completion_tokens=10 * len(answered))
    assert metric[COST] == pytest.approx(PRICE.cost_usd(used))


class Dear:
    """A model that writes as much as it may."""

    name = "dear"
    price = Price(input=0.0, output=1e6)

    async def generate(self, request):
        await asyncio.sleep(0.01)
        written = Usage(completion_tokens=request.sampling.max_tokens, cost_usd=float(request.sampling.max_tokens))
        yield Delta(text="x", finish_reason="stop", usage=written)


def a_question(tokens):
    return ModelRequest(a_context(), "s", (text_message("user", "?"),), Sampling(max_tokens=tokens))


async def ask(meter, tokens):
    return [delta async for delta in meter.generate(Dear(), a_question(tokens))]


async def test_questions_side_by_side_keep_to_the_money_together():
    meter = Meter(1000.0)
    answers = await asyncio.gather(*(ask(meter, 300) for _ in range(5)), return_exceptions=True)
    assert [type(answer) for answer in answers] == [list, list, list, MoneySpent, MoneySpent]
    assert (meter.usage.cost_usd, meter.usage.model_calls, meter.refused) == (900.0, 3, 2)


async def test_a_question_that_waits_for_another_may_spend_the_remaining_money():
    meter = Meter(1000.0)
    await asyncio.gather(ask(meter, 700), ask(meter, 400))
    assert meter.usage.cost_usd == 1000.0
    assert meter.refused == 0


async def test_a_reply_that_is_cut_off_is_counted_by_its_size():
    meter = Meter()

    class Endless(Dear):
        async def generate(self, request):
            while True:
                yield Delta(text="and so on ")
                await asyncio.sleep(0)

    answer = meter.generate(Endless(), a_question(10))
    await anext(answer)
    assert isinstance(answer, AsyncGenerator)
    await answer.aclose()
    assert meter.usage.completion_tokens > 0
    assert meter.usage.cost_usd > 0
