"""What every verifier owes its caller."""

import random

import pytest
from support.basics import a_context

from tools.places import places_tools
from tools.providers.offline_places import OfflinePlaces
from tts.clues.clue_reader import ClueReader
from tts.config import VerifierConfig
from tts.domain.answer import StopReason, Verdict
from tts.domain.events import Event, Hypothesised, RolloutFinished, ToolResulted
from tts.domain.geo import LatLon, distance_km
from tts.domain.hypothesis import Claim, Hypothesis
from tts.domain.request import LocateOptions
from tts.domain.tooling import PlaceFact, ToolResult
from tts.domain.trajectory import fold
from tts.eval.synthetic.rollout_events import reading_of
from tts.ports.verification import VerifyRequest
from tts.toolkit.toolbox import LocalToolbox
from tts.verify.claims.claim_calibration import shipped_claim_calibration
from tts.verify.consensus.calibration import shipped_calibration
from tts.verify.evidence.world import World
from tts.verify.verifiers.claim import ClaimVerifier
from tts.verify.verifiers.consensus import ConsensusVerifier
from tts.verify.verifiers.tool_calling import InquiryVerifier, Questioner

COIMBRA = LatLon(lat=40.2056, lon=-8.4196)
PORTO = LatLon(lat=41.1496, lon=-8.611)
OSAKA = LatLon(lat=34.69, lon=135.50)


def trajectories(*points, grounded=True):
    events: list[Event] = []
    for i, point in enumerate(points):
        claims: tuple[Claim, ...] = ()
        if grounded and point is not None:
            place = PlaceFact(id="x", name="Vila X", point=point, source="test", url="https://example.org/x")
            result = ToolResult(
                call_id="c1",
                name="poi_keyword_search",
                text="Vila X",
                facts=(place,),
                retrieved_at="2026-01-01T00:00:00Z",
            )
            events.append(ToolResulted(rollout_id=i, turn=0, result=result))
            claims = (Claim(text="a sign names X", call_id="c1", quote="Vila X"),)
        belief = Hypothesis(point=point, claims=claims)
        events += [
            Hypothesised(rollout_id=i, turn=0, hypothesis=belief),
            RolloutFinished(rollout_id=i, stop_reason=StopReason.ANSWERED, answer=belief),
        ]
    return fold(events).trajectories


@pytest.fixture(params=["consensus", "asking", "checking"])
def verifier(request, gazetteer, countries, data_store):
    world = World(gazetteer, countries, ClueReader(gazetteer, data_store.lexicon(), countries))
    consensus = ConsensusVerifier(world, shipped_calibration("default"))
    places = OfflinePlaces(gazetteer, countries)
    questioner = Questioner(LocalToolbox(places_tools(places, places)), world, VerifierConfig(questions=4))
    asking = InquiryVerifier(consensus, questioner)
    checking = ClaimVerifier(
        asking, world, shipped_calibration("default"), shipped_claim_calibration("clues"), questioner
    )
    return {"consensus": consensus, "asking": asking, "checking": checking}[request.param]


@pytest.fixture
def reading():
    """A line of the photo that a gazetteer knows."""
    return reading_of(["Coimbra", "Namba"])


@pytest.fixture
def judge(verifier, blank_photo):
    async def run(runs, *, readings=(), **options):
        request = VerifyRequest(a_context(), (blank_photo,), LocateOptions(**options), tuple(runs), readings)
        pieces = [piece async for piece in verifier.verify(request)]
        assert [type(piece) for piece in pieces].count(Verdict) == 1
        assert isinstance(pieces[-1], Verdict)
        return pieces[-1]

    return run


async def test_a_single_rollout_is_enough_for_a_verdict(judge):
    verdict = await judge(trajectories(COIMBRA))
    assert distance_km(LatLon(lat=verdict.lat, lon=verdict.lon), COIMBRA) < 1
    assert (verdict.country_code, verdict.city) == ("PT", "Coimbra")
    assert verdict.radius_km.p50 <= verdict.radius_km.p90


async def test_agreement_wins_and_is_never_averaged_across_continents(judge):
    verdict = await judge(trajectories(COIMBRA, OSAKA, COIMBRA))
    assert verdict.country_code == "PT"
    tie = await judge(trajectories(COIMBRA, OSAKA))
    assert tie.country_code in ("PT", "JP")


async def test_the_order_of_rollouts_does_not_change_the_verdict(judge):
    rng = random.Random(3)
    runs = list(trajectories(COIMBRA, PORTO, OSAKA, PORTO, COIMBRA))
    first = await judge(runs)
    for _ in range(5):
        rng.shuffle(runs)
        again = await judge(runs)
        assert (again.lat, again.lon, again.confidence) == (first.lat, first.lon, first.confidence)


async def test_the_order_of_rollouts_with_read_lines_does_not_change_the_verdict(judge, reading):
    runs = trajectories(COIMBRA, OSAKA, PORTO)
    first, again = await judge(runs, readings=reading), await judge(runs[::-1], readings=reading)
    assert (first.lat, first.lon, first.confidence) == (again.lat, again.lon, again.confidence)
    assert first.country_code == "PT"


async def test_a_verdict_without_a_supported_place_is_an_abstention(judge):
    for runs in ((), trajectories(None, None)):
        verdict = await judge(runs)
        assert verdict.abstained
        assert verdict.lat is None
        assert verdict.explanation


async def test_evidence_of_a_verdict_names_its_rollout_call_quote_and_page(judge):
    verdict = await judge(trajectories(COIMBRA))
    cited = next(evidence for evidence in verdict.evidence if evidence.claim == "a sign names X")
    assert cited.grounded
    assert (cited.rollout_id, cited.call_id, cited.tool) == (0, "c1", "poi_keyword_search")
    assert (cited.quote, cited.url, cited.retrieved_at) == ("Vila X", "https://example.org/x", "2026-01-01T00:00:00Z")


async def test_a_grounded_answer_beats_an_unsupported_one(judge):
    supported, bare = trajectories(COIMBRA)[0], trajectories(None, OSAKA, grounded=False)[1]
    assert (await judge((supported, bare))).country_code == "PT"
