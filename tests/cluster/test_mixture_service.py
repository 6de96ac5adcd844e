"""Four engines that share the rollouts of each request, on a real Ray Serve: two endpoints, a script, and `clues`.

The endpoints are servers of this process. One of them ends in the middle, and comes back on the same port.
"""

import json
import re
from collections import Counter, defaultdict
from contextlib import ExitStack

import httpx
import pytest
import pytest_asyncio
from support.basics import sign_bytes
from support.endpoint import chunk, serving_in_a_thread, text_chunks
from support.event_stream import locate
from support.plain_photo import plain_photo
from support.ports import free_port
from support.replicas import Probe

from deployments.config import AppArgs, GatewayConfig
from deployments.launch.cluster import APP_NAME, serve_configuration
from tts.config import EngineShare, OpenAIEngine, RoutingConfig, ScriptedEngine, VerifierConfig
from tts.domain.geo import LatLon, distance_km
from tts.domain.plan import Limits
from tts.domain.trajectory import fold
from tts.verify.consensus.clusters import SCALES
from tts.verify.consensus.reliability import Reliability

pytestmark = [pytest.mark.cluster, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(600)]
PHOTO = sign_bytes("Wilhelmsburg", "Hamburg")
BLANK = plain_photo(320, 240)
OTARU = LatLon(lat=43.19, lon=140.99)
SAPPORO = LatLon(lat=43.06, lon=141.35)
OSAKA = LatLon(lat=34.69, lon=135.5)
HAMBURG = LatLon(lat=53.55, lon=9.99)
DEALT = {"large": 4, "small": 2, "signs": 1, "script": 1}  # of eight rollouts, by shares of 4, 2, 1 and 1
ASKED = {"n_parallel": 8, "depth": "deep", "stop": "none", "seed": 3, "deadline_s": 60}
PRICE = {"input": 2.0, "output": 8.0}  # US dollars for a million tokens


def large_says(body, number):
    """Looks twice where it may, and then answers as the dialect `generic` does."""
    turns = sum(message["role"] == "assistant" for message in body["messages"])
    if body.get("tool_choice") == "auto" and turns < 2:
        search = {"name": "poi_keyword_search", "arguments": '{"query": "Otaru"}'}
        call = chunk(tool_calls=[{"index": 0, "id": f"call{turns}", "function": search}])
        return text_chunks("I look again.", call, finish="tool_calls")
    return text_chunks(json.dumps({"lat": OTARU.lat, "lon": OTARU.lon, "city": "Otaru", "country": "Japan"}))


def small_says(body, number):
    """Answers at once, as a model of Reverse does."""
    return text_chunks(f"<think>Enough.</think>\n<answer>Japan, Sapporo, {SAPPORO.lat}, {SAPPORO.lon}</answer>")


class Endpoints:
    """Both servers, each of which can be ended and started again."""

    def __init__(self, stack):
        self.repliers = {"large": large_says, "small": small_says}
        self.ports = {name: free_port() for name in self.repliers}
        self.running = {}
        self._stack = stack
        self._of = {name: ExitStack() for name in self.repliers}
        for name in self.repliers:
            self.start(name)
            stack.callback(self._of[name].close)

    def start(self, name):
        server = serving_in_a_thread(self.repliers[name], port=self.ports[name])
        self.running[name] = self._of[name].enter_context(server)

    def end(self, name):
        self._of[name].close()

    def url(self, name):
        return f"http://127.0.0.1:{self.ports[name]}/v1"


@pytest.fixture(scope="module")
def endpoints():
    with ExitStack() as stack:
        yield Endpoints(stack)


def mixture_config(endpoints, tmp_path, verifier):
    tape = tmp_path / "osaka.jsonl"
    tape.write_text(json.dumps({"turn": 0, "text": json.dumps({"lat": OSAKA.lat, "lon": OSAKA.lon, "city": "Osaka"})}))
    large = OpenAIEngine(base_url=endpoints.url("large"), model="l", retries=0, price=PRICE)
    small = OpenAIEngine(base_url=endpoints.url("small"), model="s", retries=0)
    members = (
        EngineShare(name="large", share=4, engine=large, limits=Limits(max_turns=2)),
        EngineShare(name="small", share=2, engine=small, dialect="reverse"),
        EngineShare(name="signs", engine={"name": "clues"}),
        EngineShare(name="script", engine=ScriptedEngine(tape=str(tape))),
    )
    return AppArgs(
        engines=members,
        routing=RoutingConfig(method="fixed"),
        gateway=GatewayConfig(port=free_port()),
        verifier=verifier,
    )


@pytest.fixture(scope="module")
def running():
    with ExitStack() as stack:
        yield stack


@pytest.fixture(scope="module")
def url(endpoints, running, data_store, tmp_path_factory):
    """The service; its verifier does not know how reliable the sources are."""
    args = mixture_config(endpoints, tmp_path_factory.mktemp("mixture"), VerifierConfig())
    return running.enter_context(serve_configuration(args)).url


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def http():
    async with httpx.AsyncClient(timeout=90) as client:
        yield client


async def run_of(http, url, photo=PHOTO):
    found = await locate(http, url, photo, **ASKED)
    assert not found.failure, found.failure
    return fold(found.events), found.events


async def test_the_rollouts_of_one_request_run_on_four_engines_by_their_shares(url, http, endpoints):
    for endpoint in endpoints.running.values():
        endpoint.bodies.clear()
    run, _ = await run_of(http, url)
    assert Counter(one.source for one in run.answer.rollouts) == DEALT
    assert not [(one.source, one.error, one.stop_reason) for one in run.answer.rollouts if not one.answered]
    stated = {"large": OTARU, "small": SAPPORO, "signs": HAMBURG, "script": OSAKA}
    assert not [one for one in run.trajectories if distance_km(one.answer.point, stated[one.source]) > 20]
    assert run.answer.provenance.model.count("+") == 3
    assert not [warning for warning in run.answer.warnings if "did not answer" in warning]


async def test_each_engine_has_its_own_dialect_limits_and_price(url, http, endpoints):
    for endpoint in endpoints.running.values():
        endpoint.bodies.clear()
    run, _ = await run_of(http, url)
    by_source = defaultdict(list)
    for one in run.trajectories:
        by_source[one.source].append(one)
    assert {one.usage.turns for one in by_source["large"]} == {2}, "its limits; it would look twice"
    assert len(endpoints.running["large"].bodies) == 4 * 2
    assert len(endpoints.running["small"].bodies) == 2
    opening = {name: json.dumps(server.bodies[0]["messages"]) for name, server in endpoints.running.items()}
    assert re.search(r"<answer>", opening["small"])
    assert not re.search(r"<answer>", opening["large"])
    for one in by_source["large"]:
        paid = (PRICE["input"] * one.usage.prompt_tokens + PRICE["output"] * one.usage.completion_tokens) / 1e6
        assert one.usage.cost_usd == pytest.approx(paid)
        assert paid > 0
    assert all(one.usage.cost_usd == 0 for name in ("small", "signs", "script") for one in by_source[name])
    assert run.answer.usage.cost_usd == pytest.approx(sum(one.usage.cost_usd for one in by_source["large"]))


async def test_a_dead_endpoint_loses_its_share_of_rollouts_until_it_answers_again(url, http, endpoints):
    endpoints.end("small")
    run, events = await run_of(http, url)
    assert Counter(one.source for one in run.answer.rollouts) == {"large": 6, "signs": 1, "script": 1}
    assert not [(one.source, one.error, one.stop_reason) for one in run.answer.rollouts if not one.answered]
    (warning,) = [one for one in run.answer.warnings if "small did not answer" in one]
    moved = {event.rollout_id for event in events if event.type == "rollout_resumed"}
    assert len(moved) == 2
    assert "large did its rollout" in warning
    endpoints.start("small")
    run, _ = await run_of(http, url)
    assert Counter(one.source for one in run.answer.rollouts) == DEALT
    assert await Probe(APP_NAME).idle_within(5.0)


async def test_the_verifier_gets_the_source_of_each_rollout(endpoints, running, http, url, tmp_path):
    """Last: without reliabilities the majority wins; with them, one rollout of a reliable source outweighs seven."""
    run, _ = await run_of(http, url, BLANK)
    assert distance_km(run.answer.point, OTARU) < 50
    known = tmp_path / "sources.json"
    good, poor = (1.0,) * len(SCALES), (0.02,) * len(SCALES)
    factors = {"script": good, "large": poor, "small": poor, "signs": poor}
    known.write_bytes(Reliability(factors=factors).json_bytes())
    running.close()  # two services do not fit into one process
    with serve_configuration(mixture_config(endpoints, tmp_path, VerifierConfig(sources=known))) as service:
        run, _ = await run_of(http, service.url, BLANK)
    assert Counter(one.source for one in run.answer.rollouts) == DEALT
    assert distance_km(run.answer.point, OSAKA) < 1
