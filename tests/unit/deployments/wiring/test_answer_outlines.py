"""Which outlines an answer has: those of what was claimed, and of the country or region where no more is known."""

import pytest
from shapely.geometry import Point, shape
from support.made_answers import an_answer

from deployments.wiring.answer_outlines import answer_outlines
from tts.domain.geo import LatLon
from tts.domain.hypothesis import Level
from tts.domain.outline import NO_OUTLINES

NICOSIA = LatLon(lat=35.17, lon=33.36)
BELLINZONA = LatLon(lat=46.19, lon=9.02)
ZURICH = LatLon(lat=47.37, lon=8.54)


def covers(outline, point):
    return shape(outline.geometry).covers(Point(point.lon, point.lat))


def test_an_answer_of_a_country_has_the_outline_of_the_country(data_store):
    answer = an_answer(level=Level.COUNTRY, country="Switzerland", country_code="CH", region="", city="")
    drawn = answer_outlines(answer, None)
    assert drawn.claimed == ()
    assert covers(drawn.known, BELLINZONA)
    assert covers(drawn.known, ZURICH)
    assert not covers(drawn.known, NICOSIA)


def test_an_answer_of_a_region_has_the_outline_of_the_region(data_store):
    drawn = answer_outlines(an_answer(level=Level.REGION, city=""), None)
    assert covers(drawn.known, BELLINZONA)
    assert not covers(drawn.known, ZURICH)


@pytest.mark.parametrize("level", [Level.CITY, Level.POINT])
def test_a_town_has_no_outline(data_store, level):
    assert answer_outlines(an_answer(level=level), None) == NO_OUTLINES


def test_without_map_data_there_is_no_outline(tmp_path):
    assert answer_outlines(an_answer(level=Level.COUNTRY, region="", city=""), str(tmp_path / "none")) == NO_OUTLINES
    assert answer_outlines(None, None) == NO_OUTLINES
