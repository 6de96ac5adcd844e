"""The verifier's own questions in a service: a photo comes over HTTP, a search service answers, a bundle holds it all.

Two rollouts look the big name up and take the branch that the search lists. Nobody looks the street up. The verifier
does, and asks the same of both towns.
"""

import asyncio
import base64
import json
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from support.basics import sign_bytes
from support.provider_server import config_for
from support.rude_server import as_json, rude_server
from support.service import an_app, ports_of, serving
from support.verifier_runs import even_runs

from deployments.cli import cli
from deployments.gateway.gateway import Gateway
from deployments.http.app import create_app
from deployments.wiring.bundle_replay import replay_bundle
from deployments.wiring.local import local_tools
from deployments.wiring.parts import make_verifier
from tts.bundle.bundle_files import REPORT
from tts.bundle.check_bundle import checked_entries
from tts.config import RoutingConfig, ScriptedEngine, VerifierConfig
from tts.domain.events import parse_event
from tts.domain.geo import LatLon, distance_km
from tts.domain.request import LocateOptions, RequestContext
from tts.domain.stop_table import Band
from tts.domain.trajectory import fold
from tts.inference.scripted.engine import ScriptedModel
from tts.ports.verification import VerifyRequest
from tts.routing.budget_table import Amount, BudgetRow, BudgetTable, RightShare
from tts.toolkit.toolbox import LocalToolbox

pytestmark = pytest.mark.slow
NAME = "Panda Market"
STREET = "Linden Avenue 33"
WRONG = LatLon(lat=40.2056, lon=-8.4196)
RIGHT = LatLon(lat=54.9038, lon=23.8923)
PAGES = {
    "Coimbra": f"{NAME}, Castle Street 7, Coimbra. Open daily.",
    "Kaunas": f"{NAME}, {STREET}, Kaunas, Lithuania. Open daily.",
}
PHOTO = sign_bytes(NAME, STREET)
SHARE = RightShare(value=60, low=50, high=70)
ROW = BudgetRow(
    n=2, turns=4, answer_draws=3, questions=4, photos=100, right=dict.fromkeys(Band, SHARE),
    tokens=Amount(mean=1000, p90=2000), prompt_tokens=Amount(mean=1000, p90=2000), seconds=Amount(mean=1, p90=2),
)  # fmt: skip
TABLE = BudgetTable(origin="made up", engine="scripted", rows=(ROW,))


def search_pages(seen):
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
    folder = tmp_path_factory.mktemp("engine")
    TABLE.write(folder / "budget.yaml")
    return asyncio.run(run_with_and_without_questions(script(folder / "tape.jsonl"), folder / "budget.yaml"))


async def run_with_and_without_questions(engine, table):
    found: dict[int | str, Any] = {}
    async with rude_server(search_pages) as server:
        base = an_app(engine).model_copy(
            update={
                "tools": config_for(server, "searxng", "offline"),
                "routing": RoutingConfig(method="cues", budget_table=str(table)),
                "verifier": VerifierConfig(max_questions=4),
            }
        )
        async with (
            serving(base, tools=local_tools(base)) as (url, _),
            httpx.AsyncClient(base_url=url, timeout=60) as http,
        ):
            asked = {"n_parallel": 2, "depth": "standard", "stop": "none"}
            for questions, how in ((0, asked), (9, asked), ("budget", {"budget": {"tokens": 4000}})):
                before = len(server.seen)
                body = {"image": {"base64": base64.b64encode(PHOTO).decode()}, "seed": 3, "include": "full", **how}
                body |= {} if questions == "budget" else {"verifier_questions": questions}
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


def about_the_limit(events):
    return [warning for warning in fold(events).answer.warnings if "max_questions" in warning]


def by_verifier(events):
    return [event for event in events if getattr(event, "asker", "") == "verifier"]


def test_the_verifier_without_questions_answers_what_the_rollouts_say(runs):
    events, _, seen, full = runs[0]
    assert distance_km(point_of(events), WRONG) < 5
    assert not by_verifier(events)
    assert [one.query["q"] for one in seen] == [NAME]
    assert "inquiry" not in full
    assert '"asker"' not in "".join(event.json_bytes().decode() for event in events)
    assert not about_the_limit(events)


def test_the_verifier_with_questions_finds_the_street_that_no_rollout_looked_up(runs):
    events, _, seen, full = runs[9]
    assert distance_km(point_of(events), RIGHT) < 25
    calls = [event for event in by_verifier(events) if event.type == "tool_called"]
    results = [event for event in by_verifier(events) if event.type == "tool_result"]
    assert 0 < len(calls) == len(results) <= 4
    asked = {event.call.arguments["query"] for event in calls if event.call.name == "web_search"}
    assert {STREET, f"{STREET} Coimbra", f"{STREET} Kaunas"} <= asked
    assert asked == {one.query["q"] for one in seen}
    assert len(full["inquiry"]) == len({event.turn for event in calls})


def test_calls_of_the_verifier_are_counted_and_logged_outside_of_rollouts(runs):
    events, _, seen, _ = runs[9]
    run = fold(events)
    assert len(run.trajectories) == run.answer.n.run == 2
    assert len(run.left_machine.sent) == len(seen)
    own = sum(trajectory.usage.tool_calls for trajectory in run.trajectories)
    assert run.answer.usage.tool_calls == own + sum(len(turn.calls) for turn in run.inquiry)
    assert "No rollout answered Kaunas" in run.answer.explanation


def test_a_request_for_more_than_the_operator_allows_gets_a_warning_in_its_answer(runs):
    events, _, _, _ = runs[9]
    assert about_the_limit(events) == [
        "the request allows the verifier 9 questions; this service allows 4 (verifier.max_questions)"
    ]


def test_a_budget_uses_the_rollouts_the_draws_and_the_questions_of_its_row(runs):
    """The request gives nothing but tokens; the table has one row."""
    events, _, _, _ = runs["budget"]
    run = fold(events)
    assert distance_km(point_of(events), RIGHT) < 25
    assert 0 < sum(event.type == "tool_called" for event in by_verifier(events)) <= 4
    assert [len(rollout.answer_draws) for rollout in run.trajectories] == [2, 2]
    assert "(3 answers drawn of each attempt, 4 questions of the verifier)" in run.routed.plan.summary
    assert run.answer.budget.budget.tokens == 4000


async def test_the_bundle_replays_to_the_byte_without_the_service(runs):
    for questions in (0, 9, "budget"):
        entries = checked_entries(runs[questions][1])
        assert (await replay_bundle(entries, runs["args"])).is_equal
        assert ("<summary>Comparison " in entries[REPORT].decode()) == bool(questions)


TRAJECTORIES = VerifierConfig(kind="model", mode="trajectories")
OF_ANOTHER_PACKAGE = VerifierConfig.model_construct(kind="centroid")  # as if an entry point had added it


async def post_photo(verifier, questions):
    """The reply of a gateway that is configured with this verifier. Its ports have another one."""
    args = an_app()
    gateway = Gateway(args.model_copy(update={"verifier": verifier}), ports_of(args))
    transport = httpx.ASGITransport(create_app(gateway, args), raise_app_exceptions=False)
    body = {"image": {"base64": base64.b64encode(PHOTO).decode()}, "verifier_questions": questions}
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
        reply = await http.post("/locate", json=body)
    assert not gateway.in_flight
    return reply


@pytest.mark.parametrize("verifier", [TRAJECTORIES, OF_ANOTHER_PACKAGE], ids=["trajectories", "another package"])
async def test_questions_of_a_verifier_that_cannot_ask_are_refused(verifier):
    reply = await post_photo(verifier, 2)
    assert reply.status_code == 422
    ((field, problem),) = [(error["field"], error["problem"]) for error in reply.json()["errors"]]
    assert field == "verifier_questions"
    assert "leave this out, or set it to 0" in problem
    assert "verifier.kind consensus" in problem
    assert (await post_photo(verifier, 0)).status_code == 200


def test_the_command_line_refuses_questions_of_a_verifier_that_cannot_ask(tmp_path):
    photo = tmp_path / "sign.jpg"
    photo.write_bytes(PHOTO)
    command = ["locate", str(photo), "--local", "--verifier-questions", "2", "--set", "engine.name=scripted"]
    command += ["--set", "verifier.kind=model", "--set", "verifier.mode=trajectories"]
    result = CliRunner().invoke(cli, command)
    assert "verifier_questions: the comparison of this service asks no questions" in result.output


@pytest.mark.parametrize(("mode", "asks"), [("select", True), ("trajectories", False)])
async def test_the_published_verifier_makes_no_calls_of_its_own_even_if_a_request_has_some(mode, asks, data_store):
    """A plan for a budget may put questions into the options of a request."""
    wanted = []

    async def tools():
        wanted.append("tools")
        return LocalToolbox([])

    args = an_app().model_copy(update={"verifier": VerifierConfig(kind="model", mode=mode)})
    verifier = make_verifier(args, ScriptedModel(ScriptedEngine()), tools)
    options = LocateOptions(verifier_questions=2)
    request = VerifyRequest(RequestContext(id="r", remaining_s=30.0), (), options, even_runs())
    items = [item async for item in verifier.verify(request)]
    assert bool(wanted) is asks
    assert items[-1].point is not None
