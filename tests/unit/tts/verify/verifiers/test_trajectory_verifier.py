"""The verifier as published: whole trajectories in a free form, thoughts apart, and the ledgers' veto."""

import asyncio

import pytest
from support.basics import a_context
from support.played_rollouts import PlayedModel
from support.verifier_runs import COIMBRA, OSAKA, even_runs, trajectory

from tts.config import VerifierConfig
from tts.domain.answer import Verdict
from tts.domain.claim import ClaimedPlace
from tts.domain.geo import Countries, LatLon, distance_km
from tts.domain.picture_rules import ResizeRule
from tts.domain.request import LocateOptions
from tts.domain.tooling import ToolCall, ToolResult
from tts.domain.trajectory import Trajectory, Turn
from tts.ports.verification import VerdictText, VerifyRequest
from tts.verify.consensus.calibration import shipped_calibration
from tts.verify.evidence.world import World
from tts.verify.model.reasoning import ThoughtGate, thinks_by_name, without_thought
from tts.verify.verifiers.consensus import ConsensusVerifier
from tts.verify.verifiers.model import ModelVerifier
from tts.verify.verifiers.published_verifier import TrajectoryTexts, candidates_text, trajectory_text


@pytest.fixture(scope="module")
def world(gazetteer, countries):
    return World(gazetteer, countries)


TASK = "Task: {input} Agents: {candidates} JSON please"
AT_OSAKA = '{"lat": 34.69, "lon": 135.50, "city": "Osaka", "country": "Japan"}'


def verdict(world, photo, output, runs, **config):
    items, requests = weigh_runs(world, photo, output, runs, **config)
    return items[-1], requests


def weigh_runs(world, photo, output, runs, options=None, **config):
    model = PlayedModel([output])
    settings = VerifierConfig(kind="model", mode="trajectories", **config)
    consensus = ConsensusVerifier(world, shipped_calibration("scripted"))
    verifier = ModelVerifier(model, consensus, settings, TrajectoryTexts("Judge.", TASK, "where?"))
    request = VerifyRequest(a_context(), (photo,), options or LocateOptions(), tuple(runs))

    async def run():
        return [item async for item in verifier.verify(request)]

    return asyncio.run(run()), model.requests


def test_the_free_answer_of_the_verifier_model_becomes_the_verdict(world, sign_photo):
    found, (request,) = verdict(world, sign_photo, f"Both may be right. {AT_OSAKA}", even_runs())
    assert isinstance(found, Verdict)
    assert distance_km(LatLon(lat=found.lat, lon=found.lon), OSAKA) < 1
    assert request.json_schema is None
    assert (request.sampling.temperature, request.messages[0].text) == (0.0, "Judge.")
    text, image = request.messages[1].parts  # text first, then the photo
    assert text.text.startswith("Task: where? Agents: [Agent 0] ")
    assert text.text.endswith("JSON please")
    assert image.kind == "image"
    assert request.pictures.photo.size(1600, 1200) == (1024, 768)


def test_the_photo_is_scaled_as_published_unless_a_rule_is_set(world, sign_photo):
    _, (request,) = verdict(world, sign_photo, AT_OSAKA, even_runs())
    assert (request.pictures.photo.resample, request.pictures.photo.max_side) == ("bilinear", 1024)
    _, (request,) = verdict(world, sign_photo, AT_OSAKA, even_runs(), photo_rule=ResizeRule(max_side=300))
    assert (request.pictures.photo.resample, request.pictures.photo.max_side) == ("bicubic", 300)


def test_an_answer_inside_a_thought_is_ignored(world, sign_photo):
    output = f'<think>{{"lat": 40.2, "lon": -8.4, "city": "", "country": ""}}</think>{AT_OSAKA}'
    found, _ = verdict(world, sign_photo, output, even_runs(), thinks=True)
    assert distance_km(LatLon(lat=found.lat, lon=found.lon), OSAKA) < 1
    cut, _ = verdict(world, sign_photo, f"<think>{AT_OSAKA}", even_runs(), thinks=True)
    assert any("was cut off before it answered: verifier.max_tokens" in warning for warning in cut.warnings)


def test_the_ledgers_set_an_answer_aside_unless_they_may_not(world, sign_photo):
    runs = [trajectory(0, COIMBRA), trajectory(1, OSAKA, tool=False)]
    kept, _ = verdict(world, sign_photo, AT_OSAKA, runs)
    assert distance_km(LatLon(lat=kept.lat, lon=kept.lon), COIMBRA) < 1
    assert any("was not used" in warning for warning in kept.warnings)
    followed, _ = verdict(world, sign_photo, AT_OSAKA, runs, veto=False)
    assert distance_km(LatLon(lat=followed.lat, lon=followed.lon), OSAKA) < 1


@pytest.mark.parametrize("veto", [True, False])
@pytest.mark.parametrize(
    "options",
    [
        LocateOptions(within=Countries(codes=("PT",))),
        LocateOptions(not_there=(ClaimedPlace(place="Japan", kind="country", areas=(Countries(codes=("JP",)),)),)),
    ],
)
def test_an_answer_that_the_caller_excludes_leaves_the_decision_to_the_consensus(world, sign_photo, options, veto):
    found, _ = verdict(world, sign_photo, AT_OSAKA, even_runs(), options=options, veto=veto)
    assert distance_km(LatLon(lat=found.lat, lon=found.lon), COIMBRA) < 1
    assert any("the caller's area, or a place ruled out, excludes it" in warning for warning in found.warnings)


@pytest.mark.parametrize(
    ("thought", "thinks"),
    [("", False), ("<think>Coimbra? No.</think>", False), ("Coimbra? No.</think>", True), ("", True)],
)
def test_the_free_answer_is_streamed_without_its_thought(world, sign_photo, thought, thinks):
    items, _ = weigh_runs(world, sign_photo, f"{thought}I go by the rail gauge. {AT_OSAKA}", even_runs(), thinks=thinks)
    streamed = "".join(item.text for item in items if isinstance(item, VerdictText))
    assert streamed == f"I go by the rail gauge. {AT_OSAKA}"


def test_an_answer_without_coordinates_leaves_the_decision_to_the_consensus(world, sign_photo):
    found, _ = verdict(world, sign_photo, "I cannot say.", even_runs())
    assert "the verifier model's answer has no coordinates" in found.warnings


def test_a_place_of_the_models_own_has_its_own_evidence(world, sign_photo):
    runs = [trajectory(0, COIMBRA, name="Coimbra"), trajectory(1, COIMBRA, name="Coimbra")]
    output = '{"lat": 40.2089, "lon": -8.2, "city": "Lousã", "country": "Portugal"}'  # 19 km to the east
    found, _ = verdict(world, sign_photo, output, runs)
    claims = [row.claim for row in found.evidence]
    assert "Coimbra lies 18.7 km from the point" in claims
    assert not any("lies 0.0 km from the point" in claim for claim in claims)


def test_a_far_point_without_the_veto_is_answered_with_no_evidence_near_it(world, sign_photo):
    runs = [trajectory(0, COIMBRA, name="Coimbra"), trajectory(1, COIMBRA, name="Coimbra")]
    output = '{"lat": 48.8566, "lon": 2.3522, "city": "Paris", "country": "Portugal"}'
    found, _ = verdict(world, sign_photo, output, runs, veto=False)
    assert found.country == "France"
    claims = {row.claim: row.supports for row in found.evidence}
    assert not any("km from the point" in claim for claim in claims)
    assert claims["the point lies in France, but the answer says Portugal"] is False


def test_calls_that_came_beside_the_text_are_shown_as_written_ones():
    call = ToolCall(id="c", name="poi_keyword_search", arguments={"query": "Malmö"})
    beside = Trajectory(rollout_id=0, turns=(Turn(index=0, text="I look it up.", calls=(call,)),))
    written = '<tool_call>\n{"name": "poi_keyword_search", "arguments": {"query": "Malmö"}}\n</tool_call>'
    assert trajectory_text(beside) == f"I look it up.\n{written}"
    own = Trajectory(rollout_id=0, turns=(Turn(index=0, text=f"Look.\n{written}", calls=(call,)),))
    assert trajectory_text(own) == f"Look.\n{written}"


def run_of(number, *results):
    turns = [
        Turn(index=i, text=f"thought {i}", results=(ToolResult(call_id="c", name="x", text=text),))
        for i, text in enumerate(results)
    ]
    return Trajectory(rollout_id=number, turns=(*turns, Turn(index=9, text="answer")))


def test_trajectories_above_the_token_budget_lose_their_oldest_observations_first():
    runs = [run_of(0, "old " * 400, "new"), run_of(1, "older " * 400)]
    whole = candidates_text(runs, token_budget=10_000, seed="s")
    assert "old old" in whole
    assert whole.count("[cut]") == 0
    cut = candidates_text(runs, token_budget=200, seed="s")
    assert cut.count("[cut]") == 2
    assert "\nuser\n<tool_response>\nnew\n</tool_response>\nassistant\n" in cut
    assert all(thought in cut for thought in ("thought 0", "thought 1", "answer"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("<think>a</think>b", "b"), ("a</think>b", "b"), ("<think>a", ""), ("b", "b"), ("", "")],
)
def test_only_the_text_after_the_thought_is_kept(text, expected):
    assert without_thought(text) == expected


def test_the_text_of_a_thought_is_not_streamed():
    gate = ThoughtGate(thinking=False)
    assert "".join(map(gate.feed, ["<think>a", "b</th", "ink>c", "d"])) == "cd"
    assert "".join(map(ThoughtGate(thinking=True).feed, ["a", "b</think>c"])) == "c"
    assert "".join(map(ThoughtGate(thinking=False).feed, ["a", "<think>"])) == "a<think>"


@pytest.mark.parametrize(
    "pieces",
    [
        ["<think>no</think>yes"],
        ["<th", "ink>no</th", "ink>yes"],
        list("<think>no</think>yes"),
        ["\n", " <think>", "no", "</think>yes"],
        ["ye<think>no</think>s"],
    ],
)
def test_a_thought_is_held_back_however_its_tags_are_divided(pieces):
    assert "".join(map(ThoughtGate(thinking=False).feed, pieces)) == "yes"


@pytest.mark.parametrize("pieces", [["<", "b>yes</b>"], ["<thi", "s>"], ["yes"]])
def test_text_that_only_begins_like_a_thought_is_let_through(pieces):
    assert "".join(map(ThoughtGate(thinking=False).feed, pieces)) == "".join(pieces)


@pytest.mark.parametrize(
    ("model", "thinks"),
    [("Qwen/Qwen3-VL-8B-Thinking", True), ("Qwen/Qwen3-VL-8B-Instruct", False), ("thinking/plain", False)],
)
def test_thinking_models_are_known_by_their_name(model, thinks):
    assert thinks_by_name(model) is thinks


def test_a_resize_rule_with_a_longest_side_keeps_the_proportions():
    assert ResizeRule(max_side=1024).size(1000, 3000) == (341, 1024)
    assert ResizeRule(max_side=1024).size(800, 600) == (800, 600)
