"""An observer beside the engine is paid from the money of the rollout, and asked only while it can be."""

import re

import httpx
import pytest
from support.endpoint import DONE, chunk, serving, usage
from support.service import PHOTO, a_gateway, samples

from deployments.config import AppArgs
from deployments.endpoints.key_and_price import money_line, terms_findings
from deployments.http.app import create_app
from deployments.wiring.local import local_ports
from tts.config import OpenAIEngine, RoutingConfig
from tts.domain.plan import Limits
from tts.domain.token_price import Price
from tts.domain.usage import Usage

ZOOM = (
    "<think>What does the sign say?</think><tool_call>"
    '{"name": "image_zoom_in_tool", "arguments": {"bbox_2d": [%d, 0, 406, 238]}}</tool_call>'
)
ANSWER = "<answer>\nCountry: Japan\nCity: Otaru\nLatitude: 43.19\nLongitude: 140.99\n</answer>"
PLANNER = Price(input=100.0, output=1000.0)
OBSERVER = Price(input=500.0, output=5000.0)
LOOKED = 300  # prompt tokens of a question to the observer


def words_of(body):
    contents = [message["content"] for message in body["messages"]]
    texts = [text if isinstance(text, str) else "".join(part.get("text", "") for part in text) for text in contents]
    return "".join(texts)


class Pair:
    """A planner that zooms three times, then answers; an observer that writes as much as it may. Both count."""

    def __init__(self):
        self.cost_usd = 0.0
        self.observer_calls = 0
        self.turns = 0

    def think(self, body, number):
        self.turns += 1
        reply_text = ANSWER if self.turns > 3 or "no more tools" in words_of(body) else ZOOM % self.turns
        read = len(words_of(body)) // 5
        self.cost_usd += PLANNER.cost_usd(Usage(prompt_tokens=read, completion_tokens=60))
        return [chunk(reply_text), chunk(finish="stop"), usage(prompt=read, completion=60), DONE]

    def look(self, body, number):
        self.observer_calls += 1
        written = body.get("max_tokens") or body["max_completion_tokens"]
        self.cost_usd += OBSERVER.cost_usd(Usage(prompt_tokens=LOOKED, completion_tokens=written))
        return [chunk("a canal"), chunk(finish="stop"), usage(prompt=LOOKED, completion=written), DONE]


async def locate_photo(max_cost_usd=None, observed=OBSERVER):
    """The pair, the reply of `POST /locate`, and the metrics."""
    pair = Pair()
    form = {} if max_cost_usd is None else {"max_cost_usd": str(max_cost_usd)}
    async with serving(pair.think) as planner, serving(pair.look) as observer:
        args = AppArgs(
            dialect="spotagent",
            engine=OpenAIEngine(base_url=planner.url, model="m", server="sglang", price=PLANNER),
            observer=OpenAIEngine(base_url=observer.url, model="o", server="sglang", price=observed),
            routing=RoutingConfig(method="fixed"),
        )
        gateway, metrics = a_gateway(args, ports=local_ports(args))
        transport = httpx.ASGITransport(create_app(gateway, args, metrics=metrics), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=30) as client:
            reply = await client.post("/locate", files={"image": PHOTO}, data={"n_parallel": "1", **form})
            metric = samples((await client.get("/metrics")).text)
        await gateway.aclose()
    return pair, reply, metric


async def test_the_cost_of_the_observer_is_in_the_usage_and_the_metric(data_store):
    pair, reply, metric = await locate_photo()
    assert (pair.observer_calls, pair.turns) == (4, 4)  # the photo and three crops
    used = reply.json()["answer"]["usage"]
    assert used["cost_usd"] == pytest.approx(pair.cost_usd)
    assert (used["model_calls"], used["turns"]) == (8, 4)
    assert metric["geotts_cost_usd_total"] == pytest.approx(pair.cost_usd)


@pytest.mark.parametrize("bound", [4.5, 5.5, 7.0, 9.0, 12.0, 15.0])
async def test_a_rollout_with_an_observer_stops_before_it_costs_more_than_it_may(data_store, bound):
    pair, reply, _ = await locate_photo(bound)
    assert reply.status_code == 200, reply.text
    answer = reply.json()["answer"]
    assert 0 < pair.cost_usd <= bound
    assert answer["usage"]["cost_usd"] == pytest.approx(pair.cost_usd)
    assert answer["country"] == "Japan"


async def test_neither_observer_nor_engine_is_asked_without_money_for_the_observer(data_store):
    pair, _, _ = await locate_photo(0.5)
    assert (pair.observer_calls, pair.turns) == (0, 0)


async def test_an_observer_without_a_price_is_asked(data_store):
    pair, reply, _ = await locate_photo(4.5, observed=None)
    assert (reply.status_code, pair.observer_calls) == (200, 4)


def test_doctor_and_plan_need_the_prices_of_engine_and_observer():
    engine = OpenAIEngine(base_url="http://127.0.0.1:9/v1", model="m", price=PLANNER)
    limits = Limits(max_cost_usd=1.0)
    unknown = AppArgs(engine=engine, observer=engine.model_copy(update={"price": None}), limits=limits)
    found = {finding.what: finding for finding in terms_findings(unknown)}
    assert found["price of the model"].state == "ok"
    assert (found["price of the observer"].state, found["price of the observer"].mend) == (
        "missing", "set observer.price",
    )  # fmt: skip
    assert "cannot be kept" in money_line(unknown)
    assert re.fullmatch(r"at most \$1 a request", money_line(AppArgs(engine=engine, observer=engine, limits=limits)))
