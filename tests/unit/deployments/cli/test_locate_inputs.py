import io
from types import SimpleNamespace

import click
import pytest

from deployments.cli import inputs
from deployments.cli.inputs import AreaType, collect
from tts.domain.geo import BBox, Circle, Countries, LatLon


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("b.JPG", "a.png", "deep/c.heic", "notes.txt", "empty/readme.md", "odd name [1].webp"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(name.encode())
    return tmp_path


def labels(*arguments):
    return [item.label for item in collect(arguments)]


def test_named_files_are_taken_in_the_order_given_whatever_their_extension(folder):
    assert labels("b.JPG", "a.png", "notes.txt") == ["b.JPG", "a.png", "notes.txt"]
    assert [item.read() for item in collect(("b.JPG",))] == [b"b.JPG"]


def test_a_folder_gives_its_pictures_in_order(folder):
    assert labels(".") == ["a.png", "b.JPG", "deep/c.heic", "odd name [1].webp"]


def test_globs_are_expanded_and_a_file_whose_name_looks_like_one_is_found(folder):
    assert labels("*.png", "**/*.heic") == ["a.png", "deep/c.heic"]
    assert labels("odd name [1].webp") == ["odd name [1].webp"]


def test_a_dash_reads_the_photo_from_stdin(monkeypatch):
    monkeypatch.setattr(inputs.sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"bytes")))
    (item,) = collect(("-",))
    assert (item.label, item.read()) == ("stdin", b"bytes")


@pytest.mark.parametrize("argument", ["nowhere.jpg", "empty", "*.gif"])
def test_a_missing_input_is_refused_by_its_name(folder, argument):
    with pytest.raises(click.BadParameter, match=argument.replace("*", r"\*")):
        collect((argument,))


def test_an_empty_list_of_inputs_is_refused():
    with pytest.raises(click.BadParameter, match="at least one photo"):
        collect(())


@pytest.mark.parametrize(
    ("text", "area"),
    [
        ("IT,FR", Countries(codes=("IT", "FR"))),
        ("Italy", Countries(codes=("IT",))),
        ("Österreich, suisse", Countries(codes=("AT", "CH"))),
        (" 41.9, 12.5 , 200", Circle(centre=LatLon(lat=41.9, lon=12.5), radius_km=200)),
        ("41.9,12.5,200", Circle(centre=LatLon(lat=41.9, lon=12.5), radius_km=200)),
        ("BBox: 36, 6, 47, 19", BBox(south=36, west=6, north=47, east=19)),
        ("bbox:36,6,47,19", BBox(south=36, west=6, north=47, east=19)),
    ],
)
def test_areas_are_read_from_text(text, area):
    assert AreaType().convert(text, None, None) == area


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Atlantis", "'Atlantis' is no country"),
        ("", "no country"),
        ("IT,", "no country"),
        ("95,0,10", "centre.lat|lat: Input should be less than or equal to 90"),
        ("1,2,-3", "radius_km: Input should be greater than 0"),
        ("1,2,nan", "radius_km"),
        ("1,2", "write lat,lon,km"),
        ("bbox:1,2,3", "write bbox:south,west,north,east"),
        ("bbox:a,b,c,d", "write bbox:south,west,north,east"),
        ("bbox:5,0,1,2", "south must be below north"),
    ],
)
def test_text_that_is_no_area_is_refused_with_a_reason(text, why):
    with pytest.raises(click.BadParameter, match=why):
        AreaType().convert(text, None, None)
