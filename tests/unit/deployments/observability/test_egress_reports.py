"""What left the machine, to whom and when: in the events, the reply, the audit log and the metrics; and what the
caller may keep from being seen."""

import asyncio
import json
from dataclasses import replace

import pytest
from support.provider_server import answer_with_samples, config_for
from support.rude_server import as_json, rude_server
from support.service import PHOTO, an_app, samples, with_tools

from deployments.config import AppArgs
from deployments.observability.audit import AuditLog
from deployments.wiring.local import local_ports, local_tools
from deployments.wiring.parts import remote_engines
from tts.config import ConsistencyConfig, OpenAIEngine, ScriptedEngine, VerifierConfig
from tts.domain.events import Done, LeftMachine, ToolResulted, parse_event
from tts.egress.records import EGRESS, EgressRecord
from tts.errors import Overloaded

SEARCHING = ScriptedEngine(turns=3, tokens_per_turn=4, tool="web_search")
FORM = {"files": {"image": PHOTO}, "data": {"n_parallel": "2", "seed": "1", "include": "full"}}
NDJSON = {"Accept": "application/x-ndjson"}


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("SERPER_API_KEY", "serper-key-of-this-test")


def app_with_search(server, engine=SEARCHING, *providers):
    tools = config_for(server, *(providers or ("serper", "offline")))
    return an_app(engine).model_copy(update={"tools": tools})


def events_in(reply):
    return [parse_event(line) for line in reply.text.splitlines() if line.strip()]


async def test_the_stream_ends_with_the_requests_that_were_sent_out(data_store):
    async with rude_server(answer_with_samples("serper")) as server:
        args = app_with_search(server)
        async with with_tools(args, local_tools(args)) as http:
            first = events_in(await http.post("/locate", **FORM, headers=NDJSON))
            again = events_in(await http.post("/locate", **FORM, headers=NDJSON))
    egress, done = first[-2:]
    assert isinstance(egress, LeftMachine)
    assert isinstance(done, Done)
    assert len(egress.sent) == len(server.seen) > 0
    assert {(request.host, request.method, request.request_id) for request in egress.sent} == {
        ("127.0.0.1", "POST", first[0].request_id)
    }
    sizes = sorted(len(seen.body) for seen in server.seen)  # searches of two rollouts may overtake each other
    assert sorted(request.bytes_sent for request in egress.sent) == sizes
    assert egress.complete
    assert not [event for event in again if isinstance(event, LeftMachine)]  # all of it came from the cache


async def test_a_full_reply_contains_the_egress_and_a_brief_one_does_not(data_store):
    async with rude_server(answer_with_samples("serper")) as server:
        args = app_with_search(server)
        async with with_tools(args, local_tools(args)) as http:
            reply = (await http.post("/locate", **FORM)).json()
            status = (await http.get(f"/locate/{reply['request_id']}")).json()
            brief = (await http.post("/locate", files=FORM["files"], data={"n_parallel": "2", "seed": "9"})).json()
    assert [request["host"] for request in reply["left_machine"]["sent"]] == ["127.0.0.1"] * len(
        reply["left_machine"]["sent"]
    )
    assert status["left_machine"] == reply["left_machine"]
    assert brief["left_machine"] is None


async def test_a_cancelled_request_reports_the_requests_that_were_sent_out(data_store):
    held = asyncio.Event()

    async def answer(seen):
        await held.wait()
        return as_json({"organic": []})

    async with rude_server(answer) as server:
        args = app_with_search(server)
        async with with_tools(args, local_tools(args)) as http:
            reply = await http.post("/locate", **FORM, headers={"Prefer": "respond-async"})
            path = reply.headers["location"]
            async with asyncio.timeout(20):
                await server.arrived.wait()
            assert (await http.delete(path)).json()["was_running"]
            events = events_in(await http.get(path + "/events", headers=NDJSON))
        held.set()
    egress, done = events[-2:]
    assert [one.host for one in egress.sent] == ["127.0.0.1"] * len(server.seen)
    assert done.stop_reason == "cancelled"
    assert [event.seq for event in events] == list(range(1, len(events) + 1))


async def test_answers_and_metrics_are_served_although_the_brokers_do_not_answer(data_store, monkeypatch):
    async with rude_server(answer_with_samples("serper")) as server:
        args = app_with_search(server)
        tools = local_tools(args)

        async def silent(*_):
            raise Overloaded("a replica did not answer")

        monkeypatch.setattr(tools.brokers, "write_egress", silent)
        monkeypatch.setattr(tools.brokers, "snapshots", silent)
        async with with_tools(args, tools) as http:
            reply = (await http.post("/locate", **FORM)).json()
            metrics = await http.get("/metrics")
    assert reply["answer"]["lat"] is not None
    assert reply["left_machine"]["complete"]
    assert samples(metrics.text)["geotts_broker_replicas"] == 0


ENDPOINT = OpenAIEngine(base_url="http://127.0.0.1:9/v1", model="m")


@pytest.mark.parametrize(
    ("verifier", "complete"),
    [
        (VerifierConfig(), None),
        (VerifierConfig(engine=ENDPOINT), None),
        (VerifierConfig(consistency=ConsistencyConfig(engine=ENDPOINT)), False),
        (VerifierConfig(kind="model", engine=ENDPOINT, show_photo=False), False),
        (VerifierConfig(kind="model", engine=ENDPOINT), False),
    ],
    ids=[
        "no endpoint",
        "one that is not used",
        "a second reader",
        "a verifier without the photo",
        "one with the photo",
    ],
)
async def test_a_lost_process_makes_the_list_incomplete_where_an_engine_may_send(data_store, verifier, complete):
    ports = local_ports(an_app().model_copy(update={"verifier": verifier}))
    EGRESS.add(EgressRecord("loc_lost", outgoing=None))
    event = await ports.egress_of("loc_lost").to_event()
    assert (event and event.complete) is complete


@pytest.mark.parametrize(("may_send", "complete"), [(True, False), (False, None)])
async def test_a_lost_process_makes_the_list_incomplete_where_tools_may_send(data_store, may_send, complete):
    ports = replace(local_ports(an_app()), may_send=may_send)
    EGRESS.add(EgressRecord("loc_lost", outgoing=None))
    event = await ports.egress_of("loc_lost").to_event()
    assert (event and event.complete) is complete


async def test_the_audit_log_records_host_time_and_size_of_egress_but_no_url(data_store, tmp_path):
    async with rude_server(answer_with_samples("serper")) as server:
        args = app_with_search(server)
        audit = AuditLog(tmp_path / "audit.jsonl", args)
        async with with_tools(args, local_tools(args), observers=[audit]) as http:
            reply = (await http.post("/locate", **FORM)).json()
        audit.close()
    lines = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
    egress_lines = [line for line in lines if line["event"] == "left"]
    requests = reply["left_machine"]["sent"]
    assert [(line["sent_at"], line["host"], line["bytes"]) for line in egress_lines] == [
        (one["at"], one["host"], one["bytes_sent"]) for one in requests
    ]
    assert egress_lines
    assert {line["request_id"] for line in egress_lines} == {reply["request_id"]}
    assert not [line for line in egress_lines if {"url", "query"} & set(line)]


def test_the_engines_that_get_photos_are_named():
    def engine(host):
        return OpenAIEngine(base_url=f"http://{host}:8000/v1", model="m")

    assert remote_engines(AppArgs()) == ()
    judge = VerifierConfig(kind="model", engine=engine("c.org"))
    every = AppArgs(engine=engine("a.org"), observer=engine("b.org"), verifier=judge)
    assert remote_engines(every) == ("a.org", "b.org", "c.org")
    blind = every.model_copy(update={"verifier": judge.model_copy(update={"show_photo": False})})
    assert remote_engines(blind) == ("a.org", "b.org")


async def test_the_metrics_count_calls_hits_latency_and_breakers(data_store):
    async with rude_server(lambda seen: "status/503") as server:
        args = app_with_search(server, SEARCHING, "searxng", "offline")
        tools = local_tools(args)
        async with with_tools(args, tools) as http:
            for seed in range(6):
                await http.post("/locate", files=FORM["files"], data={"n_parallel": "4", "seed": str(seed)})
            seen = samples((await http.get("/metrics")).text)
    figures = (await tools.brokers.snapshots())["local"]
    search = figures.tools["web_search"]
    assert seen["geotts_broker_replicas"] == 1
    assert seen['geotts_broker_calls_total{replica="local",tool="web_search"}'] == search.calls > 0
    assert seen['geotts_broker_seconds_count{replica="local",tool="web_search"}'] == search.calls
    assert seen['geotts_broker_seconds_bucket{le="+Inf",replica="local",tool="web_search"}'] == search.calls
    assert seen['geotts_broker_found_total{replica="local",source="joined",tool="web_search"}'] == search.joined
    failures = 'geotts_broker_failures_total{kind="unavailable",replica="local",tool="web_search"}'
    assert seen[failures] == search.failures["unavailable"]
    asked = seen['geotts_provider_requests_total{provider="searxng",replica="local"}']
    assert asked >= len(server.seen) > 0  # a rollout that is cut may be stopped between the count and the wire
    assert seen['geotts_provider_breaker{provider="searxng",replica="local",state="open"}'] == 1
    assert seen['geotts_provider_breaker{provider="searxng",replica="local",state="closed"}'] == 0
    assert seen['geotts_provider_breaker_opened_total{provider="searxng",replica="local"}'] >= 1


HITS = [
    {"title": "Rue de Rivoli", "url": "https://www.flickr.com/photos/x/1", "content": "taken at 48.8606, 2.3376"},
    {"title": "A street", "url": "https://example.com/street", "content": "a street in Paris"},
]


@pytest.mark.parametrize("first", ["true", "false"])
async def test_photo_hosts_are_hidden_for_the_request_that_asks_and_for_no_other(data_store, first):
    async with rude_server(lambda seen: as_json({"results": HITS})) as server:
        args = app_with_search(server, SEARCHING, "searxng", "offline")
        async with with_tools(args, local_tools(args)) as http:
            shown = {}
            for hidden in (first, {"true": "false", "false": "true"}[first]):
                data = {"n_parallel": "1", "seed": "1", "hide_photo_hosts": hidden}
                events = events_in(await http.post("/locate", files=FORM["files"], data=data, headers=NDJSON))
                results = [event.result for event in events if isinstance(event, ToolResulted)]
                shown[hidden] = {fact.url for result in results for fact in result.facts}
                assert any("flickr" in result.text for result in results) == (hidden == "false")
    assert shown == {"true": {HITS[1]["url"]}, "false": {hit["url"] for hit in HITS}}
    assert len(server.seen) == len({seen.target for seen in server.seen})  # one cache serves both
