"""Claims of a file about itself: reported as written, doubted when it is nonsense, never used for the answer."""

import io

import pytest
from PIL import Image
from PIL.TiffImagePlugin import IFDRational

from tts.domain.exif_claims import FileClaim, file_claim
from tts.domain.geo import LatLon

GPS = 0x8825
DETAIL = 0x8769


def jpeg(gps=None, detail=None, **tags) -> bytes:
    exif = Image.Exif()
    names = {"make": 0x010F, "model": 0x0110, "software": 0x0131, "time": 0x0132}
    for name, value in tags.items():
        exif[names[name]] = value
    if gps:
        exif.get_ifd(GPS).update(gps)
    if detail:
        exif.get_ifd(DETAIL).update(detail)
    out = io.BytesIO()
    Image.new("RGB", (16, 16)).save(out, "JPEG", exif=exif)
    return out.getvalue()


@pytest.mark.parametrize(
    ("gps", "point"),
    [
        ({1: "N", 2: (48.0, 51.0, 24.0), 3: "E", 4: (2.0, 21.0, 3.6)}, LatLon(lat=48.8566667, lon=2.351)),
        ({1: "S", 2: (33.0, 52.0, 0.0), 3: "W", 4: (70.0, 40.0, 30.0)}, LatLon(lat=-33.8666667, lon=-70.675)),
        ({1: "N", 2: (48.5,), 3: "E", 4: (2.25,)}, LatLon(lat=48.5, lon=2.25)),
        ({2: (48.0, 30.0), 4: (2.0, 15.0)}, LatLon(lat=48.5, lon=2.25)),
    ],
)
def test_positions_are_read_from_degrees_minutes_and_seconds(gps, point):
    assert file_claim(jpeg(gps)).point == point


@pytest.mark.parametrize(
    "gps",
    [
        {},
        {1: "N", 2: (48.0, 51.0, 24.0)},
        {1: "N", 2: (0.0, 0.0, 0.0), 3: "E", 4: (0.0, 0.0, 0.0)},
        {1: "N", 2: (91.0, 0.0, 0.0), 3: "E", 4: (2.0, 0.0, 0.0)},
        {1: "N", 2: (48.0, 0.0, 0.0), 3: "E", 4: (181.0, 0.0, 0.0)},
        {1: "N", 2: (IFDRational(1, 0),) * 3, 3: "E", 4: (2.0, 0.0, 0.0)},
        {1: "N", 2: (1.0, 2.0, 3.0, 4.0), 3: "E", 4: (2.0, 0.0, 0.0)},
    ],
    ids=str,
)
def test_an_invalid_gps_position_claims_no_point(gps):
    assert file_claim(jpeg(gps)).point is None


def test_height_time_camera_and_software_are_read():
    claim = file_claim(
        jpeg(
            {5: b"\x01", 6: 12.5}, {0x9003: "2024:05:06 07:08:09"}, make="Fuji", model="Fuji X100", software="darktable"
        )
    )
    assert claim == FileClaim(
        altitude_m=-12.5, taken_at="2024:05:06 07:08:09", camera="Fuji X100", software="darktable"
    )
    assert file_claim(jpeg(make="Leica", model="Q3", time="2020:01:01 00:00:00")).camera == "Leica Q3"
    assert file_claim(jpeg(time="2020:01:01 00:00:00")).taken_at == "2020:01:01 00:00:00"


def test_control_characters_and_long_texts_are_cut():
    camera = file_claim(jpeg(model="\x1b[31mred\x07" + "x" * 500)).camera
    assert camera.isprintable()
    assert len(camera) == 100


@pytest.mark.parametrize("raw", [b"", b"nonsense", b"\xff\xd8\xff\xe1\x00\x08Exif\0\0"])
def test_bytes_that_are_no_picture_give_an_empty_claim(raw):
    assert file_claim(raw) == FileClaim()
