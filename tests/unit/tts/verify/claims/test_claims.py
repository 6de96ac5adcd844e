"""A claim is held against what blind rollouts and lettering say; it is never evidence for itself."""

import pytest
from support.basics import a_context

from tts.aio import closing
from tts.clues.claimed_places import claimed_place
from tts.clues.clue_reader import ClueReader
from tts.config import VerifierConfig
from tts.domain.answer import StopReason, Verdict
from tts.domain.calibration import CalibrationState
from tts.domain.claim import CheckOptions, ClaimedPlace
from tts.domain.events import ToolCalled
from tts.domain.geo import Circle, LatLon
from tts.domain.hypothesis import Hypothesis
from tts.domain.photo import Box
from tts.domain.reading import Reading, TextLine
from tts.domain.tooling import PlaceFact, ToolCall, ToolResult
from tts.domain.trajectory import Trajectory, Turn
from tts.ports.toolbox import ToolOutcome, ToolSchema
from tts.ports.verification import VerifyRequest
from tts.verify.claims.asked_places import asked_places
from tts.verify.claims.claim_calibration import shipped_claim_calibration
from tts.verify.claims.claim_evidence import evidence_of_answers
from tts.verify.claims.places_in_question import places_in_question
from tts.verify.consensus.calibration import shipped_calibration
from tts.verify.evidence.world import World
from tts.verify.inquiry.tool_statements import ToolStatements
from tts.verify.verifiers.calibration_state import CalibrationStateVerifier
from tts.verify.verifiers.claim import ClaimVerifier
from tts.verify.verifiers.consensus import ConsensusVerifier
from tts.verify.verifiers.tool_calling import InquiryVerifier, Questioner

BELLINZONA = LatLon(lat=46.1928, lon=9.017)
KHARKIV = LatLon(lat=49.98, lon=36.25)


@pytest.fixture(scope="module")
def world(data_store, gazetteer, countries):
    return World(gazetteer, countries, ClueReader(gazetteer, data_store.lexicon(), countries))


def reading(*texts):
    lines = [
        TextLine(text=text, box=Box(x0=0.1, y0=0.1 + 0.1 * i, x1=0.6, y1=0.18 + 0.1 * i), confidence=0.99)
        for i, text in enumerate(texts)
    ]
    return (Reading(photo_sha256="0" * 64, lines=tuple(lines)),)


def a_rollout(number, point=BELLINZONA, *, name="Bellinzona", country="CH", query=None):
    """It looked a name up, got its position, and answered with it."""
    fact = PlaceFact(id="gn:2661567", name=name, place_kind="city", point=point, country_code=country, source="test")
    call = ToolCall(id="call_0_0", name="poi_keyword_search", arguments={"query": query or name})
    result = ToolResult(call_id="call_0_0", name="poi_keyword_search", text=name, facts=(fact,))
    answer = Hypothesis(point=point, country_code=country, city=name)
    turn = Turn(index=0, calls=(call,), results=(result,), finished=True)
    return Trajectory(rollout_id=number, turns=(turn,), answer=answer, stop_reason=StopReason.ANSWERED)


@pytest.fixture
def check(world, blank_photo):
    async def run(*claims, blind=(), testing=(), readings=(), state="fitted"):
        calibration_state = CalibrationState(state=state)
        calibration = shipped_calibration("clues")
        inner = CalibrationStateVerifier(
            ConsensusVerifier(world, calibration), calibration_state, "generic", knows_draws=False
        )
        verifier = ClaimVerifier(inner, world, calibration, shipped_claim_calibration("clues"))
        claimed = tuple(claimed_place(claim, world.clues) for claim in claims)
        request = VerifyRequest(
            a_context(), (blank_photo,), CheckOptions(claim=claims), tuple(blind), readings, claimed, tuple(testing)
        )
        async with closing(verifier.verify(request)) as items:
            (verdict,) = [item async for item in items if isinstance(item, Verdict)]
        return verdict

    return run


SIGN = reading("Bellinzona", "Stazione")
BLIND = [a_rollout(i) for i in range(3)]


async def test_a_claim_that_the_photo_names_is_supported_with_evidence_to_follow(check):
    found = (await check("Bellinzona", blind=BLIND, readings=SIGN)).check
    assert found.verdict == "supported"
    assert found.odds > 3
    assert found.mass > 0.75
    assert found.blind.answered == found.blind.inside == 3
    lookup = next(e for e in found.evidence_for if e.call_id)
    assert (lookup.rollout_id, lookup.tool, lookup.quote) == (0, "poi_keyword_search", "Bellinzona")


@pytest.mark.parametrize("claim", ["Lugano", "Lombardy", "Germany", "Kharkiv", "48.85,2.35,30"])
async def test_a_claim_of_another_place_is_contradicted_and_the_place_is_named(check, claim):
    found = (await check(claim, blind=BLIND, readings=SIGN)).check
    assert found.verdict == "contradicted"
    assert found.odds < 0.2
    assert found.alternative.city == "Bellinzona"
    assert any(e.quote.startswith("Bellinzona") and not e.supports for e in found.evidence_against)
    assert not any("Bellinzona" in e.quote for e in found.evidence_for)


async def test_a_claim_about_a_photo_without_clues_is_not_decidable(check):
    found = (await check("Bellinzona")).check
    assert (found.verdict, found.kind) == ("not_decidable", "not_feasible")


async def test_a_town_cannot_be_decided_where_only_the_language_is_known(check):
    found = (await check("Verona", readings=reading("Farmacia", "Chiuso il lunedì"))).check
    assert found.verdict == "not_decidable"
    assert found.kind in ("inconclusive", "indeterminate")


async def test_rollouts_that_know_of_the_claim_change_neither_the_answer_nor_the_odds(check):
    bribed = [a_rollout(9 + i, KHARKIV, name="Kharkiv", country="UA") for i in range(6)]
    without = await check("Kharkiv", blind=BLIND, readings=SIGN)
    with_bribed = await check("Kharkiv", blind=BLIND, testing=bribed, readings=SIGN)
    assert with_bribed.point == without.point
    assert (with_bribed.check.odds, with_bribed.check.mass, with_bribed.check.verdict) == (
        without.check.odds,
        without.check.mass,
        "contradicted",
    )
    assert with_bribed.check.testing.inside == 6


async def test_a_lookup_in_the_words_of_the_claim_is_no_evidence_for_it(check):
    echo = a_rollout(9, KHARKIV, name="Kharkiv", country="UA", query="Kharkiv")
    found = (await check("Kharkiv", blind=BLIND, testing=[echo], readings=SIGN)).check
    assert not found.evidence_for


async def test_without_a_calibration_there_are_no_odds_and_the_check_says_so(check):
    found = (await check("Bellinzona", blind=BLIND, readings=SIGN, state="transferred")).check
    assert (found.odds, found.mass, found.calibrated) == (None, None, False)
    assert found.places[0].mass is None
    assert "No odds" in found.text
    assert found.evidence_for
    assert found.verdict == "not_decidable"


async def test_several_places_are_compared(check):
    found = (await check("Milan", "Bellinzona", "Locarno", blind=BLIND, readings=SIGN)).check
    assert (found.verdict, found.likeliest) == ("supported", 1)
    assert found.places[1].share > 0.9
    assert sum(place.share for place in found.places) == pytest.approx(1.0, abs=0.001)


async def test_the_same_request_without_a_claim_has_no_check(world, blank_photo, check):
    assert (await check("Bellinzona", blind=BLIND, readings=SIGN)).check is not None
    plain = ConsensusVerifier(world, shipped_calibration("clues"))
    request = VerifyRequest(a_context(), (blank_photo,), CheckOptions(claim=("x",)), tuple(BLIND), SIGN)
    verifier = ClaimVerifier(plain, world, shipped_calibration("clues"), shipped_claim_calibration("clues"))
    found = [item async for item in verifier.verify(request) if isinstance(item, Verdict)]
    assert found[0].check is None


async def test_testing_rollouts_get_all_places_alike_and_not_which_one_is_claimed(check, world):
    verdict = await check("Kharkiv", blind=BLIND, readings=SIGN)
    claimed = claimed_place("This is Kharkiv. Say so!", world.clues)
    places = [place.place for place in places_in_question((claimed,), verdict)]
    assert places == ["Bellinzona (Switzerland)", "Kharkiv (Ukraine)"]
    agreeing = places_in_question((claimed_place("Bellinzona", world.clues),), verdict)
    assert [place.place for place in agreeing] == ["Bellinzona (Switzerland)"]


class Registry:
    """A places tool with one café, which stands in Bellinzona; it says where, whatever country is asked for."""

    def __init__(self):
        self.calls = []

    def schemas(self):
        return (ToolSchema(name="poi_keyword_search", description="-", parameters={"type": "object"}),)

    async def call(self, call, context):
        self.calls.append(call)
        cafe = PlaceFact(id="r:1", name="Caffè Ottone", point=BELLINZONA, country_code="CH", source="test")
        result = ToolResult(call_id=call.id, name=call.name, text=cafe.name, facts=(cafe,))
        return ToolOutcome(result=result)


async def check_with_questions(world, blank_photo, claim, *, questions=4, testing=(BLIND[0],), remaining_s=30.0):
    """The verdict of a check with a verifier that may ask, and the calls; each of them was an event."""
    tools, calibration = Registry(), shipped_calibration("clues")
    questioner = Questioner(tools, world, VerifierConfig())
    consensus = InquiryVerifier(ConsensusVerifier(world, calibration), questioner)
    inner = CalibrationStateVerifier(consensus, CalibrationState(state="fitted"), "generic", knows_draws=False)
    verifier = ClaimVerifier(inner, world, calibration, shipped_claim_calibration("clues"), questioner)
    claimed = (claimed_place(claim, world.clues),)
    options = CheckOptions(claim=(claim,), verifier_questions=questions)
    readings = reading("Caffè Ottone")
    request = VerifyRequest(
        a_context(remaining_s), (blank_photo,), options, tuple(BLIND), readings, claimed, tuple(testing)
    )
    async with closing(verifier.verify(request)) as items:
        every = [item async for item in items]
    assert [item.call.id for item in every if isinstance(item, ToolCalled)] == [call.id for call in tools.calls]
    return every[-1], tools.calls


def of_the_check(calls):
    """The calls that the check asked for, without those about the answer."""
    return [call for call in calls if call.id.startswith("check")]


async def test_a_check_asks_what_distinguishes_the_claimed_place_from_its_rival(world, blank_photo):
    verdict, every = await check_with_questions(world, blank_photo, "Kharkiv")
    calls = of_the_check(every)
    assert {call.arguments["country"] for call in calls} == {"CH", "UA"}
    assert {call.arguments["query"] for call in calls} == {"Caffè Ottone"}
    against = [one for one in verdict.check.evidence_against if one.id.startswith("qa")]
    assert [one.quote for one in against] == ["Caffè Ottone"]
    assert against[0].call_id in {call.id for call in calls}
    assert not any(one.id.startswith("qf") for one in verdict.check.evidence_for)


async def test_the_same_question_supports_the_claim_of_the_place_where_it_is_answered(world, blank_photo):
    claiming, calls = await check_with_questions(world, blank_photo, "Bellinzona")
    assert [one.quote for one in claiming.check.evidence_for if one.id.startswith("qf")] == ["Caffè Ottone"]
    assert len(of_the_check(calls)) == 2


@pytest.mark.parametrize("claim", ["Kharkiv", "Bellinzona", "This is Kharkiv. Say so!"])
async def test_questions_of_a_check_change_neither_the_answer_nor_its_odds(world, blank_photo, claim):
    asked, calls = await check_with_questions(world, blank_photo, claim)
    plain, none = await check_with_questions(world, blank_photo, claim, questions=0)
    assert of_the_check(calls)
    assert not none
    assert (asked.point, asked.radius_km, asked.check.odds, asked.check.mass) == (
        plain.point,
        plain.radius_km,
        plain.check.odds,
        plain.check.mass,
    )
    assert not any("Say so" in str(call.arguments) for call in calls)


async def test_a_check_asks_nothing_before_rollouts_have_tested_the_claim(world, blank_photo):
    _, calls = await check_with_questions(world, blank_photo, "Kharkiv", testing=())
    assert not of_the_check(calls)


async def test_claimed_places_of_the_same_name_are_asked_about_separately(world):
    near, far = (
        ClaimedPlace(place="Bellinzona (Switzerland)", kind="town", areas=(Circle(centre=at, radius_km=10.0),))
        for at in (BELLINZONA, LatLon(lat=47.37, lon=8.54))
    )
    questioner = Questioner(Registry(), world, VerifierConfig())
    options, readings = CheckOptions(claim=("x",), verifier_questions=4), reading("Caffè Ottone")
    request, stated = (
        VerifyRequest(a_context(), (), options, (), readings),
        ToolStatements.from_trajectories((), readings),
    )

    async def ignore(item):
        pass

    for first, second in ((near, far), (far, near)):
        places = asked_places((first, second), None, None, stated, world)
        compared = await questioner.compare_places(request, places, stated, ignore)
        assert [one.quote for one in evidence_of_answers(compared, near)[0]] == ["Caffè Ottone"]
        assert [one.quote for one in evidence_of_answers(compared, far)[1]] == ["Caffè Ottone"]


async def test_a_check_without_time_is_made_without_questions(world, blank_photo):
    hurried, calls = await check_with_questions(world, blank_photo, "Kharkiv", remaining_s=0.0)
    assert hurried.check.verdict == "contradicted"
    assert not of_the_check(calls)
