"""Places inside the area a caller asked for; all places where the area has none."""

import pytest

from tools.places import _places_inside
from tts.domain.geo import Circle, LatLon
from tts.domain.tooling import PlaceFact

NEAR = LatLon(lat=39.91, lon=116.40)
FAR = LatLon(lat=31.23, lon=121.47)


def place(point):
    return PlaceFact(id=str(point), name="Station", point=point, source="test")


@pytest.mark.parametrize(
    ("area", "shown"),
    [
        (Circle(centre=NEAR, radius_km=0.1), [NEAR]),
        (Circle(centre=LatLon(lat=0.0, lon=0.0), radius_km=0.1), [NEAR, FAR]),
        (None, [NEAR, FAR]),
    ],
)
def test_places_outside_the_area_are_left_out_unless_there_is_none_inside(area, shown):
    assert [fact.point for fact in _places_inside([place(NEAR), place(FAR)], area)] == shown
