import pytest
from hypothesis import given
from hypothesis import strategies as st

from tts.domain.geo import LatLon, distance_km
from tts.geodata.datum import as_wgs84, in_mainland_china, to_gcj02, to_wgs84


@pytest.mark.parametrize(
    ("wgs", "gcj"),
    [
        ((31.1774276, 121.5272106), (31.17530398364597, 121.531541859215)),  # Shanghai
        ((22.543847, 113.912316), (22.540796131694766, 113.9171764808363)),  # Shenzhen
        ((39.911954, 116.377817), (39.91334545536069, 116.38404722455657)),  # Beijing
    ],
)
def test_published_pairs_of_both_datums_are_converted_in_both_directions(wgs, gcj):
    true, shifted = LatLon(lat=wgs[0], lon=wgs[1]), LatLon(lat=gcj[0], lon=gcj[1])
    assert distance_km(to_gcj02(true), shifted) < 1e-6
    assert distance_km(to_wgs84(shifted), true) < 1e-6
    assert 0.1 < distance_km(true, shifted) < 0.8


@pytest.mark.parametrize(
    ("name", "lat", "lon"),
    [
        ("Hong Kong", 22.302, 114.177), ("Macau", 22.19, 113.54), ("Taipei", 25.04, 121.51), ("Seoul", 37.57, 126.98),
        ("Hanoi", 21.03, 105.85), ("Paris", 48.86, 2.35), ("Ulaanbaatar", 47.92, 106.9),
    ],
)  # fmt: skip
def test_points_outside_of_mainland_china_are_not_converted(name, lat, lon):
    point = LatLon(lat=lat, lon=lon)
    assert not in_mainland_china(point), name
    assert to_gcj02(point) == to_wgs84(point) == point


@given(st.floats(28.0, 35.0), st.floats(104.0, 118.0))
def test_the_inverse_is_exact_to_a_millimetre_inland(lat, lon):
    point = LatLon(lat=lat, lon=lon)
    assert distance_km(to_wgs84(to_gcj02(point)), point) < 1e-6
    assert distance_km(to_gcj02(to_wgs84(point)), point) < 1e-6


def test_only_a_stated_datum_is_converted():
    beijing = LatLon(lat=39.911954, lon=116.377817)
    assert as_wgs84(beijing, "WGS-84") == beijing
    assert as_wgs84(to_gcj02(beijing), "GCJ-02") != to_gcj02(beijing)
