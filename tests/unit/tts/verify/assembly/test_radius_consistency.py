"""Level, names, both radii and confidence never disagree: over random ledgers, random outlooks and recorded runs."""

import asyncio
import json
import re
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.basics import a_context
from support.rollouts import answered_rollout, place
from support.verdict_contradictions import contradictions_of, title_of

from tts.clues.clue_reader import ClueReader
from tts.config import VerifierConfig
from tts.domain.answer import Radius, Verdict
from tts.domain.claim import ClaimedPlace
from tts.domain.geo import HALF_CIRCUMFERENCE_KM, BBox, Circle, Countries, LatLon
from tts.domain.hypothesis import Level
from tts.domain.photo import Box
from tts.domain.reach import reach_of
from tts.domain.reading import Reading, TextLine
from tts.domain.request import LocateOptions
from tts.eval.panel import panels_from_logs
from tts.ports.model_client import Delta
from tts.ports.verification import VerifyRequest
from tts.verify.assembly.radius_consistency import exactness_of, lower_confidence, rough_exactness
from tts.verify.consensus.area_constraint import may_answer
from tts.verify.consensus.calibrated_radii import LEVELS, ErrorDistribution
from tts.verify.consensus.calibration import shipped_calibration
from tts.verify.evidence.world import World
from tts.verify.verifiers.consensus import ConsensusVerifier
from tts.verify.verifiers.fallback import fallback_verdict
from tts.verify.verifiers.model import ModelVerifier
from tts.verify.verifiers.walk import WalkVerifier

POINTS = st.builds(LatLon, lat=st.floats(-60, 70), lon=st.floats(-179, 179))
TARGETS = st.floats(0.001, 20000)


def rollouts_at(points):
    return st.tuples(
        points,
        st.sampled_from(Level),
        st.booleans(),
        st.sampled_from(["", "Osaka", "Coimbra", "Atlantis"]),
        st.none() | st.floats(0.01, 20000),
        st.none() | st.floats(0, 1),
    )


ROLLOUTS = rollouts_at(POINTS)
KM = st.floats(0.001, 30000)
SIGNS = ["Bellinzona", "Osaka", "Coimbra", "약국", "火车站", "محطة القطار", "Φαρμακείο", "Boulangerie", "Exit 12"]
PHOTOS = st.lists(st.lists(st.sampled_from(SIGNS), max_size=3, unique=True), min_size=1, max_size=3)
AREAS = st.one_of(
    st.none(),
    st.sampled_from(["CH", "JP", "PT", "KR", "UA"]).map(lambda code: Countries(codes=(code,))),
    st.builds(Circle, centre=POINTS, radius_km=st.floats(1, 5000)),
    st.just(BBox(south=36, west=6, north=47, east=19)),
)
CIRCLE = ClaimedPlace(place="a circle", kind="area", areas=(Circle(centre=LatLon(lat=46.2, lon=9), radius_km=400),))
AT_ITS_EDGE = st.builds(LatLon, lat=st.floats(49.79, 49.82), lon=st.just(9.0))
EXCLUDED = st.lists(
    st.sampled_from(
        [
            ClaimedPlace(place="Japan", kind="country", areas=(Countries(codes=("JP",)),)),
            ClaimedPlace(place="Portugal", kind="country", areas=(Countries(codes=("PT",)),)),
            CIRCLE,
        ]
    ),
    max_size=2,
    unique_by=lambda place: place.place,
)
HINTS = st.sampled_from([None, "Bellinzona", "near Osaka", "Kyiv", "not in Italy", "outside Coimbra", "a school trip"])


@pytest.fixture(scope="module")
def world(gazetteer, countries, data_store):
    return World(gazetteer, countries, ClueReader(gazetteer, data_store.lexicon(), countries))


@pytest.mark.parametrize("calibration", ["clues", "default"])
@settings(max_examples=30)
@given(
    rollouts=st.lists(ROLLOUTS, min_size=1, max_size=6),
    target=TARGETS,
    photos=PHOTOS,
    within=AREAS,
    hint=HINTS,
    within_km=st.none() | st.floats(0.1, 20000),
    excluded=EXCLUDED,
)
def test_verdicts_on_random_rollouts_do_not_contradict_themselves(
    world, sign_photo, calibration, rollouts, target, photos, within, hint, within_km, excluded
):
    """No verdict contradicts itself, and none has a point that the caller excludes."""
    request = _request(sign_photo, rollouts, target, photos, within, hint, within_km, excluded)
    for verdict in (_verdict_of(request, world, calibration), fallback_verdict(request, "the verifier failed")):
        assert contradictions_of(verdict) == []
        for one in (verdict, *verdict.per_photo):
            assert one.lat is None or may_answer(LatLon(lat=one.lat, lon=one.lon), request.options, world)


class PointingModel:
    """A verifier model that chooses a branch, or none, and names a point of its own."""

    name = "pointing"

    def __init__(self, point, choice, mode):
        self._point = point
        self._choice = choice
        self._mode = mode

    async def generate(self, request):
        yield Delta(text=self._reply(request.messages[1].text), finish_reason="stop")

    def _reply(self, prompt):
        named = {"lat": self._point.lat, "lon": self._point.lon}
        if self._mode == "trajectories":
            return json.dumps({**named, "city": "Osaka", "country": "Japan"})
        branches = [*re.findall(r"^Branch (\w+):", prompt, re.MULTILINE), "none"]
        cited = re.findall(r"\[(\w+\d)\]", prompt)[:1]
        choice = branches[self._choice % len(branches)]
        reply = {"reasons": [{"text": "the evidence fits", "evidence": cited}], "choice": choice}
        return json.dumps({**reply, **named} if self._mode == "synthesise" else reply)


@pytest.mark.parametrize("mode", ["select", "synthesise", "self_verify", "trajectories"])
@settings(max_examples=40)
@given(
    rollouts=st.lists(rollouts_at(POINTS), min_size=1, max_size=4)
    | st.lists(rollouts_at(AT_ITS_EDGE), min_size=1, max_size=2),
    target=TARGETS,
    lines=st.just([]) | st.lists(st.sampled_from(SIGNS), max_size=1),
    within=st.none() | AREAS,
    hint=HINTS,
    excluded=st.just([CIRCLE]) | EXCLUDED,
    other=POINTS | AT_ITS_EDGE,
    choice=st.integers(0, 4),
    own=st.booleans(),
)
def test_verdicts_of_a_verifier_model_keep_to_what_the_caller_said(
    world, sign_photo, mode, rollouts, target, lines, within, hint, excluded, other, choice, own
):
    """Whatever branch the model chooses and whatever point it names: that of a rollout, or any other."""
    request = _request(sign_photo, rollouts, target, [lines], within, hint, None, excluded)
    point = other if own else rollouts[choice % len(rollouts)][0]
    config = VerifierConfig(kind="model", mode=mode)
    model = PointingModel(point, choice, mode)
    verifier = ModelVerifier(model, ConsensusVerifier(world, shipped_calibration("default")), config)

    async def verify():
        return [item async for item in verifier.verify(request)][-1]

    verdict = asyncio.run(verify())
    assert contradictions_of(verdict) == []
    for one in (verdict, *verdict.per_photo):
        assert one.lat is None or may_answer(LatLon(lat=one.lat, lon=one.lon), request.options, world)


BELLINZONA = (LatLon(lat=46.19, lon=9.02), Level.CITY, True, "", None, None)
ITALY = BBox(south=36, west=6, north=47, east=19)


@pytest.mark.parametrize(
    ("photos", "asked", "title"),
    [
        ([["약국"]], {"within": ITALY}, "It is not known where this is"),
        ([["Bellinzona"]], {"within": Countries(codes=("UA",))}, "The photo does not fit the area you gave"),
        ([["Bellinzona"], ["火车站"]], {}, "These photos do not fit one place"),
        ([["Bellinzona"], ["火车站"]], {"within_km": 20.0}, "These photos do not fit one place"),
        ([["Bellinzona"], ["Exit 12"]], {"within_km": 20.0}, "Bellinzona, Ticino, Switzerland"),
        ([["Bellinzona"]], {"hint": "Kyiv"}, "Bellinzona, Ticino, Switzerland"),
    ],
)
def test_the_drawn_requests_reach_every_kind_of_verdict(world, sign_photo, photos, asked, title):
    """Else the property above says nothing of areas, hints, and photos of several places."""
    asked = {"within": None, "hint": None, "within_km": None, **asked}
    known = [BELLINZONA] if photos[0] == ["Bellinzona"] and title.startswith("Bellinzona") else []
    verdict = _verdict_of(_request(sign_photo, known, 25.0, photos, **asked), world, "clues")
    assert title_of(verdict) == title
    assert contradictions_of(verdict) == []
    assert bool(verdict.per_photo) is (len(photos) > 1)
    assert (verdict.hint is not None) is (asked["hint"] is not None)


@given(
    quantiles=st.lists(KM, min_size=len(LEVELS), max_size=len(LEVELS)), p90=KM, target=TARGETS, share=st.floats(0, 1)
)
def test_level_radii_and_confidence_agree_for_any_distribution_of_errors(quantiles, p90, target, share):
    ordered = sorted(quantiles)
    row = [km + i * 1e-6 for i, km in enumerate(ordered)]
    error_distribution = ErrorDistribution(Radius(p50=row[LEVELS.index(0.5)], p90=p90), row)
    for stated, town_found in product((None, *Level), (False, True)):
        found = exactness_of(error_distribution, target_km=target, stated=stated, town_found=town_found)
        verdict = _verdict(found, target)
        assert contradictions_of(verdict) == []
        assert found.radius.p90 <= HALF_CIRCUMFERENCE_KM
        less = lower_confidence(verdict, share * verdict.confidence)
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


@pytest.mark.parametrize(
    ("stated", "level", "town_centre"),
    [
        ({"level": Level.POINT}, Level.POINT, False),
        ({"level": Level.CITY, "place": "Platform 2"}, Level.POINT, False),
        ({"level": Level.CITY}, Level.CITY, True),
        ({"level": Level.CITY, "place": "Osaka"}, Level.CITY, True),
    ],
)
def test_only_an_answer_of_level_city_counts_as_the_centre_of_a_town(world, stated, level, town_centre):
    here = LatLon(lat=34.6937, lon=135.5023)
    runs = tuple(
        answered_rollout(
            i, here, facts=[place(here, name="Osaka")], city="Osaka", country="Japan", radius_km=1.0, **stated
        )
        for i in range(4)
    )
    verdict = ConsensusVerifier(world, shipped_calibration("clues")).decide(
        VerifyRequest(a_context(), (), LocateOptions(), runs)
    )
    assert (verdict.level, verdict.city, verdict.town_centre) == (level, "Osaka", town_centre)


def test_a_town_centre_counts_as_one_where_the_other_rollouts_name_only_its_country(world):
    here = LatLon(lat=34.6937, lon=135.5023)
    stated = [{"level": Level.COUNTRY}, {"level": Level.CITY, "city": "Osaka"}]
    runs = tuple(
        answered_rollout(i, here, facts=[place(here, name="Osaka")], country="Japan", radius_km=1.0, **one)
        for i, one in enumerate(stated)
    )
    verdict = ConsensusVerifier(world, shipped_calibration("clues")).decide(
        VerifyRequest(a_context(), (), LocateOptions(), runs)
    )
    assert (verdict.level, verdict.city, verdict.town_centre) == (Level.CITY, "Osaka", True)


@given(p50=KM, p90=KM, targets=st.lists(TARGETS, min_size=2, max_size=6))
def test_a_wider_target_is_never_less_probable(p50, p90, targets):
    found = [rough_exactness(p50, p90, target_km=target).confidence for target in sorted(targets)]
    assert found == sorted(found)


def test_contradictions_of_a_verdict_are_detected():
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
    verdict = ConsensusVerifier(world, shipped_calibration(calibration)).decide(request)
    assert (verdict.level, verdict.city) == (Level.COUNTRY, "")
    assert verdict.radius_km.p50 > 200


def test_verdicts_on_recorded_runs_do_not_contradict_themselves(world, eval_logs):
    verifier = ConsensusVerifier(world, shipped_calibration("default"))
    panels = panels_from_logs(eval_logs)[1][::9]
    for number, panel in enumerate(panels):
        options = LocateOptions(target_radius_km=(1.0, 25.0, 200.0, 2500.0)[number % 4])
        verdict = verifier.decide(VerifyRequest(a_context(), (), options, panel.trajectories))
        assert contradictions_of(verdict) == [], panel.key
    assert len(panels) > 90


def _request(photo, rollouts, target, photos, within, hint, within_km, excluded=()):
    """`photos` are the lines of each; `within_km` is for several photos only."""
    walk = {"within_km": within_km} if len(photos) > 1 else {}
    options = LocateOptions(target_radius_km=target, within=within, hint=hint, not_there=tuple(excluded), **walk)
    runs = tuple(_run(i, *rollout) for i, rollout in enumerate(rollouts))
    readings = tuple(_reading(lines).of_photo(i) for i, lines in enumerate(photos))
    return VerifyRequest(a_context(), (photo,) * len(photos), options, runs, readings)


def _reading(lines):
    def line(text, row):
        return TextLine(text=text, box=Box(x0=0.1, y0=0.1 * row, x1=0.6, y1=0.1 * row + 0.08), confidence=0.95)

    return Reading(photo_sha256="0" * 64, lines=tuple(line(text, row) for row, text in enumerate(lines, 1)))


def _verdict_of(request, world, calibration):
    """As the service is wired: photos of a walk get an answer each."""
    consensus = ConsensusVerifier(world, shipped_calibration(calibration))
    verdict, reach = consensus.decide(request), reach_of(request.options, len(request.photos))
    if reach is None:
        return verdict
    return WalkVerifier(consensus, world, shipped_calibration(calibration)).apply(request, reach, verdict)


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
