"""Maps of another provider in place of those that the authors used."""

import math

import pytest
from support.basics import a_context
from support.dialect_rollouts import Maps

from tools.released.sources.map_pictures import NoMaps, StandInMaps
from tts.domain.geo import LatLon, distance_km
from tts.errors import ToolError, ToolErrorKind
from tts.geodata.datum import to_gcj02


class Asked(Maps):
    """Keeps the points that it is asked for."""

    def __init__(self):
        self.points = []

    async def picture(self, point, **asked):
        self.points.append(point)
        return await super().picture(point, **asked)


async def drawn(source, lat, lon, style="map"):
    return await source.picture(style, lat, lon, marker="none", context=a_context())


@pytest.mark.parametrize(("written", "point"), [((95.0, 10.0), (90.0, 10.0)), ((10.0, 190.0), (10.0, -170.0))])
async def test_a_point_that_is_not_on_earth_is_moved_there(written, point):
    maps = Asked()
    picture = await drawn(StandInMaps(maps, "WGS-84"), *written)
    assert [(found.lat, found.lon) for found in maps.points] == [point]
    assert (picture.width, picture.height, picture.zoom) == (500, 500, 19.0)


async def test_a_point_in_another_datum_is_drawn_where_it_is():
    beijing, maps = LatLon(lat=39.9042, lon=116.4074), Asked()
    shifted = to_gcj02(beijing)
    await drawn(StandInMaps(maps, "GCJ-02"), shifted.lat, shifted.lon)
    assert distance_km(maps.points[0], beijing) < 0.001


async def test_a_point_that_is_no_number_and_a_missing_style_are_refused():
    with pytest.raises(ToolError) as nowhere:
        await drawn(StandInMaps(Maps(), "WGS-84"), math.nan, 0.0)
    assert nowhere.value.kind is ToolErrorKind.NOT_FOUND
    with pytest.raises(ToolError) as missing:
        await drawn(StandInMaps(NoMaps(), "WGS-84"), 0.0, 0.0, "satellite")
    assert (missing.value.kind, missing.value.detail) == (ToolErrorKind.BLOCKED, "none has no satellite pictures")
