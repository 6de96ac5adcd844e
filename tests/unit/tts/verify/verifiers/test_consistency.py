"""The consistency agent sees reasoning without conclusions, and moves confidence, never the answer."""

import json

import pytest
from support.basics import a_context, virtual_time

from tts.config import ConsistencyConfig, ScriptedEngine
from tts.domain.answer import Candidate, Radius, StopReason, Verdict
from tts.domain.geo import LatLon
from tts.domain.hypothesis import Hypothesis, Level
from tts.domain.request import LocateOptions
from tts.domain.trajectory import Trajectory, Turn
from tts.domain.usage import Usage
from tts.inference.scripted.engine import ScriptedModel, ScriptedTurn
from tts.ports.verification import VerifyRequest
from tts.verify.evidence.world import World
from tts.verify.verifiers.consistency import ConsistencyAgent, ConsistencyVerifier, hidden_reasoning

SAID = (
    "Kanji on every sign, a canal between brick warehouses, snow poles along the road: this is Otaru on Hokkaido, in "
    'Japan. {"lat": 43.19, "lon": 140.99}' + " And more words." * 40
)
OTARU = Hypothesis(
    point=LatLon(lat=43.19, lon=140.99), level=Level.CITY, country="Japan", region="Hokkaido", city="Otaru"
)  # fmt: skip
AGREES = {"country": "Japan", "region": "Hokkaido Prefecture", "place": "Otaru City"}


def a_trajectory(text=SAID, answer=OTARU):
    return Trajectory(rollout_id=0, turns=(Turn(index=0, text=text),), stop_reason=StopReason.ANSWERED, answer=answer)


def reader(*texts, seconds=0.0):
    script = [ScriptedTurn(text=text, first_token_s=seconds) for text in texts]
    return ScriptedModel(ScriptedEngine(), tuple(script))


@pytest.fixture
def world(gazetteer, countries):
    return World(gazetteer, countries)


async def rate_trajectory(world, derived, trajectory=None, **config):
    agent = ConsistencyAgent(reader(json.dumps(derived)), world, ConsistencyConfig(**config))
    return await agent.rate(trajectory or a_trajectory(), a_context())


def test_conclusions_are_hidden_from_the_second_reader():
    text = hidden_reasoning(a_trajectory())
    assert "brick warehouses" in text
    assert not any(name in text for name in ("Otaru", "Hokkaido", "Japan", "43.19"))


def test_only_clues_and_reasoning_of_the_levels_of_geoagent_are_read():
    level = {"Clues": ["kanji"], "Reasoning": "A script of the east.", "Conclusion": "Nippon", "Uncertainty": "Low"}
    text = json.dumps({"ChainOfThought": {"CountryIdentification": level}, "FinalAnswer": "Nippon; ; "})
    assert hidden_reasoning(a_trajectory(text)) == "kanji\nA script of the east."


@virtual_time
async def _agreement_is_weighted(world):
    full = await rate_trajectory(world, AGREES)
    assert (full.agreement.country, full.agreement.region, full.agreement.place) == (1.0, 1.0, 1.0)
    assert full.score == pytest.approx(1.0, abs=0.02)
    country = await rate_trajectory(world, {**AGREES, "region": "Kyushu", "place": "Fukuoka"})
    assert country.score == pytest.approx(0.1 * full.score)
    region = await rate_trajectory(world, {**AGREES, "place": "Sapporo"})
    assert region.score == pytest.approx(0.7 * full.score)


def test_agreement_is_weighted_by_level(world):
    _agreement_is_weighted(world)


@virtual_time
async def _short_reasoning(world):
    short = await rate_trajectory(world, AGREES, a_trajectory("Snow. A canal."))
    assert short.score < 0.1
    assert (
        await rate_trajectory(world, AGREES, a_trajectory("Snow. A canal."), steepness=1.0, mu_words=0.0)
    ).score > 0.9
    assert await rate_trajectory(world, AGREES, a_trajectory(answer=None)) is None
    assert await rate_trajectory(world, {"lat": 1}) is None


def test_short_reasoning_counts_less_and_nothing_to_compare_is_no_rating(world):
    _short_reasoning(world)


class Decided:
    """A verifier that has made up its mind."""

    verdict = Verdict(
        lat=43.19, lon=140.99, radius_km=Radius(p50=5, p90=50), level=Level.CITY, abstained=False, confidence=0.8,
        target_radius_km=25,
        candidates=(Candidate(lat=43.19, lon=140.99, radius_km=Radius(p50=5, p90=50), support=1.0, rollouts=(0,)),),
    )  # fmt: skip

    async def verify(self, request):
        yield self.verdict


async def verdict_of(world, model, remaining_s=30.0, **config):
    settings = ConsistencyConfig(**config)
    verifier = ConsistencyVerifier(Decided(), ConsistencyAgent(model, world, settings), settings)
    request = VerifyRequest(
        context=a_context(remaining_s), photos=(), options=LocateOptions(), trajectories=(a_trajectory(),)
    )  # fmt: skip
    return [piece async for piece in verifier.verify(request) if not isinstance(piece, Usage)]


@virtual_time
async def _confidence(world):
    reason, kept = await verdict_of(world, reader(json.dumps(AGREES)))
    assert kept.confidence == pytest.approx(0.8, abs=0.01)
    assert reason.text.endswith("agrees.")
    other = {"country": "Peru", "region": "Cusco", "place": "Cusco"}
    _, lowered = await verdict_of(world, reader(json.dumps(other)), weight=0.5)
    assert lowered.confidence == pytest.approx(0.4)
    assert (lowered.lat, lowered.lon) == (43.19, 140.99)
    (late,) = await verdict_of(world, reader(json.dumps(AGREES), seconds=100.0), remaining_s=10.0)
    assert late.confidence == 0.8
    assert late.warnings == ("the consistency check did not finish",)
    (mute,) = await verdict_of(world, reader("I cannot say."))
    assert mute == Decided.verdict


def test_confidence_follows_the_agreement_and_a_failed_reader_changes_nothing(world):
    _confidence(world)
