"""Several models behind one service: their shares, their names in the answer, and what happens when one is down."""

import base64
import json
from collections import Counter

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from support.basics import a_context
from support.service import PHOTO, an_app, serving

from deployments.config import AppArgs
from deployments.doctor.installation import check_installation
from deployments.wiring.bundle_replay import replay_bundle
from deployments.wiring.mixture_rollouts import Member, MixtureRollouts, assign_models
from deployments.wiring.parts import make_agent_model
from deployments.wiring.rollouts import make_rollouts
from tts.bundle.check_bundle import checked_entries
from tts.config import EngineShare, OpenAIEngine, ScriptedEngine, VerifierConfig
from tts.domain.answer import StopReason
from tts.domain.events import RolloutFinished, RolloutStarted, parse_event
from tts.domain.failure import RolloutFailure
from tts.domain.geo import LatLon, distance_km
from tts.domain.plan import Limits
from tts.domain.request import LocateOptions
from tts.domain.trajectory import fold
from tts.domain.usage import Usage
from tts.ports.rollout_groups import GroupRequest, RolloutTask
from tts.toolkit.toolbox import LocalToolbox
from tts.verify.consensus.clusters import SCALES
from tts.verify.consensus.reliability import Reliability

LISBON = {"lat": 38.7223, "lon": -9.1393}
OSAKA = {"lat": 34.6937, "lon": 135.5023}
DOWN = OpenAIEngine(base_url="http://127.0.0.1:9/v1", model="gone")  # nothing listens there: the port of `discard`


@given(st.dictionaries(st.text("abc", min_size=1), st.integers(1, 9), min_size=1, max_size=4), st.integers(1, 40))
def test_rollouts_are_dealt_as_evenly_as_their_number_allows(shares, n):
    had, total = Counter(assign_models(shares, n)), sum(shares.values())
    assert sum(had.values()) == n
    most = 1.0 if len(shares) <= 2 else 2.0
    assert all(abs(had[name] - n * share / total) < most for name, share in shares.items())
    assert assign_models(shares, n) == assign_models(shares, 40)[:n]


def engine_answering(tmp_path, name, place):
    """An engine that answers one place without tools."""
    tape = tmp_path / f"{name}.jsonl"
    turns = [{"turn": 0, "text": json.dumps({**place, "city": "", "country": ""})}]
    tape.write_text("\n".join(json.dumps(turn) for turn in turns))
    return ScriptedEngine(tape=str(tape))


def mixture_args(tmp_path, *, third=None, verifier=None):
    members = [
        EngineShare(name="west", engine=engine_answering(tmp_path, "west", LISBON), share=2),
        EngineShare(name="east", engine=third or engine_answering(tmp_path, "east", OSAKA), share=1),
    ]
    base = an_app(members[0].engine).model_dump()
    return AppArgs.model_validate({**base, "engines": members, "verifier": verifier or VerifierConfig()})


async def locate_photo(args, n=6):
    async with serving(args) as (url, _), httpx.AsyncClient(base_url=url, timeout=60) as http:
        body = {
            "image": {"base64": base64.b64encode(PHOTO).decode()},
            "n_parallel": n, "depth": "standard", "stop": "none", "seed": 1, "deadline_s": 50,
        }  # fmt: skip
        reply = await http.post("/locate", json=body, headers={"Accept": "application/x-ndjson"})
        events = [parse_event(line) for line in reply.text.splitlines() if line.strip()]
        bundle = (await http.get(f"/locate/{events[0].request_id}/bundle")).content
        return events, bundle


def test_the_engines_of_all_models_are_known_to_the_replica(tmp_path):
    args = mixture_args(tmp_path)
    first = make_agent_model(args)
    assert make_rollouts(first, LocalToolbox([]), args).engines[0] is first
    assert len(make_rollouts(first, LocalToolbox([]), args).engines) == 2


@pytest.mark.parametrize(
    ("asked", "spoken"),
    [(None, {"west": "generic", "east": "geovista"}), ("geoagent", {"west": "geoagent", "east": "geoagent"})],
)
async def test_each_model_speaks_its_own_dialect_unless_the_request_asks_for_one(
    tmp_path, monkeypatch, blank_photo, asked, spoken
):
    dialects = {}

    async def run(agent, group, **_):
        dialects.update({task.rollout_id: agent.dialect.name for task in group.tasks})
        yield [RolloutStarted(rollout_id=task.rollout_id, seed=task.seed) for task in group.tasks]

    monkeypatch.setattr("deployments.wiring.rollouts.run_group", run)
    args = mixture_args(tmp_path)
    west, east = args.engines
    args = args.model_copy(update={"engines": (west, east.model_copy(update={"dialect": "geovista"}))})
    group = GroupRequest(
        context=a_context(), photos=(blank_photo,), tasks=tuple(RolloutTask(i, seed=1) for i in range(2)), n_total=2,
        limits=Limits(), options=LocateOptions(dialect=asked),
    )  # fmt: skip
    rollouts = make_rollouts(make_agent_model(args), LocalToolbox([]), args)
    started = [item async for batch in rollouts.run(group) for item in batch]
    assert {item.source: dialects[item.rollout_id] for item in started} == spoken


async def test_a_request_runs_on_both_models_of_a_mixture_by_their_shares(tmp_path, data_store):
    events, bundle = await locate_photo(mixture_args(tmp_path))
    answer = fold(events).answer
    assert Counter(one.source for one in answer.rollouts) == {"west": 4, "east": 2}
    assert distance_km(answer.point, LatLon(**LISBON)) < 1
    assert answer.provenance.model == "scripted + scripted"
    assert answer.n.text == "6 of 6 rollouts of 2 models answered"
    assert [(one.model, one.rollouts, one.usage.turns) for one in answer.usage_by_model] == [
        ("west", 4, 4), ("east", 2, 2),
    ]  # fmt: skip
    assert sum((one.usage for one in answer.usage_by_model), Usage()) == answer.usage
    assert answer.calibration.state == "transferred"
    assert not [warning for warning in answer.warnings if "did not answer" in warning]
    assert (await replay_bundle(checked_entries(bundle), mixture_args(tmp_path))).is_equal


@pytest.mark.slow
async def test_a_model_that_is_down_loses_its_share_and_the_answer_says_so(tmp_path, data_store):
    events, _ = await locate_photo(mixture_args(tmp_path, third=DOWN), n=3)
    run = fold(events)
    assert {one.source for one in run.answer.rollouts} == {"west"}
    assert all(one.answered for one in run.answer.rollouts)
    (warning,) = [one for one in run.answer.warnings if "east did not answer" in one]
    assert warning.endswith("west did its rollout (1)")
    assert {event.rollout_id for event in events if event.type == "rollout_resumed"} == {1}


@pytest.mark.slow
async def test_when_every_model_is_down_the_request_fails(tmp_path, data_store):
    base = mixture_args(tmp_path, third=DOWN)
    other = DOWN.model_copy(update={"base_url": "http://127.0.0.1:11/v1"})
    members = [base.engines[1], EngineShare(name="north", engine=other)]
    args = AppArgs.model_validate({**base.model_dump(), "engines": members, "engine": DOWN})
    async with serving(args) as (url, _), httpx.AsyncClient(base_url=url, timeout=60) as http:
        body = {"image": {"base64": base64.b64encode(PHOTO).decode()}, "n_parallel": 2, "deadline_s": 20}
        reply = await http.post("/locate", json=body)
    assert reply.status_code in (502, 503)


class Answering:
    """Rollouts that end in one way, with one usage."""

    engines = ()

    def __init__(self, **ended):
        self._ended = ended

    async def run(self, group):
        for task in group.tasks:
            yield [RolloutFinished(rollout_id=task.rollout_id, **self._ended)]


async def test_the_usage_of_a_rollout_that_moved_includes_both_models(blank_photo):
    lost = RolloutFailure(code="model", detail="the connection was lost", endpoint="http://west")
    spent = Usage(turns=2, model_calls=2, prompt_tokens=3000, cost_usd=0.04)
    west = Answering(stop_reason=StopReason.FAILED, failure=lost, usage=spent)
    east = Answering(stop_reason=StopReason.ANSWERED, usage=Usage(turns=1, model_calls=1, cost_usd=0.01))
    engine = ScriptedEngine(tape="unused")
    rollouts = MixtureRollouts(
        [
            Member(EngineShare(name=name, engine=engine, share=share), made)
            for name, made, share in (("west", west, 2), ("east", east, 1))
        ]
    )
    group = GroupRequest(
        context=a_context(), photos=(blank_photo,), tasks=(RolloutTask(rollout_id=0, seed=1),), n_total=1,
        limits=Limits(),
    )  # fmt: skip
    items = [item async for batch in rollouts.run(group) for item in batch]
    (ended,) = [item for item in items if isinstance(item, RolloutFinished)]
    assert ended.stop_reason is StopReason.ANSWERED
    assert ended.usage == spent + Usage(turns=1, model_calls=1, cost_usd=0.01)


async def test_a_source_that_is_known_to_be_right_outweighs_the_others(tmp_path, data_store):
    good, poor = (1.0,) * len(SCALES), (0.05,) * len(SCALES)
    known = tmp_path / "sources.json"
    known.write_bytes(Reliability(factors={"east": good, "west": poor}).json_bytes())
    args = mixture_args(tmp_path, verifier=VerifierConfig(sources=known))
    events, bundle = await locate_photo(args)
    assert distance_km(fold(events).answer.point, LatLon(**OSAKA)) < 1
    assert (await replay_bundle(checked_entries(bundle), args)).is_equal


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"engines": [{"name": "a", "engine": {"name": "clues"}}]}, "give two or more"),
        ({"engines": [{"name": "a", "engine": {"name": "clues"}}] * 2}, "each with its own name"),
        (
            {
                "engine": {"name": "openai"},
                "engines": [{"name": n, "engine": {"name": "clues"}} for n in "ab"],
            },
            "leave engine out",
        ),
        (
            {
                "observer": {"name": "openai"},
                "engines": [{"name": n, "engine": {"name": "clues"}} for n in "ab"],
            },
            "an observer works with one engine only",
        ),
        (
            {
                "engines": [
                    {"name": "a", "engine": {"name": "clues"}},
                    {"name": "b", "engine": {"name": "vllm", "model": "m"}},
                ]
            },
            "only the first engine may be vllm",
        ),
        ({"engines": [{"name": "a", "engine": {"name": "clues"}, "share": 0}] * 2}, "greater than 0"),
    ],
)
def test_an_invalid_mixture_is_refused_with_the_reason(changes, says):
    with pytest.raises(ValidationError, match=says):
        AppArgs.model_validate(changes)


def test_the_doctor_lists_every_engine_with_its_share(tmp_path, data_store):
    found = {finding.what: finding for finding in check_installation(mixture_args(tmp_path))}
    assert found["shares of the engines"].detail == "west 67 %, east 33 %"
    assert {"engine west", "engine east"} <= set(found)
    assert found["reliability of sources"].state == "off"
