import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tts.domain.geo import EQUATOR_KM, LatLon, distance_km
from tts.errors import DataError
from tts.geodata.maps.cartographer import Cartographer
from tts.geodata.maps.furniture import Pin, Ring, pin_boxes, scale_bar, strip_boxes
from tts.geodata.maps.labels import Name, Rect, Sheet
from tts.geodata.maps.text_drawing import TextStyle, writable
from tts.geodata.maps.view import View, zoom_for

TEXT = TextStyle(12, "regular", (0, 0, 0))
PLACES = {
    "Tokyo": (35.68, 139.76, 10.0), "Alps": (46.5, 9.5, 8.0), "Fiji": (-17.8, 179.9, 5.0), "world": (20.0, 10.0, 2.0),
    "Greenland": (72.0, -42.0, 4.0), "pole": (-88.0, 0.0, 3.0), "whole": (0.0, 0.0, 1.0), "ocean": (0.0, -30.0, 6.0),
    "deep": (52.37, 4.9, 12.0),
}  # fmt: skip
lats = st.floats(-84, 84)
lons = st.floats(-180, 179.9)
views = st.builds(lambda lat, lon, zoom: View(LatLon(lat=lat, lon=lon), zoom, 500, 400), lats, lons, st.floats(2, 12))


@pytest.fixture(scope="module", params=PLACES, ids=str)
def view(request):
    lat, lon, zoom = PLACES[request.param]
    return View(LatLon(lat=lat, lon=lon), zoom, 500, 500)


# -- projection --------------------------------------------------------------------------------------------------------


@given(views, st.floats(0, 499), st.floats(0, 399))
def test_a_pixel_and_its_position_are_the_same_place(view, x, y):
    (lat,), (lon,) = view.latitudes(np.array([y])), view.longitudes(np.array([x]))
    back = view.pixel(LatLon(lat=float(lat), lon=float(lon)))
    assert back == pytest.approx((x, y), abs=1e-3)


def test_the_top_of_the_world_is_a_pixel_of_its_own():
    view = View(LatLon(lat=81.0, lon=0.0), 3.0, 500, 400)
    (north,) = view.latitudes(np.array([0.0]))
    assert view.pixel(LatLon(lat=float(north), lon=0.0))[1] == pytest.approx(0.0, abs=1e-6)


@given(views)
def test_the_centre_is_in_the_middle_unless_the_world_ends(view):
    x, y = view.pixel(view.centre)
    assert x == pytest.approx(250, abs=1e-3)
    assert 0 <= y <= 400
    south, west, north, east = view.bounds
    assert south <= view.centre.lat <= north
    assert (view.centre.lon - west) % 360 <= east - west


def test_across_the_antimeridian_positions_stay_together():
    view = View(LatLon(lat=-17.8, lon=179.9), 5, 500, 500)
    assert view.pixel(LatLon(lat=-17.8, lon=-179.9))[0] == pytest.approx(254.55, abs=0.1)


@given(views)
def test_the_scale_bar_is_as_long_as_it_says(view):
    length_px, text = scale_bar(view)
    km = float(text.split()[0].replace(",", "")) / (1000 if text.endswith(" m") else 1)
    assert 20 < length_px <= 110
    middle = float(view.latitudes(np.array([200.0]))[0])
    west, east = (float(lon) for lon in view.longitudes(np.array([250 - length_px / 2, 250 + length_px / 2])))
    ends = (LatLon(lat=middle, lon=west), LatLon(lat=middle, lon=east))
    along_the_parallel = EQUATOR_KM * math.cos(math.radians(middle)) * (east - west) / 360
    assert km == pytest.approx(along_the_parallel, rel=1e-6)
    if length_px / view.world_px < 0.01:
        assert km == pytest.approx(distance_km(*ends), rel=0.01)


@given(st.floats(0.1, 3000), st.floats(-70, 70))
def test_the_zoom_for_a_radius_shows_the_whole_circle(radius_km, lat):
    zoom = zoom_for(radius_km, lat, 500)
    side_km = 500 * View(LatLon(lat=lat, lon=0), zoom, 500, 500).km_per_px
    assert 2 * radius_km <= side_km or zoom == 1.0


# -- names -------------------------------------------------------------------------------------------------------------


words = st.text(st.characters(categories=("Lu", "Ll"), max_codepoint=0x24F), min_size=1, max_size=20)
names = st.builds(Name, words, st.floats(-20, 320), st.floats(-20, 220), st.just(TEXT), st.sampled_from([0.0, 2.0]))


@given(st.lists(names, max_size=40))
def test_placed_names_touch_neither_each_other_nor_what_was_there_nor_the_edge(wanted):
    reserved = [Rect(0, 180, 300, 200), Rect(140, 80, 160, 120)]
    placed = Sheet(300, 200, list(reserved)).place(wanted, limit=25)
    boxes = [p.box for p in placed]
    assert len(boxes) <= 25
    for i, box in enumerate(boxes):
        assert box.left >= 0
        assert box.top >= 0
        assert box.right <= 300
        assert box.bottom <= 200
        assert not any(box.touches(other) for other in [*reserved, *boxes[:i]])


def test_the_more_important_name_wins():
    first, second = Name("Hamburg", 100, 100, TEXT, 2.0), Name("Altona", 101, 101, TEXT, 2.0)
    assert [p.name.text for p in Sheet(300, 200).place([first, second], limit=9)] == ["Hamburg"]


def test_names_that_the_fonts_cannot_write_are_recognised():
    assert writable("Łódź Àðŷ Москва Αθήνα Đắk Lắk")
    assert not writable("東京")
    assert not writable("القاهرة")


# -- pictures ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("style", ["map", "satellite"])
def test_every_view_is_a_full_picture_and_the_same_every_time(cartographer, view, style):
    once, again = (np.asarray(cartographer.draw(view, style, pins=(Pin(view.centre),))) for _ in range(2))
    assert once.shape == (500, 500, 3)
    assert np.array_equal(once, again)
    assert once.reshape(-1, 3).std(axis=0).max() > 4


@pytest.mark.parametrize("style", ["map", "satellite"])
def test_names_on_real_maps_are_clear_of_each_other(cartographer, view, style):
    pins = (Pin(view.centre),)
    boxes = [p.box for p in cartographer.names(view, style, pins=pins)]
    reserved = [*pin_boxes(view, pins), *strip_boxes(view)]
    assert not any(a.touches(b) for i, a in enumerate(boxes) for b in [*boxes[:i], *reserved])


def test_the_great_towns_of_a_region_are_named(cartographer):
    view = View(LatLon(lat=48, lon=8), 5, 500, 500)
    drawn_names = {placed.name.text for placed in cartographer.names(view)}
    assert {"Paris", "Milan", "Hamburg", "FRANCE", "GERMANY"} <= drawn_names


def _colour(picture, view, lat, lon):
    x, y = view.pixel(LatLon(lat=lat, lon=lon))
    return np.asarray(picture)[round(y) - 2 : round(y) + 3, round(x) - 2 : round(x) + 3].reshape(-1, 3).mean(axis=0)


@pytest.mark.parametrize("zoom", [3, 5, 6, 7, 8])
def test_water_is_drawn_blue_and_land_is_not(cartographer, zoom):
    view = View(LatLon(lat=-17.4, lon=178.2), zoom, 500, 500)
    picture = cartographer.draw(view)
    sea, land = _colour(picture, view, -18.55, 177.8), _colour(picture, view, -17.62, 177.95)
    assert sea[2] - sea[0] > 20
    assert land[2] - land[0] < (12 if zoom > 3 else 60)


def test_no_strokes_run_across_the_world_where_the_antimeridian_cuts_land(cartographer):
    """Siberia and Fiji lie on both sides of 180°; a careless projection draws lines through the whole map."""
    view = View(LatLon(lat=68, lon=179.5), 4, 500, 500)
    pixels = np.asarray(cartographer.draw(view)).astype(int)
    jumps = np.abs(np.diff(pixels[:480], axis=0)).sum(axis=2) > 60
    assert jumps.mean(axis=1).max() < 0.5


def test_rings_colour_the_ground_they_enclose(cartographer):
    view = View(LatLon(lat=0, lon=-30), 6, 500, 500)
    plain = np.asarray(cartographer.draw(view)).astype(int)
    ringed = np.asarray(cartographer.draw(view, areas=(Ring(view.centre, 200.0),))).astype(int)
    x, _ = view.pixel(LatLon(lat=0, lon=-29))
    assert ringed[250, round(x), 0] - ringed[250, round(x), 2] > plain[250, round(x), 0] - plain[250, round(x), 2] + 5
    assert np.array_equal(ringed[20:60, 20:60], plain[20:60, 20:60])


def test_candidates_are_numbered_and_the_answer_has_the_pin(cartographer):
    view = View(LatLon(lat=48, lon=8), 5, 500, 500)
    pins = (Pin(LatLon(lat=48, lon=8)), Pin(LatLon(lat=45, lon=9), 2))
    pixels = np.asarray(cartographer.draw(view, pins=pins)).astype(int)
    x, y = (round(v) for v in view.pixel(pins[1].point))
    assert pixels[y - 6, x, 2] - pixels[y - 6, x, 0] > 60  # blue
    x, y = (round(v) for v in view.pixel(pins[0].point))
    assert pixels[y - 10, x, 0] - pixels[y - 10, x, 2] > 60  # red


def test_missing_data_is_reported_with_the_command_that_builds_it(tmp_path, gazetteer):
    with pytest.raises(DataError, match="geotts data build"):
        Cartographer(tmp_path, gazetteer)
