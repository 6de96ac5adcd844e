"""The verifier's own questions: the same of each place, void when one call fails, and worth nothing by themselves."""

import asyncio
import random
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.basics import a_context
from support.scenario_tools import ScenarioTools

from tts.aio import closing
from tts.clues.clue_reader import ClueReader
from tts.config import VerifierConfig
from tts.domain.answer import Verdict
from tts.domain.events import ToolCalled, ToolResulted
from tts.domain.geo import distance_km
from tts.domain.request import LocateOptions
from tts.domain.tooling import ToolFailure
from tts.domain.trajectory import Run, fold
from tts.errors import ToolErrorKind
from tts.eval.synthetic.families import generate
from tts.eval.synthetic.scenario import RIGHT_KM
from tts.ports.toolbox import ToolOutcome
from tts.ports.verification import VerifierItem, VerifyRequest
from tts.verify.consensus.calibration import shipped_calibration
from tts.verify.evidence.world import World
from tts.verify.inquiry.question import Question
from tts.verify.inquiry.rounds import Outcome, Round
from tts.verify.verifiers.consensus import ConsensusVerifier
from tts.verify.verifiers.tool_calling import InquiryVerifier, Questioner

found_or_not = st.lists(st.booleans(), min_size=2, max_size=4)
QUESTION = Question(line="Linden Avenue 33", form="web_search")


def a_round(found):
    return Round(QUESTION, {i: Outcome(one, f"c{i}") for i, one in enumerate(found)})


def weight_changes(found):
    return a_round(found).weight_changes(frozenset(range(len(found))))


@given(found_or_not, st.randoms(use_true_random=False))
def test_a_round_treats_all_places_alike(found, luck):
    order = list(range(len(found)))
    luck.shuffle(order)
    before, after = weight_changes(found), weight_changes([found[i] for i in order])
    assert after == pytest.approx({k: before[i] for k, i in enumerate(order)})


@given(found_or_not)
def test_the_gains_of_a_round_add_up_to_zero_and_equal_results_gain_nothing(found):
    assert sum(weight_changes(found).values()) == pytest.approx(0.0)
    if len(set(found)) == 1:
        assert weight_changes(found) == pytest.approx(dict.fromkeys(range(len(found)), 0.0))


@given(found_or_not, st.data())
def test_a_failed_call_voids_the_round_for_all_places(found, data):
    broken = data.draw(st.integers(0, len(found) - 1))
    assert weight_changes([None if i == broken else one for i, one in enumerate(found)]) == {}


class Tools(ScenarioTools):
    """The tools of a scenario, perhaps with an answer of their own."""

    def __init__(self, scenario, gazetteer, answer=None):
        super().__init__(scenario, gazetteer)
        self._other = answer

    async def call(self, call, context):
        outcome = await super().call(call, context)
        return outcome if self._other is None else await self._other(call, outcome)


@pytest.fixture(scope="module")
def world(gazetteer, countries, data_store):
    return World(gazetteer, countries, ClueReader(gazetteer, data_store.lexicon(), countries))


@pytest.fixture(scope="module")
def lost(gazetteer, countries):
    """One scenario of each way to leave the truth behind, and one where it is answered."""
    made = generate("left_behind", 24, 3, gazetteer, countries)
    return {scenario.kind: scenario for scenario in reversed(made)}


async def run_inquiry(scenario, world, questions, answer=None, trajectories=None, inquiry=(), tools=True):
    """The items of the verifier, and the tools it asked."""
    toolbox = Tools(scenario, world.gazetteer, answer)
    questioner = Questioner(toolbox if tools else None, world, VerifierConfig())
    verifier = InquiryVerifier(ConsensusVerifier(world, shipped_calibration("default")), questioner)
    options = LocateOptions(verifier_questions=questions)
    every = trajectories or scenario.trajectories
    request = VerifyRequest(a_context(), (), options, every, scenario.readings, inquiry=inquiry)
    return [item async for item in verifier.verify(request)], toolbox


def verdict(items):
    assert isinstance(items[-1], Verdict)
    return items[-1]


def but_for_the_explanation(items):
    return verdict(items).model_copy(update={"explanation": ""})


def is_right(items, scenario):
    return distance_km(verdict(items).point, scenario.truth) <= RIGHT_KM


@pytest.mark.parametrize("kind", ["middle turn", "second hit", "unasked"])
async def test_a_place_that_no_rollout_answers_is_recovered_by_at_most_four_calls(lost, world, kind):
    before, _ = await run_inquiry(lost[kind], world, 0)
    after, tools = await run_inquiry(lost[kind], world, 4)
    assert not is_right(before, lost[kind])
    assert is_right(after, lost[kind])
    assert 0 < tools.calls <= 4
    shown = [one for one in verdict(after).evidence if one.claim.startswith("the comparison searched for")]
    made = {item.call.id for item in after if isinstance(item, ToolCalled)}
    assert shown
    assert {one.call_id for one in shown} <= made
    assert {one.rollout_id for one in shown} == {None}
    assert verdict(after).candidates[0].rollouts == ()


async def test_the_right_answer_stays_where_a_wrong_place_was_left_behind(lost, world):
    items, tools = await run_inquiry(lost["answered"], world, 4)
    assert is_right(items, lost["answered"])
    assert tools.calls


async def test_an_inquiry_without_calls_gives_the_verdict_of_the_consensus(lost, world):
    """Which is the default."""
    assert VerifierConfig().questions == 0
    scenario = lost["second hit"]
    items, tools = await run_inquiry(scenario, world, 0)
    consensus = ConsensusVerifier(world, shipped_calibration("default"))
    request = VerifyRequest(a_context(), (), LocateOptions(), scenario.trajectories, scenario.readings)
    assert items == [item async for item in consensus.verify(request)]
    assert not tools.calls


async def test_a_line_that_was_hardly_read_is_not_asked_for(lost, world):
    scenario = lost["unasked"]
    (reading,) = scenario.readings
    faint = tuple(line.model_copy(update={"confidence": 0.3}) for line in reading.lines)
    blurred = replace(scenario, readings=(reading.model_copy(update={"lines": faint}),))
    assert (await run_inquiry(blurred, world, 4))[1].calls == 0
    assert (await run_inquiry(scenario, world, 4))[1].calls > 0


async def fail_calls(call, outcome):
    failure = ToolFailure(kind=ToolErrorKind.UNAVAILABLE, detail="down")
    return ToolOutcome(outcome.result.model_copy(update={"facts": (), "failure": failure}))


async def echoing(call, outcome):
    """A page for every question that says just what was asked for."""
    facts = tuple(fact for fact in outcome.result.facts if fact.kind == "web")
    echoes = tuple(fact.model_copy(update={"title": str(call.arguments["query"])}) for fact in facts[:1])
    return ToolOutcome(outcome.result.model_copy(update={"facts": echoes, "failure": None}))


@pytest.mark.parametrize("answer", [fail_calls, echoing])
@pytest.mark.parametrize("kind", ["middle turn", "second hit", "unasked", "answered"])
async def test_tools_that_fail_or_echo_the_question_do_not_change_the_verdict(lost, world, answer, kind):
    before, _ = await run_inquiry(lost[kind], world, 0)
    after, tools = await run_inquiry(lost[kind], world, 4, answer)
    assert 0 < tools.calls <= 4
    assert but_for_the_explanation(after) == but_for_the_explanation(before)


@pytest.mark.parametrize(
    ("answer", "reason"), [(fail_calls, "a search failed"), (echoing, "it was found at each of them")]
)
async def test_each_call_that_changes_nothing_is_explained(lost, world, answer, reason):
    before, _ = await run_inquiry(lost["answered"], world, 0)
    after, _ = await run_inquiry(lost["answered"], world, 4, answer)
    added_text = verdict(after).explanation.removeprefix(verdict(before).explanation)
    queries = {str(item.call.arguments["query"]) for item in after if isinstance(item, ToolCalled)}
    lines = re.findall("The comparison searched for “(.*?)” at", added_text)
    assert queries
    assert all(any(line in query for line in lines) for query in queries)
    assert added_text.count(f"which decided nothing: {reason}") == len(lines)


async def test_every_call_is_in_a_ledger(lost, world):
    for kind, scenario in lost.items():
        for answer in (None, fail_calls, echoing):
            toolbox = Tools(scenario, world.gazetteer, answer)
            request = VerifyRequest(
                a_context(), (), LocateOptions(verifier_questions=4), scenario.trajectories, scenario.readings
            )
            consensus = ConsensusVerifier(world, shipped_calibration("default"))
            items: list[VerifierItem] = []

            async def send(item, items=items):
                items.append(item)

            questioner = Questioner(toolbox, world, VerifierConfig())
            judgement = await questioner.ask_open_questions(request, consensus.judge(request), send)
            ledgers = (*judgement.ledgers, *(vote.ledger for vote in judgement.votes))
            entered = {entry.call_id for one in ledgers for entry in one.entries if entry.about == "asked"}
            made = {item.call.id for item in items if isinstance(item, ToolCalled)}
            assert made, kind
            assert made == entered, (kind, answer)


async def test_the_order_of_rollouts_does_not_change_the_questions(lost, world):
    scenario, luck = lost["middle turn"], random.Random(1)
    shuffled = luck.sample(scenario.trajectories, len(scenario.trajectories))
    first, _ = await run_inquiry(scenario, world, 4)
    again, _ = await run_inquiry(scenario, world, 4, trajectories=tuple(shuffled))
    calls = [[item.call for item in items if isinstance(item, ToolCalled)] for items in (first, again)]
    assert calls[0] == calls[1]
    assert verdict(first).point == verdict(again).point


async def test_a_recorded_inquiry_gives_the_same_verdict_without_tools(lost, world):
    first, _ = await run_inquiry(lost["unasked"], world, 4)
    run = fold([item for item in first if isinstance(item, ToolCalled | ToolResulted)], Run())
    again, tools = await run_inquiry(lost["unasked"], world, 4, inquiry=run.inquiry, tools=False)
    assert verdict(again).json_bytes() == verdict(first).json_bytes()
    assert not tools.calls
    assert not [item for item in again if isinstance(item, ToolCalled)]
    assert not run.rollouts


async def test_calls_that_were_made_before_count(lost, world):
    first, _ = await run_inquiry(lost["unasked"], world, 4)
    run = fold([item for item in first if isinstance(item, ToolCalled | ToolResulted)], Run())
    again, tools = await run_inquiry(lost["unasked"], world, 4, inquiry=run.inquiry)
    assert not tools.calls
    assert verdict(again).point == verdict(first).point


async def test_a_request_may_not_have_more_calls_than_the_operator_allows(lost, world):
    questioner = Questioner(None, world, VerifierConfig(questions=1, max_questions=2))

    def budget(**options):
        scenario = lost["unasked"]
        return questioner.budget(VerifyRequest(a_context(), (), LocateOptions(**options), scenario.trajectories))

    used = sum(trajectory.usage.tool_calls for trajectory in lost["unasked"].trajectories)
    assert (budget(), budget(verifier_questions=0), budget(verifier_questions=32)) == (1, 0, 2)
    assert budget(verifier_questions=2, max_tool_calls=used + 1) == 1
    assert budget(verifier_questions=2, max_tool_calls=used) == 0


async def test_only_tools_that_the_request_allows_are_asked(lost, world):
    scenario = lost["second hit"]
    questioner = Questioner(Tools(scenario, world.gazetteer), world, VerifierConfig())
    verifier = InquiryVerifier(ConsensusVerifier(world, shipped_calibration("default")), questioner)
    options = LocateOptions(verifier_questions=4, tools=("country_at",))
    request = VerifyRequest(a_context(), (), options, scenario.trajectories, scenario.readings)
    assert not [item async for item in verifier.verify(request) if isinstance(item, ToolCalled)]


async def test_closing_the_verifier_ends_the_call_under_way_and_the_next_request_works(lost, world):
    started, ended = asyncio.Event(), asyncio.Event()

    async def slow(call, outcome):
        started.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    scenario = lost["second hit"]
    questioner = Questioner(Tools(scenario, world.gazetteer, slow), world, VerifierConfig())
    verifier = InquiryVerifier(ConsensusVerifier(world, shipped_calibration("default")), questioner)
    options = LocateOptions(verifier_questions=4)
    request = VerifyRequest(a_context(), (), options, scenario.trajectories, scenario.readings)
    async with closing(verifier.verify(request)) as items:
        assert isinstance(await anext(items), ToolCalled)
        await asyncio.wait_for(started.wait(), 5)
    await asyncio.wait_for(ended.wait(), 5)
    assert is_right((await run_inquiry(scenario, world, 4))[0], scenario)


async def test_a_tool_that_is_too_slow_voids_its_round(lost, world):
    async def slow(call, outcome):
        await asyncio.sleep(60)

    scenario = lost["second hit"]
    toolbox = Tools(scenario, world.gazetteer, slow)
    verifier = InquiryVerifier(
        ConsensusVerifier(world, shipped_calibration("default")), Questioner(toolbox, world, VerifierConfig())
    )
    context = a_context().model_copy(update={"remaining_s": 0.3})
    options = LocateOptions(verifier_questions=4)
    request = VerifyRequest(context, (), options, scenario.trajectories, scenario.readings)
    items = [item async for item in verifier.verify(request)]
    results = [item.result for item in items if isinstance(item, ToolResulted)]
    assert {result.failure.kind for result in results} == {ToolErrorKind.TIMEOUT}
    assert but_for_the_explanation(items) == but_for_the_explanation((await run_inquiry(scenario, world, 0))[0])
