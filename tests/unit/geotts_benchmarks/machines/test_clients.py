"""How the steady clients of `geotts bench nodes` name the end of a request, against a real server."""

import httpx
import pytest
from support.basics import sign_bytes
from support.service import an_app, serving

from geotts_benchmarks.harness import free_port
from geotts_benchmarks.machines.clients import addresses_of, ask
from geotts_benchmarks.machines.doubled_work import doubled_work
from geotts_benchmarks.machines.engine_journal import read_journal
from geotts_client.client import Client
from geotts_client.options import LocateOptions
from tts.config import ScriptedEngine

PHOTO = sign_bytes("Rue de Rivoli")
ASKED = LocateOptions(n_parallel=2, depth="deep", stop="none", hint="client 0, seed 1")


async def seen_at(url, *, transport=None, within_s=20.0):
    async with Client(url, transport=transport, resume_s=0.2) as client:
        return await ask(client, PHOTO, ASKED, within_s=within_s)


async def test_an_answered_request_has_the_turns_that_the_journal_of_the_engine_has(tmp_path):
    file = tmp_path / "journal.jsonl"
    async with serving(an_app(ScriptedEngine(turns=2, tokens_per_turn=4, journal=str(file)))) as (url, _):
        seen = await seen_at(url)
    assert seen.outcome == "answered"
    assert seen.started_at < seen.accepted < seen.ended
    ended = {(rollout, turn) for rollout, turn, _ in seen.turns}
    started = read_journal(file)
    assert {(one.rollout, one.turn) for one in started} == ended == {(0, 0), (0, 1), (1, 0), (1, 1)}
    assert {one.request_id for one in started} == {seen.request_id}
    assert {one.asked for one in started} == {seen.asked} == {"client 0, seed 1"}
    assert doubled_work([seen], started) == []


def test_clients_take_turns_with_the_address_at_which_they_begin():
    assert [addresses_of("http://a,http://b", i) for i in range(3)] == [
        "http://a,http://b",
        "http://b,http://a",
        "http://a,http://b",
    ]


async def test_a_service_that_does_not_exist_is_unreachable():
    seen = await seen_at(f"http://127.0.0.1:{free_port()}")
    assert seen.outcome == "unreachable"
    assert not seen.accepted


@pytest.mark.parametrize(("status", "outcome"), [(503, "declared"), (500, "failed")])
async def test_a_refusal_is_declared_only_with_its_status(status, outcome):
    problem = httpx.Response(status, json={}, headers={"Content-Type": "application/problem+json"})
    transport = httpx.MockTransport(lambda request: problem)
    seen = await seen_at("http://a", transport=transport)
    assert seen.outcome == outcome


@pytest.mark.slow
async def test_a_request_without_an_end_is_hung():
    async with serving(an_app(ScriptedEngine(turns=2, tokens_per_turn=4, turn_s=30.0))) as (url, _):
        seen = await seen_at(url, within_s=-2.0)  # three seconds: the moment of grace comes on top
    assert seen.outcome == "hung"
    assert seen.accepted
