"""What goes to remote engines is on record like what tools send: each call, whoever makes it, however it ends."""

import asyncio
import json
from typing import Any

import pytest
from support.endpoint import CUT, Reply, chunk, serving, text_chunks
from support.service import PHOTO, an_app, with_tools

from deployments.gateway.runner import Runner
from deployments.observability.audit import AuditLog
from deployments.wiring.local import local_tools
from tts.config import ConsistencyConfig, OpenAIEngine, RoutingConfig, VerifierConfig
from tts.domain.events import LeftMachine, parse_event

ANSWER = 'The sign is Italian. {"lat": 41.9, "lon": 12.5, "country": "Italy", "city": "Rome"}'
SAID = {
    "rollout": ANSWER,
    "observer": "a street with a sign",
    "verifier": '{"reasons": [{"text": "it is written", "evidence": []}], "choice": "A"}',
    "consistency": '{"country": "Italy", "region": "", "place": "Rome"}',
}
FORM: dict[str, dict[str, Any]] = {
    "files": {"image": PHOTO},
    "data": {"n_parallel": "2", "include": "full", "stop": "none", "seed": "1"},
}
NDJSON = {"Accept": "application/x-ndjson"}


def reply_of_model(body, number):
    return text_chunks(SAID[body["model"]])


def app_over(endpoint, **changes):
    """An application whose rollouts think at an endpoint."""
    engine = engine_at(endpoint, "rollout")
    return an_app().model_copy(update={"engine": engine, **changes})


def engine_at(endpoint, model):
    return OpenAIEngine(base_url=endpoint.url, model=model, server="sglang", backoff_s=0.01)


def sizes(endpoint):
    return sorted(int(headers["content-length"]) for headers in endpoint.headers)


async def test_time_and_bytes_of_an_engine_call_are_in_reply_audit_log_and_egress_log(data_store, tmp_path):
    file, audit_file = tmp_path / "out.jsonl", tmp_path / "audit.jsonl"
    async with serving(reply_of_model) as endpoint:
        args = app_over(endpoint)
        args = args.model_copy(update={"tools": args.tools.model_copy(update={"outgoing_log": str(file)})})
        audit = AuditLog(audit_file, args)
        async with with_tools(args, local_tools(args), observers=[audit]) as http:
            reply = (await http.post("/locate", **FORM)).json()
        audit.close()
    requests = reply["left_machine"]["sent"]
    assert sorted(one["bytes_sent"] for one in requests) == sizes(endpoint)
    assert {(one["host"], one["method"], one["url"], one["request_id"]) for one in requests} == {
        ("127.0.0.1", "POST", f"{endpoint.url}/chat/completions", reply["request_id"])
    }
    assert all(one["at"] for one in requests)
    assert reply["left_machine"]["complete"]
    assert [json.loads(line) for line in file.read_text().splitlines()] == requests
    lines = [json.loads(line) for line in audit_file.read_text().splitlines()]
    assert [line["bytes"] for line in lines if line["event"] == "left"] == [one["bytes_sent"] for one in requests]


async def test_every_model_of_a_request_is_in_the_record(data_store):
    async with serving(reply_of_model) as endpoint:
        judge = VerifierConfig(
            kind="model",
            engine=engine_at(endpoint, "verifier"),
            consistency=ConsistencyConfig(engine=engine_at(endpoint, "consistency")),
        )
        args = app_over(endpoint, observer=engine_at(endpoint, "observer"), verifier=judge)
        async with with_tools(args, local_tools(args)) as http:
            reply = (await http.post("/locate", **FORM)).json()
    assert {body["model"] for body in endpoint.bodies} == set(SAID)
    assert sorted(one["bytes_sent"] for one in reply["left_machine"]["sent"]) == sizes(endpoint)


@pytest.mark.parametrize(
    "answer", [text_chunks("7 DEEP"), Reply(500, {"error": "broken"}), [CUT]], ids=["well", "down", "cut"]
)
async def test_the_probe_of_a_photo_is_recorded_whatever_its_reply(data_store, answer):
    def probed(body, number):
        return answer if body["max_tokens"] == 16 else reply_of_model(body, number)

    async with serving(probed) as endpoint:
        args = app_over(endpoint, routing=RoutingConfig(method="probe"))
        async with with_tools(args, local_tools(args)) as http:
            reply = (await http.post("/locate", **FORM)).json()
    assert [body for body in endpoint.bodies if body["max_tokens"] == 16]
    assert sorted(one["bytes_sent"] for one in reply["left_machine"]["sent"]) == sizes(endpoint)
    assert reply["left_machine"]["complete"]


@pytest.mark.parametrize(
    "failure", [Reply(500, {"error": "broken"}), [chunk("half"), CUT]], ids=["an error", "a lost connection"]
)
async def test_each_call_to_an_engine_is_recorded_even_one_that_failed(data_store, failure):
    async with serving(lambda body, n: failure if n == 0 else reply_of_model(body, n)) as endpoint:
        args = app_over(endpoint)
        async with with_tools(args, local_tools(args)) as http:
            form = {**FORM, "data": {**FORM["data"], "n_parallel": "1"}}
            reply = (await http.post("/locate", **form)).json()
    assert len(endpoint.bodies) >= 2
    assert sorted(one["bytes_sent"] for one in reply["left_machine"]["sent"]) == sizes(endpoint)


async def test_asking_for_the_name_of_the_model_is_a_call_too(data_store):
    async with serving(lambda body, n: text_chunks(ANSWER)) as endpoint:
        args = an_app().model_copy(update={"engine": OpenAIEngine(base_url=endpoint.url)})
        async with with_tools(args, local_tools(args)) as http:
            requests = (await http.post("/locate", **FORM)).json()["left_machine"]["sent"]
    assert {(one["method"], one["url"].rpartition("/")[2]) for one in requests} == {
        ("GET", "models"),
        ("POST", "completions"),
    }


async def test_a_request_cancelled_before_the_first_token_reports_what_was_sent_out(data_store):
    arrived = asyncio.Event()

    def silent(body, number):
        arrived.set()
        return [30.0, *text_chunks(ANSWER)]

    async with serving(silent) as endpoint:
        args = app_over(endpoint)
        async with with_tools(args, local_tools(args)) as http:
            reply = await http.post("/locate", **FORM, headers={"Prefer": "respond-async"})
            path = reply.headers["location"]
            async with asyncio.timeout(20):
                await arrived.wait()
            assert (await http.delete(path)).json()["was_running"]
            events = await http.get(path + "/events", headers=NDJSON)
        egress = parse_event(events.text.splitlines()[-2])
        assert isinstance(egress, LeftMachine)
        assert sorted(one.bytes_sent for one in egress.sent) == sizes(endpoint)
        assert egress.sent


async def test_the_egress_list_of_a_lost_gateway_is_marked_as_incomplete(data_store, monkeypatch):
    async with serving(reply_of_model) as endpoint:
        args = app_over(endpoint)
        args = args.model_copy(update={"gateway": args.gateway.model_copy(update={"lease_s": 0.05})})
        async with with_tools(args, local_tools(args)) as http:
            monkeypatch.setattr(Runner, "launch", lambda *lost, **how: None)
            reply = await http.post("/locate", **FORM, headers={"Prefer": "respond-async"})
            await asyncio.sleep(0.1)
            status = (await http.get(reply.headers["location"])).json()
            events = await http.get(reply.headers["location"] + "/events", headers=NDJSON)
    parsed = [parse_event(line) for line in events.text.splitlines() if line.strip()]
    (egress,) = (event for event in parsed if isinstance(event, LeftMachine))
    assert (egress.engines, egress.sent, egress.complete) == (("127.0.0.1",), (), False)
    assert status["status"] != "running"


async def test_a_url_is_recorded_without_its_key(data_store, monkeypatch):
    async with serving(reply_of_model) as endpoint:
        engine = engine_at(endpoint, "rollout").model_copy(
            update={"base_url": endpoint.url.replace("//", "//me:hunter2@")}
        )
        args = an_app().model_copy(update={"engine": engine})
        async with with_tools(args, local_tools(args)) as http:
            reply = await http.post("/locate", **FORM)
    assert endpoint.bodies
    assert "hunter2" not in reply.text
