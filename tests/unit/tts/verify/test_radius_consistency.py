"""Level, names, both radii and confidence never disagree: over random ledgers, random outlooks and recorded runs."""

import json
from itertools import product

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from support.basics import a_context
from support.rollouts import answered_rollout, place
from support.verdict_contradictions import contradictions_of

from deployments.cli import cli
from tts.domain.answer import Radius, Verdict
from tts.domain.geo import HALF_CIRCUMFERENCE_KM, LatLon
from tts.domain.hypothesis import Level
from tts.domain.request import LocateOptions
from tts.eval.panel import panels_from_logs
from tts.package_files import SAMPLES
from tts.ports.verification import VerifyRequest
from tts.verify.assembly.radius_consistency import doubted, exactness_of, rough_exactness
from tts.verify.consensus.calibration import LEVELS, ErrorDistribution, shipped
from tts.verify.evidence.world import World
from tts.verify.verifiers.consensus import ConsensusVerifier
from tts.verify.verifiers.fallback import fallback_verdict

POINTS = st.builds(LatLon, lat=st.floats(-60, 70), lon=st.floats(-179, 179))
TARGETS = st.floats(0.001, 20000)
ROLLOUTS = st.tuples(
    POINTS,
    st.sampled_from(Level),
    st.booleans(),
    st.sampled_from(["", "Osaka", "Coimbra", "Atlantis"]),
    st.none() | st.floats(0.01, 20000),
    st.none() | st.floats(0, 1),
)
KM = st.floats(0.001, 30000)


@pytest.fixture(scope="module")
def world(gazetteer, countries):
    return World(gazetteer, countries)


@pytest.mark.parametrize("calibration", ["clues", "default"])
@settings(max_examples=60)
@given(rollouts=st.lists(ROLLOUTS, min_size=1, max_size=6), target=TARGETS)
def test_verdicts_on_random_rollouts(world, calibration, rollouts, target):
    runs = [_run(i, *rollout) for i, rollout in enumerate(rollouts)]
    request = VerifyRequest(a_context(), (), LocateOptions(target_radius_km=target), tuple(runs))
    assert contradictions_of(ConsensusVerifier(world, shipped(calibration)).decide(request)) == []
    assert contradictions_of(fallback_verdict(request, "the verifier failed")) == []


@given(
    quantiles=st.lists(KM, min_size=len(LEVELS), max_size=len(LEVELS)), p90=KM, target=TARGETS, share=st.floats(0, 1)
)
def test_any_outlook_is_made_to_agree(quantiles, p90, target, share):
    ordered = sorted(quantiles)
    row = [km + i * 1e-6 for i, km in enumerate(ordered)]
    error_distribution = ErrorDistribution(Radius(p50=row[LEVELS.index(0.5)], p90=p90), row)
    for stated, town_found in product((None, *Level), (False, True)):
        found = exactness_of(error_distribution, target_km=target, stated=stated, town_found=town_found)
        verdict = _verdict(found, target)
        assert contradictions_of(verdict) == []
        assert found.radius.p90 <= HALF_CIRCUMFERENCE_KM
        less = doubted(verdict, share * verdict.confidence)
        assert contradictions_of(less) == []
        assert less.confidence <= verdict.confidence


@given(
    quantiles=st.lists(KM, min_size=len(LEVELS), max_size=len(LEVELS)), p90=KM, targets=st.lists(TARGETS, min_size=2)
)
def test_confidence_and_radii_are_of_one_distribution(quantiles, p90, targets):
    row = [km + i * 1e-6 for i, km in enumerate(sorted(quantiles))]
    error_distribution = ErrorDistribution(Radius(p50=row[LEVELS.index(0.5)], p90=p90), row)
    for stated, town_found in product((None, *Level), (False, True)):
        found = [
            exactness_of(error_distribution, target_km=km, stated=stated, town_found=town_found)
            for km in sorted([*targets, 25.0])
        ]
        (radius,) = {one.radius for one in found}
        assert radius.p50 < radius.p90
        assert [one.confidence for one in found] == sorted(one.confidence for one in found)
        for km, one in zip(sorted([*targets, 25.0]), found, strict=True):
            for share, reach in ((0.5, radius.p50), (0.9, radius.p90)):
                assert (one.confidence >= share) is (reach <= km)
                assert (round(100 * one.confidence) >= 100 * share) is (reach <= km)


def test_a_country_stated_where_the_engine_knows_better_keeps_one_distribution(data_store):
    """The radius was raised to that of a country, and 50 % within 25 km stood beside it."""
    sample = SAMPLES / "opening-hours-greek.jpg"
    done = CliRunner().invoke(cli, ["locate", str(sample), "--json", "-n", "3"], standalone_mode=False)
    answer = json.loads(done.stdout)["answer"]
    assert answer["level"] == "country"
    assert 200 < answer["radius_km"]["p50"] < 0.8 * answer["radius_km"]["p90"]
    assert 0 < answer["confidence"] < 0.3


@pytest.mark.parametrize(
    ("sample", "town"),
    [("town-sign-latin", "Bellinzona"), ("station-chinese", "Zaozhuang"), ("station-georgian", "Khoni")],
)
def test_a_sign_with_the_name_of_a_town_has_no_smaller_radius_than_a_town(data_store, sample, town):
    """It was 310 m, as of a spot. Nothing but a name was read, and the radii are fitted to centres of towns."""
    done = CliRunner().invoke(
        cli, ["locate", str(SAMPLES / f"{sample}.jpg"), "--json", "-n", "2"], standalone_mode=False
    )
    answer = json.loads(done.stdout)["answer"]
    assert (answer["level"], answer["city"], answer["town_centre"]) == ("city", town, True)
    assert 3 < answer["radius_km"]["p50"] < answer["radius_km"]["p90"] < 10


@pytest.mark.parametrize(
    ("stated", "level", "town_centre"),
    [
        ({"level": Level.POINT}, Level.POINT, False),
        ({"level": Level.CITY, "place": "Platform 2"}, Level.POINT, False),
        ({"level": Level.CITY}, Level.CITY, True),
        ({"level": Level.CITY, "place": "Osaka"}, Level.CITY, True),
    ],
)
def test_a_point_finer_than_a_town_does_not_stand_for_it(world, stated, level, town_centre):
    here = LatLon(lat=34.6937, lon=135.5023)
    runs = tuple(
        answered_rollout(
            i, here, facts=[place(here, name="Osaka")], city="Osaka", country="Japan", radius_km=1.0, **stated
        )
        for i in range(4)
    )
    verdict = ConsensusVerifier(world, shipped("clues")).decide(VerifyRequest(a_context(), (), LocateOptions(), runs))
    assert (verdict.level, verdict.city, verdict.town_centre) == (level, "Osaka", town_centre)


@given(p50=KM, p90=KM, targets=st.lists(TARGETS, min_size=2, max_size=6))
def test_a_wider_target_is_never_less_probable(p50, p90, targets):
    found = [rough_exactness(p50, p90, target_km=target).confidence for target in sorted(targets)]
    assert found == sorted(found)


def test_contradictions_are_seen():
    """The answer of a photo that said 4.8 km, 15,518 km, level country and 63 %; and others that never were."""
    agreeing = Verdict(
        lat=22.2, lon=84.9, radius_km=Radius(p50=4.8, p90=15518), level=Level.CITY, abstained=False, country="India",
        city="Rourkela", confidence=0.63, target_radius_km=25,
    )  # fmt: skip
    assert contradictions_of(agreeing) == []
    for wrong in (
        {"level": Level.COUNTRY, "city": ""},
        {"place": "Platform 2"},
        {"confidence": 0.4},
        {"confidence": 0.95},
        {"radius_km": Radius(p50=30, p90=20)},
        {"radius_km": Radius(p50=4.8, p90=90000)},
        {"radius_km": Radius(p50=4.8, p90=4.8)},
        {"confidence": 0.4999, "target_radius_km": 4.7},
    ):
        assert len(contradictions_of(agreeing.model_copy(update=wrong))) >= 1, wrong


@pytest.mark.parametrize("calibration", ["clues", "default"])
def test_a_rollout_that_only_knows_the_country_gets_the_radius_of_one(world, calibration):
    """The capital stands for the country; it is not the answer."""
    runs = tuple(
        answered_rollout(i, LatLon(lat=-15.79, lon=-47.88), level=Level.COUNTRY, country="Brazil") for i in range(4)
    )
    request = VerifyRequest(a_context(), (), LocateOptions(), runs)
    verdict = ConsensusVerifier(world, shipped(calibration)).decide(request)
    assert (verdict.level, verdict.city) == (Level.COUNTRY, "")
    assert verdict.radius_km.p50 > 200


def test_verdicts_on_recorded_runs(world, eval_logs):
    verifier = ConsensusVerifier(world, shipped("default"))
    panels = panels_from_logs(eval_logs)[1][::9]
    for number, panel in enumerate(panels):
        options = LocateOptions(target_radius_km=(1.0, 25.0, 200.0, 2500.0)[number % 4])
        verdict = verifier.decide(VerifyRequest(a_context(), (), options, panel.trajectories))
        assert contradictions_of(verdict) == [], panel.key
    assert len(panels) > 90


def _run(number, point, level, grounded, city, radius_km, confidence):
    facts = [place(point, name=city or "Somewhere")] if grounded else []
    return answered_rollout(
        number, point, facts=facts, level=level, city=city, radius_km=radius_km, confidence=confidence
    )


def _verdict(found, target):
    return Verdict(
        lat=0.0, lon=0.0, radius_km=found.radius, level=found.level, abstained=False, confidence=found.confidence,
        target_radius_km=target,
    )  # fmt: skip
