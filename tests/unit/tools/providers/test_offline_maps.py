import io

import pytest
from PIL import Image
from support.basics import a_context

from tools.providers.offline_maps import OfflineMaps
from tts.domain.geo import LatLon


@pytest.mark.parametrize(("asked", "given_"), [(1, 2), (8, 8), (19, 12)])
async def test_an_offline_map_states_its_zoom_and_what_it_does_not_show(cartographer, asked, given_):
    point = LatLon(lat=48.2, lon=16.4)
    made = await OfflineMaps(cartographer).picture(
        point, style="map", zoom=asked, width=500, height=500, context=a_context()
    )
    assert made.zoom == given_
    assert ("not available" in made.note) == (asked > 12)
    assert "no streets" in made.note
    assert "GeoNames" in made.note
    with Image.open(io.BytesIO(made.data)) as picture:
        assert (picture.format, picture.size) == ("JPEG", (500, 500))
