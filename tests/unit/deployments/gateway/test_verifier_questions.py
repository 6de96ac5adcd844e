"""The verifier's own questions in a service: a photo comes over HTTP, a search service answers, a bundle holds it all.

Two rollouts look the big name up and take the branch that the search lists. Nobody looks the street up. The verifier
does, and asks the same of both towns.
"""

import asyncio
import base64
import json
from html import escape

import httpx
import pytest
from support.basics import sign_bytes
from support.provider_server import config_for
from support.rude_server import as_json, rude_server
from support.service import an_app, serving

from deployments.wiring.bundle_replay import replayed
from deployments.wiring.local import local_tools
from tts.bundle.bundle_files import REPORT
from tts.bundle.check_bundle import checked_entries
from tts.config import RoutingConfig, ScriptedEngine, VerifierConfig
from tts.domain.events import parse_event
from tts.domain.geo import LatLon, distance_km
from tts.domain.trajectory import fold

pytestmark = pytest.mark.slow
NAME, STREET = "Panda Market", "Linden Avenue 33"
WRONG, RIGHT = LatLon(lat=40.2056, lon=-8.4196), LatLon(lat=54.9038, lon=23.8923)
PAGES = {
    "Coimbra": f"{NAME}, Castle Street 7, Coimbra. Open daily.",
    "Kaunas": f"{NAME}, {STREET}, Kaunas, Lithuania. Open daily.",
}
PHOTO = sign_bytes(NAME, STREET)


def searched(seen):
    """Pages by shared words; the name alone leads to the wrong branch."""
    words = set(seen.query["q"].lower().split())
    chosen = ["Coimbra"] if words == {"panda", "market"} else list(PAGES)
    found = [town for town in chosen if words & set(PAGES[town].lower().replace(",", "").replace(".", "").split())]
    hits = [{"title": f"{NAME} {town}", "url": f"https://example.org/{town}", "content": PAGES[town]} for town in found]
    return as_json({"results": hits})


def script(path):
    answer = {"lat": WRONG.lat, "lon": WRONG.lon, "city": "Coimbra", "country": "Portugal"}
    turns = [
        {"turn": 0, "text": f"A sign says {NAME}.", "calls": [{"name": "web_search", "arguments": {"query": NAME}}]},
        {"turn": 1, "text": json.dumps(answer)},
    ]
    path.write_text("\n".join(json.dumps(turn) for turn in turns))
    return ScriptedEngine(tape=str(path))


@pytest.fixture(scope="module")
def runs(tmp_path_factory, data_store):
    """What the service said with and without questions: events, bundle, and what the search service saw."""
    return asyncio.run(run_with_and_without_questions(script(tmp_path_factory.mktemp("engine") / "tape.jsonl")))


async def run_with_and_without_questions(engine):
    found = {}
    async with rude_server(searched) as server:
        base = an_app(engine).model_copy(
            update={
                "tools": config_for(server, "searxng", "offline"),
                "routing": RoutingConfig(method="cues"),
                "verifier": VerifierConfig(max_questions=4),
            }
        )
        async with (
            serving(base, tools=local_tools(base)) as (url, _),
            httpx.AsyncClient(base_url=url, timeout=60) as http,
        ):
            for questions in (0, 9):
                before = len(server.seen)
                body = {
                    "image": {"base64": base64.b64encode(PHOTO).decode()},
                    "seed": 3, "n_parallel": 2, "depth": "standard", "stop": "none", "include": "full",
                    "verifier_questions": questions,
                }  # fmt: skip
                reply = await http.post("/locate", json=body, headers={"Accept": "application/x-ndjson"})
                assert reply.status_code == 200, reply.text
                events = [parse_event(line) for line in reply.text.splitlines() if line.strip()]
                bundle = (await http.get(f"/locate/{events[0].request_id}/bundle")).content
                full = (await http.get(f"/locate/{events[0].request_id}", params={"include": "full"})).json()
                found[questions] = (events, bundle, server.seen[before:], full)
        found["args"] = base
    return found


def point_of(events):
    return fold(events).answer.point


def by_verifier(events):
    return [event for event in events if getattr(event, "asker", "") == "verifier"]


def test_without_questions_it_answers_what_the_rollouts_say(runs):
    events, _, seen, full = runs[0]
    assert distance_km(point_of(events), WRONG) < 5
    assert not by_verifier(events)
    assert [one.query["q"] for one in seen] == [NAME]
    assert "inquiry" not in full
    assert '"asker"' not in "".join(event.json_bytes().decode() for event in events)


def test_with_questions_it_finds_the_street_that_nobody_looked_up(runs):
    events, _, seen, full = runs[9]
    assert distance_km(point_of(events), RIGHT) < 25
    calls = [event for event in by_verifier(events) if event.type == "tool_called"]
    results = [event for event in by_verifier(events) if event.type == "tool_result"]
    assert 0 < len(calls) == len(results) <= 4
    asked = {event.call.arguments["query"] for event in calls if event.call.name == "web_search"}
    assert {STREET, f"{STREET} Coimbra", f"{STREET} Kaunas"} <= asked
    assert asked == {one.query["q"] for one in seen}
    assert len(full["inquiry"]) == len({event.turn for event in calls})


def test_the_calls_are_counted_logged_and_no_part_of_a_rollout(runs):
    events, _, seen, _ = runs[9]
    run = fold(events)
    assert len(run.trajectories) == run.answer.n.run == 2
    assert len(run.left_machine.sent) == len(seen)
    own = sum(trajectory.usage.tool_calls for trajectory in run.trajectories)
    assert run.answer.usage.tool_calls == own + sum(len(turn.calls) for turn in run.inquiry)
    assert "No rollout answered Kaunas" in run.answer.explanation


async def test_the_bundle_replays_to_the_byte_without_the_service(runs):
    for questions in (0, 9):
        entries = checked_entries(runs[questions][1])
        assert (await replayed(entries, runs["args"])).equal
        assert (escape("The verifier's questions") in entries[REPORT].decode()) == bool(questions)
