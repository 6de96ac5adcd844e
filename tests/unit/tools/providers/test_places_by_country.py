"""A country that is asked for: providers may ignore it, so places that are known to lie elsewhere are not shown."""

import pytest

from tools.places import _places_in_country
from tools.providers.serper import _Place, _place_fact
from tts.domain.geo import LatLon
from tts.domain.tooling import PlaceFact


def place(code):
    return PlaceFact(id=code, name=f"Station {code}", point=LatLon(lat=1.0, lon=2.0), country_code=code, source="test")


@pytest.mark.parametrize(
    ("country", "shown"), [(None, ["FR", "DE", ""]), ("FR", ["FR", ""]), ("fr", ["FR", ""]), ("IT", [""])]
)
def test_places_that_are_known_to_lie_elsewhere_are_left_out(country, shown):
    assert [fact.country_code for fact in _places_in_country([place("FR"), place("DE"), place("")], country)] == shown


def test_serper_names_no_country_as_its_replies_name_none():
    assert _place_fact(_Place(title="Bäckerei", cid="7")).country_code == ""
