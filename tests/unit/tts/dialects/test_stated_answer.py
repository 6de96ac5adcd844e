"""A hypothesis is in WGS-84 by construction; what a model states in another datum is no hypothesis yet."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tts.dialects.stated_answer import StatedAnswer
from tts.domain.geo import LatLon, distance_km
from tts.domain.hypothesis import Claim, Hypothesis, Level
from tts.geodata.datum import to_gcj02

IN_CHINA = st.builds(LatLon, lat=st.floats(28.0, 34.0), lon=st.floats(104.0, 115.0))


def test_a_hypothesis_of_another_datum_cannot_be_made():
    with pytest.raises(ValidationError, match="WGS-84"):
        Hypothesis.model_validate({"point": {"lat": 39.9, "lon": 116.4}, "datum": "GCJ-02"})


@given(IN_CHINA)
def test_a_stated_point_becomes_a_point_in_wgs84(point):
    stated = StatedAnswer(point=to_gcj02(point), datum="GCJ-02", city="Wuhan", level=Level.CITY)
    found = stated.hypothesis()
    assert (found.datum, found.city, found.level) == ("WGS-84", "Wuhan", Level.CITY)
    assert distance_km(found.point, point) < 0.001


def test_a_hypothesis_keeps_every_field_of_the_stated_answer():
    fields = {
        "point": LatLon(lat=48.86, lon=2.35), "level": Level.CITY, "radius_km": 3.0, "country": "France",
        "country_code": "FR", "region": "Paris", "city": "Paris", "place": "Les Halles", "confidence": 0.4,
        "reasoning": "a sign", "claims": (Claim(text="a sign"),), "wants_depth": "deep",
    }  # fmt: skip
    assert StatedAnswer(**fields).hypothesis() == Hypothesis(**fields)
