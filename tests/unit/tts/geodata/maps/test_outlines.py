"""Outlines of countries and divisions: the right places lie inside, and every geometry is valid GeoJSON."""

import json
import math

import pytest
import shapely
from shapely.geometry import Point, shape

from tts.geodata.maps.outlines import BORDERS, NEAREST_TOWNS, Outlines

MOST_BYTES = 60_000
KM_A_DEGREE = 111.32
EUROPE = ["CH", "IT", "FR", "DE", "ES", "PL", "RO"]  # of which little is water


@pytest.fixture(scope="module")
def outlines(cartographer, countries):
    return Outlines(cartographer.shapes, cartographer.gazetteer, countries)


def checked_shape(outline):
    """The geometry, after a check that it is what RFC 7946 asks for."""
    assert outline is not None
    geometry = json.loads(json.dumps(outline.geometry))
    area = shape(geometry)
    assert geometry["type"] == "MultiPolygon"
    assert area.is_valid
    west, south, east, north = area.bounds
    assert west >= -180
    assert east <= 180
    assert south >= -90
    assert north <= 90
    for outer, *holes in geometry["coordinates"]:
        assert shapely.is_ccw(shapely.LinearRing(outer))
        assert not any(shapely.is_ccw(shapely.LinearRing(hole)) for hole in holes)
    assert area.covers(Point(outline.middle.lon, outline.middle.lat))
    assert len(json.dumps(geometry)) < MOST_BYTES
    return area


@pytest.mark.parametrize(
    ("code", "inside", "outside"),
    [
        ("CH", (46.95, 7.44), (45.46, 9.19)),
        ("FR", (47.0, 2.3), (41.39, 2.17)),
        ("US", (39.7, -105.0), (51.05, -114.07)),
        ("RU", (55.75, 37.62), (50.45, 30.52)),
        ("RU", (66.3, -172.0), (64.5, -165.4)),  # beyond the antimeridian
        ("FJ", (-17.8, 178.0), (-21.14, -175.2)),
        ("NO", (59.91, 10.75), (59.33, 18.06)),
        ("JP", (43.06, 141.35), (37.57, 126.98)),
        ("AQ", (-80.0, 0.0), (-54.8, -68.3)),
    ],
)
def test_a_country_holds_its_towns_and_no_others(outlines, code, inside, outside):
    area = checked_shape(outlines.outline_of([code]))
    assert area.covers(Point(inside[1], inside[0]))
    assert not area.covers(Point(outside[1], outside[0]))
    assert outlines.outline_of([code]).source == BORDERS


def test_a_country_that_surrounds_another_has_a_hole(outlines):
    maseru = Point(27.8, -29.6)
    assert not checked_shape(outlines.outline_of(["ZA"])).covers(maseru)
    assert checked_shape(outlines.outline_of(["LS"])).covers(maseru)


def test_the_area_of_an_outline_is_that_of_the_country(outlines, countries):
    for code in EUROPE:
        km2 = sum(
            part.area * KM_A_DEGREE**2 * math.cos(math.radians(part.centroid.y))
            for part in checked_shape(outlines.outline_of([code])).geoms
        )
        assert km2 == pytest.approx(countries.get(code).area_km2, rel=0.1), code


def test_several_countries_are_one_outline(outlines):
    both = checked_shape(outlines.outline_of(["CH", "IT"]))
    assert both.covers(Point(7.44, 46.95))
    assert both.covers(Point(12.5, 41.9))


def test_a_region_holds_what_lies_nearest_to_its_towns(outlines):
    ticino = checked_shape(outlines.outline_of(["CH"], "Ticino"))
    assert ticino.covers(Point(9.02, 46.19))  # Bellinzona
    assert not ticino.covers(Point(8.54, 47.37))  # Zürich
    assert not ticino.covers(Point(9.19, 45.46))  # Milan
    assert outlines.outline_of(["CH"], "Ticino").source == NEAREST_TOWNS
    alaska = checked_shape(outlines.outline_of(["US"], "Alaska"))
    assert alaska.covers(Point(-149.9, 61.2))
    assert not alaska.covers(Point(-105.0, 39.7))


@pytest.mark.parametrize(("codes", "region"), [(["VA"], ""), (["CH"], "Atlantis"), (["XX"], ""), (["XX"], "Ticino")])
def test_a_country_or_region_missing_in_the_maps_has_no_outline(outlines, codes, region):
    assert outlines.outline_of(codes, region) is None
