"""AMap states points in GCJ-02. Its facts are in WGS-84 from the moment in which the provider makes them."""

from types import SimpleNamespace

import pytest
from pydantic import ValidationError
from support.basics import a_context
from support.provider_server import samples

from tools.providers.amap import Amap
from tts.domain.geo import LatLon, distance_km
from tts.domain.tooling import PlaceFact
from tts.geodata.datum import to_gcj02, to_wgs84

UNIVERSITY = LatLon(lat=39.992806, lon=116.310905)  # as the samples state it
STREET_NUMBER = LatLon(lat=39.990633, lon=116.483038)


class SampleClient:
    """Answers with the documented samples, and keeps what it was asked."""

    def __init__(self):
        self.asked = []

    async def read(self, request, context, form, failure_of):
        self.asked.append(request)
        return form.model_validate(samples("amap")[request.url.removeprefix("https://amap.test")]["reply"])


@pytest.fixture
def client():
    return SampleClient()


@pytest.fixture
def amap(client):
    return Amap(SimpleNamespace(client=lambda: client, base="https://amap.test"))


CALLS = {
    "search": (lambda amap, rest: amap.search("北京大学", country=None, limit=5, context=rest), UNIVERSITY),
    "autocomplete": (lambda amap, rest: amap.autocomplete("北京大学", country=None, limit=5, context=rest), UNIVERSITY),
    "detail": (lambda amap, rest: amap.detail("B000A816R6", context=rest), UNIVERSITY),
    "geocode": (lambda amap, rest: amap.geocode("阜通东大街6号", country=None, limit=5, context=rest), STREET_NUMBER),
}


@pytest.mark.parametrize("method", CALLS)
async def test_every_fact_that_leaves_the_provider_is_in_wgs84(amap, method):
    ask, stated = CALLS[method]
    found = await ask(amap, a_context())
    fact = found if isinstance(found, PlaceFact) else found[0]
    assert (fact.point, fact.datum) == (to_wgs84(stated), "WGS-84")
    assert distance_km(fact.point, stated) > 0.3


async def test_the_point_that_is_asked_for_is_sent_in_gcj02_and_returned_as_it_was(amap, client):
    asked = to_wgs84(UNIVERSITY)
    here, near = await amap.reverse(asked, limit=3, context=a_context())
    assert (here.point, near.point) == (asked, to_wgs84(UNIVERSITY))
    sent = to_gcj02(asked)
    assert client.asked[0].params["location"] == f"{sent.lon:.6f},{sent.lat:.6f}"


def test_a_fact_cannot_be_made_in_gcj02():
    with pytest.raises(ValidationError, match="WGS-84"):
        PlaceFact(id="x", name="x", point=UNIVERSITY, datum="GCJ-02")
