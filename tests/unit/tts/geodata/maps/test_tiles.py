"""Tiles of the map: what is on them, and that nobody sees where one ends."""

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from tts.geodata.maps.tile_names import TILE_PX
from tts.geodata.maps.tiles import MAX_TILE_ZOOM, TileArtist

ZOOMS = st.integers(0, MAX_TILE_ZOOM)


@pytest.fixture(scope="module")
def artist(cartographer):
    return TileArtist(cartographer)


def tile_of(zoom, lat, lon):
    world = 1 << zoom
    y = (1 - np.arcsinh(np.tan(np.radians(lat))) / np.pi) / 2 * world
    return zoom, int((lon + 180) / 360 * world), int(y)


def names_on_tile(artist, zoom, x, y):
    return [name.text for name in artist.names.on(zoom, x, y)]


def test_a_tile_is_a_small_png_of_256_pixels(artist):
    data = artist.png(*tile_of(6, 46.2, 9.0))
    with Image.open(io.BytesIO(data)) as picture:
        assert (picture.format, picture.size) == ("PNG", (256, 256))
    assert len(data) < 40_000


@pytest.mark.parametrize(
    ("zoom", "lat", "lon", "name"),
    [(4, 46.5, 2.5, "FRANCE"), (5, 48.86, 2.35, "Paris"), (8, 45.46, 9.19, "Milan"), (10, 46.19, 9.02, "Bellinzona")],
)
def test_countries_and_towns_are_named(artist, zoom, lat, lon, name):
    assert name in names_on_tile(artist, *tile_of(zoom, lat, lon))


@settings(max_examples=15)
@given(zoom=ZOOMS, lat=st.floats(-60, 70), lon=st.floats(-179, 179))
def test_a_name_that_crosses_an_edge_is_on_both_tiles(artist, zoom, lat, lon):
    zoom, x, y = tile_of(zoom, lat, lon)
    world = 1 << zoom
    beside = (x + 1) % world
    edge = (x + 1) * TILE_PX
    crossing = {
        name.text
        for name in artist.names.on(zoom, x, y)
        if name.box.left < edge - 1 and name.box.right > edge + 1 and y * TILE_PX < name.y < (y + 1) * TILE_PX
    }
    assert crossing <= set(names_on_tile(artist, zoom, beside, y))


@settings(max_examples=15)
@given(zoom=ZOOMS, lat=st.floats(-60, 70), lon=st.floats(-179, 179))
def test_no_two_names_touch(artist, zoom, lat, lon):
    boxes = [name.box for name in artist.names.on(*tile_of(zoom, lat, lon))]
    assert not [(a, b) for i, a in enumerate(boxes) for b in boxes[:i] if a.touches(b)]


@pytest.mark.parametrize("tile", [(5, 16, 11), (8, 133, 91), (3, 4, 2), (6, 33, 22)])
def test_the_ground_goes_on_from_tile_to_tile(artist, tile):
    zoom, x, y = tile
    here, there = artist.draw(zoom, x, y).astype(int), artist.draw(zoom, x + 1, y).astype(int)
    across = np.abs(here[:, -1] - there[:, 0]).mean()
    within = np.abs(here[:, -2] - here[:, -1]).mean() + np.abs(there[:, 0] - there[:, 1]).mean()
    assert across <= within + 2


@pytest.mark.parametrize("tile", [(0, 0, 0), (1, 1, 1), (4, 0, 15), (4, 15, 0), (10, 1023, 511)])
def test_tiles_at_the_edges_of_the_world_are_drawn(artist, tile):
    assert artist.draw(*tile).shape == (256, 256, 3)
