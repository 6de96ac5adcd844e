"""Places inside the area a caller asked for; each position is converted from the provider's datum once."""

import pytest
from support.basics import a_context

from tools.places import _shown
from tts.domain.geo import Circle, LatLon
from tts.domain.request import LocateOptions
from tts.domain.tooling import PlaceFact
from tts.geodata import place_facts
from tts.geodata.datum import as_wgs84
from tts.ports.toolbox import ToolContext

NEAR = LatLon(lat=39.91, lon=116.40)
FAR = LatLon(lat=31.23, lon=121.47)
BEIJING = Circle(centre=as_wgs84(NEAR, "GCJ-02"), radius_km=0.1)


def place(point):
    return PlaceFact(id=str(point), name="Station", point=point, datum="GCJ-02", source="test")


@pytest.mark.parametrize(("area", "shown"), [(BEIJING, [NEAR]), (None, [NEAR, FAR])])
def test_each_point_is_converted_once(area, shown, monkeypatch):
    converted = []

    def noted(*given):
        converted.append(given)
        return as_wgs84(*given)

    monkeypatch.setattr(place_facts, "as_wgs84", noted)
    found = _shown([place(NEAR), place(FAR)], ToolContext(a_context(), options=LocateOptions(within=area)))
    assert [(fact.point, fact.datum) for fact in found] == [(as_wgs84(point, "GCJ-02"), "WGS-84") for point in shown]
    assert converted == [(NEAR, "GCJ-02"), (FAR, "GCJ-02")]
