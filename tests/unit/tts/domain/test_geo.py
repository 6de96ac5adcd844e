import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tts.domain.geo import (
    HALF_CIRCUMFERENCE_KM,
    BBox,
    Circle,
    LatLon,
    circle_ring,
    destination,
    distance_km,
    distance_matrix_km,
    distance_rows_km,
    from_unit_vector,
    lies_in,
    unit_vectors,
)

points = st.builds(LatLon, lat=st.floats(-90, 90), lon=st.floats(-180, 180))


def test_distances_agree_with_known_geodesics():
    """Karney's published test pair and a quarter meridian."""
    wellington, salamanca = LatLon(lat=-41.32, lon=174.81), LatLon(lat=40.96, lon=-5.50)
    assert distance_km(wellington, salamanca) == pytest.approx(19959.679, abs=0.001)
    assert distance_km(LatLon(lat=0, lon=0), LatLon(lat=90, lon=0)) == pytest.approx(10001.966, abs=0.001)


@given(points, points)
def test_distance_is_a_symmetric_bounded_measure(a, b):
    assert distance_km(a, b) == pytest.approx(distance_km(b, a), abs=1e-6)
    assert 0 <= distance_km(a, b) <= HALF_CIRCUMFERENCE_KM


@given(st.floats(-540, 540), st.floats(-90, 90))
def test_longitudes_are_normalised(lon, lat):
    point = LatLon(lat=lat, lon=lon)
    assert -180 <= point.lon < 180
    assert math.isclose(math.cos(math.radians(point.lon)), math.cos(math.radians(lon)), abs_tol=1e-9)


@pytest.mark.parametrize("lat", [90.001, -91, math.nan, math.inf])
def test_impossible_latitudes_are_refused(lat):
    with pytest.raises(ValidationError):
        LatLon(lat=lat, lon=0)


@given(points, st.floats(0, 360), st.floats(0.001, 15000))
def test_destination_lies_at_its_distance(start, bearing, km):
    assert distance_km(start, destination(start, bearing_deg=bearing, distance_km=km)) == pytest.approx(km, rel=1e-6)


@given(points.filter(lambda p: abs(p.lat) < 89.9))
def test_unit_vectors_round_trip(point):
    back = from_unit_vector(unit_vectors(np.array([point.lat]), np.array([point.lon]))[0])
    assert distance_km(point, back) < 1e-3


def test_matrix_matches_single_distances():
    three = [LatLon(lat=48.9, lon=2.3), LatLon(lat=35.7, lon=139.7), LatLon(lat=-33.9, lon=18.4)]
    matrix = distance_matrix_km(three)
    assert np.allclose(matrix, matrix.T)
    assert matrix[0, 1] == pytest.approx(distance_km(three[0], three[1]))
    assert distance_matrix_km(three[:1]).shape == (1, 1)


@pytest.mark.parametrize("n", [0, 1, 2, 6, 7, 12])
def test_distance_rows_equal_the_distance_matrix(n):
    points = [LatLon(lat=80 - 11.7 * i, lon=-170 + 29.3 * i) for i in range(n)]
    assert np.array(distance_rows_km(points)).tolist() == distance_matrix_km(points).tolist() or n == 0
    assert len(distance_rows_km(points)) == n


def test_circle_ring_is_closed_counter_clockwise_and_round():
    centre = LatLon(lat=51.5, lon=-0.1)
    ring = circle_ring(centre, 100.0)
    assert ring[0] == ring[-1]
    assert all(distance_km(centre, vertex) == pytest.approx(100, rel=1e-6) for vertex in ring)
    area = sum(a.lon * b.lat - b.lon * a.lat for a, b in itertools.pairwise(ring))
    assert area > 0


def test_an_area_contains_points_across_the_antimeridian_and_within_its_radius():
    fiji = BBox(south=-21, west=176, north=-12, east=-178)
    assert lies_in(LatLon(lat=-17, lon=179.9), fiji)
    assert lies_in(LatLon(lat=-17, lon=-179.9), fiji)
    assert not lies_in(LatLon(lat=-17, lon=0), fiji)
    assert lies_in(LatLon(lat=1, lon=0), Circle(centre=LatLon(lat=0, lon=0), radius_km=120))
    assert not lies_in(LatLon(lat=1, lon=0), Circle(centre=LatLon(lat=0, lon=0), radius_km=100))
    with pytest.raises(ValidationError, match="south"):
        BBox(south=1, west=0, north=0, east=1)
