"""Regions of answers whose belief has several peaks: their shape for any belief, and how they are fitted."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from geojson_pydantic import MultiPolygon
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from shapely.geometry import Point, shape
from support.basics import a_context
from support.rollouts import COIMBRA, OSAKA, answered_rollout, place

from tts.clues.belief import Belief
from tts.domain.geo import EARTH_RADIUS_KM, Circle, LatLon, destination, distance_km
from tts.domain.geojson import circles_region
from tts.domain.request import LocateOptions
from tts.eval.metrics.regions import area_km2
from tts.ports.verification import VerifyRequest
from tts.verify.assembly.radius_consistency import lower_confidence
from tts.verify.consensus.answer_regions import RegionRule, regions_of
from tts.verify.consensus.calibration import Calibration, shipped_calibration
from tts.verify.consensus.peaks import Peak, peaks_of
from tts.verify.consensus.region_fitting import MIN_CASES, RegionCase, fit_regions
from tts.verify.evidence.world import World
from tts.verify.verifiers.consensus import ConsensusVerifier

HARD_PLACES = [(0, 180), (0, -180), (90, 0), (-90, 77), (89.99, -179.999), (-16.5, 179.99), (71.1, -179.9), (0, 0)]
points = st.builds(
    lambda lat, lon: LatLon(lat=lat, lon=lon), st.floats(-90, 90), st.floats(-180, 180)
) | st.sampled_from([LatLon(lat=lat, lon=lon) for lat, lon in HARD_PLACES])
peak_lists = st.lists(st.builds(Peak, points, st.floats(0.02, 1.0)), min_size=2, max_size=6)
rules = st.builds(
    lambda scale_90, part: RegionRule(origin="made", scale_50=part * scale_90, scale_90=scale_90, cases=40),
    st.floats(0.05, 1.0),
    st.floats(0.01, 0.97),
)


@given(peak_lists, st.floats(5.0, 20_000.0), rules)
@example(
    [Peak(LatLon(lat=0, lon=-180), 1.0), Peak(LatLon(lat=90, lon=0), 1.0), Peak(LatLon(lat=-90, lon=77), 1.0)],
    9227.0,
    RegionRule(origin="made", scale_50=0.5, scale_90=1.0, cases=40),
)
@settings(max_examples=60, deadline=None)
def test_regions_are_valid_nested_hold_the_answer_and_are_not_larger_than_the_circle(peaks, p90, rule):
    regions = regions_of(peaks, p90, rule)
    wide, narrow = regions.region_90.jsonable(), regions.region_50.jsonable()
    for geometry in (wide, narrow):
        MultiPolygon.model_validate(geometry)
        assert shape(geometry).is_valid
        for (ring,) in geometry["coordinates"]:  # no holes
            assert ring[0] == ring[-1]
            assert shape({"type": "Polygon", "coordinates": [ring]}).exterior.is_ccw
    answer = Point(peaks[0].point.lon, peaks[0].point.lat)
    outside = shape(narrow).difference(shape(wide))
    assert outside.area <= 1e-3 * shape(narrow).area
    assert shape(wide).distance(answer) < 1e-4
    if min(regions.discs_50[0].radius_km, 90.0 - abs(answer.y)) > 0.1:
        assert shape(narrow).distance(answer) < 1e-4
    circle = 2 * math.pi * EARTH_RADIUS_KM**2 * (1 - math.cos(min(math.pi, p90 / EARTH_RADIUS_KM)))
    if max(disc.radius_km for disc in regions.discs_90) < 9000.0:  # a wider one is drawn as the whole world
        assert area_km2(regions.region_90) <= 1.02 * circle


@given(peak_lists, st.floats(50.0, 3000.0), st.floats(0.3, 1.0), points)
@settings(max_examples=60, deadline=None)
def test_a_region_holds_what_its_discs_hold_also_over_the_antimeridian_and_the_poles(peaks, p90, scale, point):
    discs = regions_of(peaks, p90, RegionRule(origin="made", scale_50=0.1, scale_90=scale, cases=40)).discs_90
    away = [distance_km(disc.centre, point) / disc.radius_km for disc in discs]
    assume(all(abs(one - 1.0) > 0.03 for one in away))
    if min(away) < 1.0:
        assert shape(circles_region(discs).jsonable()).distance(Point(point.lon, point.lat)) < 1e-4


def test_a_large_gap_that_discs_surround_is_not_part_of_the_region():
    around_the_rest = [
        Circle(centre=LatLon(lat=lat, lon=lon), radius_km=5001.0) for lat, lon in [(0, -180), (90, 0), (-90, 77)]
    ]
    region = circles_region(around_the_rest)
    assert shape(region.jsonable()).is_valid
    assert area_km2(region) < 0.85 * 4 * math.pi * EARTH_RADIUS_KM**2
    assert not shape(region.jsonable()).covers(Point(0, 0))


def test_a_region_is_cut_at_the_antimeridian_and_reaches_a_pole_that_it_surrounds():
    east, pole = LatLon(lat=-16.5, lon=179.9), LatLon(lat=89.5, lon=10)
    region = circles_region([Circle(centre=east, radius_km=100), Circle(centre=pole, radius_km=200)])
    corners = [corner for polygon in region.coordinates for corner in polygon[0]]
    assert {lon for lon, lat in corners if abs(lon) == 180 and lat < 0} == {180.0, -180.0}
    assert max(lat for _, lat in corners) == 90.0
    assert len(region.coordinates) == 3


def test_a_small_gap_that_discs_surround_is_part_of_the_region():
    middle = LatLon(lat=10, lon=10)
    ring = [Circle(centre=destination(middle, bearing_deg=60 * k, distance_km=100), radius_km=95) for k in range(6)]
    (polygon,) = circles_region(ring).coordinates
    assert len(polygon) == 1
    assert shape(circles_region(ring).jsonable()).covers(Point(10, 10))


def a_cluster(point, support):
    return SimpleNamespace(centre=point, support=support)


def test_clusters_are_peaks_where_they_have_weight_and_lie_apart():
    near = destination(COIMBRA, bearing_deg=0, distance_km=30)
    clusters = [
        a_cluster(COIMBRA, 0.5),
        a_cluster(OSAKA, 0.3),
        a_cluster(near, 0.15),
        a_cluster(LatLon(lat=0, lon=0), 0.05),
    ]
    assert [peak.point for peak in peaks_of(clusters, None, 200.0)] == [COIMBRA, OSAKA]
    assert [peak.share for peak in peaks_of(clusters, None, 100.0)] == [0.5, 0.3, 0.15]


def belief_at(*towns):
    lat, lon, share = (np.array(column, dtype=float) for column in zip(*towns, strict=True))
    return Belief({}, (), lat, lon, share)


def test_the_belief_from_read_text_adds_peaks_that_no_rollout_answered():
    read = belief_at((COIMBRA.lat, COIMBRA.lon, 0.6), (OSAKA.lat, OSAKA.lon, 0.38), (0.0, 0.0, 0.02))
    first, second = peaks_of([a_cluster(COIMBRA, 1.0)], read, 300.0)
    assert (first.point, second.point) == (COIMBRA, LatLon(lat=OSAKA.lat, lon=OSAKA.lon))
    assert (round(first.share, 2), round(second.share, 2)) == (0.6, 0.38)


def test_a_belief_that_does_not_hold_the_answer_is_left_aside():
    read = belief_at((OSAKA.lat, OSAKA.lon, 1.0))
    assert [peak.point for peak in peaks_of([a_cluster(COIMBRA, 1.0)], read, 300.0)] == [COIMBRA]


@pytest.mark.parametrize("rule", [None, RegionRule(origin="made", scale_50=0.1, scale_90=0.5, cases=40)])
def test_a_belief_with_one_peak_or_without_a_rule_has_no_regions(rule):
    peaks = [Peak(COIMBRA, 0.6), Peak(OSAKA, 0.4)]
    assert (regions_of(peaks, 100.0, rule) is None) is (rule is None)
    assert regions_of(peaks[:1], 100.0, rule) is None


def made_up(count, seed):
    """Two places 1000 km apart; the true one is near the first in two of three cases; radii cover 90 %."""
    rng, cases = np.random.default_rng(seed), []
    for _ in range(count):
        first = LatLon(lat=float(rng.uniform(-60, 60)), lon=float(rng.uniform(-180, 180)))
        second = destination(first, bearing_deg=float(rng.uniform(0, 360)), distance_km=1000.0)
        home = first if rng.random() < 2 / 3 else second
        km = float(abs(rng.normal(0.0, 40.0)))
        truth = destination(home, bearing_deg=float(rng.uniform(0, 360)), distance_km=km)
        cases.append(RegionCase((Peak(first, 2 / 3), Peak(second, 1 / 3)), 1010.0, truth))
    return cases


def test_fitted_regions_cover_what_they_promise_on_cases_they_have_not_seen():
    rule = fit_regions(made_up(1000, 0), origin="made")
    held = made_up(2000, 1)
    covers = {}
    for name in ("discs_50", "discs_90"):
        discs = [getattr(regions_of(case.peaks, case.p90_km, rule), name) for case in held]
        inside = [
            any(distance_km(d.centre, case.truth) <= d.radius_km for d in one)
            for one, case in zip(discs, held, strict=True)
        ]
        covers[name] = 100.0 * np.mean(inside)
    assert covers == {"discs_50": pytest.approx(50, abs=4), "discs_90": pytest.approx(90.5, abs=3)}
    assert rule.scale_90**2 < 0.1


def test_too_few_cases_or_uninformative_peaks_give_no_region_rule():
    assert fit_regions(made_up(MIN_CASES - 1, 0), origin="made") is None
    nowhere = [RegionCase(case.peaks, 10.0, case.truth) for case in made_up(100, 0)]
    assert fit_regions(nowhere, origin="made") is None


def test_a_region_rule_survives_its_calibration_file(tmp_path):
    made = shipped_calibration("default")
    assert made.regions is not None
    made.write(tmp_path / "c.yaml")
    assert Calibration.model_validate(made.model_dump()).regions == made.regions


def test_a_verdict_of_two_camps_has_regions_until_its_radii_grow(gazetteer, countries):
    camps = [
        answered_rollout(i, at, facts=[place(at, name=name)], city=name)
        for i, (at, name) in enumerate([(COIMBRA, "Coimbra"), (COIMBRA, "Coimbra"), (OSAKA, "Osaka")])
    ]
    verifier = ConsensusVerifier(World(gazetteer, countries), shipped_calibration("default"))
    verdict = verifier.decide(VerifyRequest(a_context(), (), LocateOptions(), tuple(camps)))
    assert shape(verdict.region_90.jsonable()).covers(Point(OSAKA.lon, OSAKA.lat))
    assert shape(verdict.region_50.jsonable()).covers(Point(verdict.lon, verdict.lat))
    less = lower_confidence(verdict, verdict.confidence / 4)
    assert (less.region_50, less.region_90) == (None, None)
    assert math.isclose(less.lat, verdict.lat)
