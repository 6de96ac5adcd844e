"""Not being asked never helps: a round asks about each answer that is compared, or it does not take place."""

import math
from dataclasses import dataclass
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.basics import a_context

from tts.clues.clue_reader import ClueReader
from tts.domain.request import LocateOptions
from tts.domain.tooling import ToolResult, WebFact
from tts.eval.synthetic.families import generate
from tts.ports.verification import VerifyRequest
from tts.verify.consensus.calibration import shipped_calibration
from tts.verify.evidence.world import World
from tts.verify.inquiry.candidates import CandidateInputs
from tts.verify.inquiry.comparison import Comparison
from tts.verify.inquiry.question import FORMS
from tts.verify.inquiry.question_choice import Inquiry
from tts.verify.inquiry.reweighing import reweigh_votes
from tts.verify.inquiry.tool_statements import ToolStatements
from tts.verify.verifiers.consensus import ConsensusVerifier

LINES = ("Cafe Ottone", "Foto Express Lima", "Harbour Road 397")


@dataclass(frozen=True)
class Town:
    """A place that is asked about."""

    city: str
    country_code: str = ""
    searched_lines: frozenset[str] = frozenset()

    @property
    def name(self):
        return self.city

    def is_named_in(self, statement):
        return statement.is_about(None, self.city)


def page(call, line, cities, *, found):
    """The result of a call: a page that has the line beside the cities, or has neither."""
    title = f"{line} in {', '.join(cities)}" if found else "nothing of the kind"
    fact = WebFact(number=1, title=title, url="https://example.org/")
    return ToolResult(call_id=call.id, name=call.name, text=title, facts=(fact,))


def answer_all(comparison, found, elsewhere=lambda: "Lisbon"):
    """Answers every question; `found` says for each call whether the line is there. Returns the number of calls."""
    made = 0
    while calls := comparison.next_calls():
        made += len(calls)
        pending = comparison._pending
        results = {}
        for call in calls:
            cities = [comparison.candidates[i].city for i, own in pending.of.items() if own is call] or [elsewhere()]
            results[call.id] = page(call, pending.question.line, cities, found=found())
        comparison.take(results)
    return made


@pytest.mark.parametrize(
    "third", [Town("Carlow", "XC"), Town(""), Town("Carlow", "XC", searched_lines=frozenset(LINES))]
)  # too few calls, no question is possible, the line led to it
def test_two_of_three_places_are_not_compared(third):
    comparison = Comparison([Town("Alton", "XA"), Town("Belmont", "XB"), third], ToolStatements((), LINES), FORMS, 2)
    outcomes = iter([False, True])
    assert answer_all(comparison, lambda: next(outcomes)) == 0
    assert comparison.weight_changes() == {}


towns_of = st.integers(2, 6).flatmap(
    lambda count: st.tuples(*(
        st.builds(Town, st.sampled_from(["", f"Town{chr(97 + i) * 3}"]), st.sampled_from(["", "XA", f"X{i}"]),
                  st.sets(st.sampled_from(LINES)).map(frozenset))
        for i in range(count)))
)  # fmt: skip


@given(towns_of, st.integers(0, 12), st.data())
def test_each_round_asks_about_each_place_with_the_calls_that_are_left(towns, calls, data):
    comparison = Comparison(towns, ToolStatements((), LINES), FORMS, calls)
    assert answer_all(comparison, lambda: data.draw(st.booleans())) <= calls
    for one in comparison.rounds:
        assert one.outcomes.keys() == set(range(len(towns)))


@pytest.fixture(scope="module")
def world(gazetteer, countries, data_store):
    return World(gazetteer, countries, ClueReader(gazetteer, data_store.lexicon(), countries))


@pytest.fixture(scope="module")
def judgement(gazetteer, countries, world):
    """A scenario by its number, and the consensus about it."""
    scenarios = generate("left_behind", 24, 3, gazetteer, countries)

    @cache
    def of(number):
        scenario = scenarios[number]
        request = VerifyRequest(a_context(), (), LocateOptions(), scenario.trajectories, scenario.readings)
        return scenario, ConsensusVerifier(world, shipped_calibration("default")).judge(request)

    return of


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(number=st.integers(0, 23), calls=st.integers(1, 10), data=st.data())
def test_an_answer_not_asked_about_never_overtakes_one_where_the_line_was_found(judgement, world, number, calls, data):
    scenario, judged = judgement(number)
    inquiry = Inquiry(CandidateInputs(scenario.trajectories, scenario.readings, world), judged.clusters, FORMS, calls)
    elsewhere = st.sampled_from(["Lisbon", "Nairobi", "Osaka", "Lima"])
    made = answer_all(inquiry, lambda: data.draw(st.booleans()), lambda: data.draw(elsewhere))
    assert made <= calls
    weight_changes, found = inquiry.weight_changes(), set()
    finals = {i for i, one in enumerate(inquiry.candidates) if not one.is_unchosen}
    for one, counted in zip(inquiry.rounds, inquiry.counted_places(), strict=True):
        assert finals <= one.outcomes.keys(), "every answer that is compared is asked about"
        found |= {i for i in counted if one.outcomes[i].found and one.weight_changes(counted)}
        for i in set(range(len(inquiry.candidates))) - one.outcomes.keys():
            own = sum(
                r.weight_changes(c).get(i, 0.0) for r, c in zip(inquiry.rounds, inquiry.counted_places(), strict=True)
            )
            lowest = min(one.weight_changes(counted).values(), default=0.0)
            assert weight_changes.get(i, 0.0) - own <= lowest + 1e-9, "at best as if the line was not found there"
    compared = [vote for i in finals for vote in inquiry.candidates[i].votes]
    for old, new in zip(judged.votes, reweigh_votes(inquiry, judged.votes), strict=False):
        if old not in compared:
            change = math.log(new.weight / old.weight)
            assert all(change <= weight_changes[i] + 1e-9 for i in found), (
                "it overtakes a place at which the line was found"
            )
