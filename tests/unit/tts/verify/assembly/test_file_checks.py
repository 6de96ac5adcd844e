"""What files claim about themselves is compared with the answer, in its own section, and moves nothing."""

import io
from datetime import timedelta

import pytest
from PIL import Image
from support.made_answers import an_answer

from tts.domain.exif_claims import FileClaim, file_claim
from tts.domain.geo import LatLon
from tts.domain.xmp_claims import xmp_claim
from tts.verify.assembly.file_checks import file_checks, offset_of, parse_time

HERE = LatLon(lat=46.19, lon=9.02)  # in the answer of `an_answer`: Bellinzona, 90 % radius 40 km
KHARKIV = LatLon(lat=49.98, lon=36.25)
XMP = b"""<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:Description exif:GPSLatitude="46,11.4N"
 exif:GPSLongitude='9,1.2E' tiff:Model="X100">
<exif:DateTimeOriginal>2024-07-01T10:00:00+02:00</exif:DateTimeOriginal><tiff:Make>Fuji &amp; Co</tiff:Make>
<dc:creator>Somebody Secret</dc:creator></rdf:Description></x:xmpmeta>"""


def outcomes(claim, answer=None):
    return [(check.about, check.outcome) for check in file_checks((claim,), answer or an_answer())]


def test_a_position_inside_the_radius_agrees_and_one_elsewhere_contradicts():
    assert outcomes(FileClaim(point=HERE)) == [("position", "agrees")]
    assert outcomes(FileClaim(point=KHARKIV)) == [("position", "contradicts")]
    assert outcomes(FileClaim(xmp_point=KHARKIV)) == [("position", "contradicts")]


def test_an_abstention_checks_no_position():
    nowhere = an_answer(lat=None, lon=None, radius_km=None, abstained=True, level="none", confidence=0.0)
    claim = FileClaim(point=HERE, taken_at="2024:07:01 10:00:00", zone="+02:00")
    assert outcomes(claim, nowhere) == [("position", "unchecked"), ("zone", "unchecked")]


def test_claims_in_exif_and_xmp_are_compared_with_each_other():
    claim = FileClaim(point=HERE, xmp_point=KHARKIV, camera="Fuji X100", xmp_camera="Leica Q3",
                      taken_at="2024:07:01 10:00:00", xmp_taken_at="2019-01-01T00:00:00")  # fmt: skip
    assert outcomes(claim) == [
        ("position", "contradicts"), ("position", "agrees"), ("time", "contradicts"), ("camera", "contradicts"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("zone", "taken_at", "outcome"),
    [
        ("+02:00", "2024:07:01 10:00:00", "agrees"),
        ("+01:00", "2024:07:01 10:00:00", "contradicts"),  # it was summer time
        ("+01:00", "2024:12:01 10:00:00", "agrees"),
        ("+09:00", "2024:12:01 10:00:00", "contradicts"),
    ],
)
def test_the_zone_of_the_clock_is_that_of_the_answer_on_that_day(zone, taken_at, outcome):
    assert outcomes(FileClaim(zone=zone, taken_at=taken_at)) == [("zone", outcome)]


def test_two_clocks_imply_a_time_zone_which_is_compared_with_a_stated_one():
    implied = FileClaim(taken_at="2024:07:01 12:00:30", utc_at="2024:07:01 10:00:00")
    assert outcomes(implied) == [("zone", "agrees")]
    lying = FileClaim(taken_at="2024:07:01 12:00:00", utc_at="2024:07:01 04:00:00", zone="+02:00")
    assert outcomes(lying) == [("time", "contradicts"), ("zone", "agrees")]


def test_only_listed_fields_of_xmp_are_read():
    claim = xmp_claim(XMP)
    assert claim.point == LatLon(lat=46.19, lon=9.02)
    assert (claim.taken_at, claim.camera) == ("2024-07-01T10:00:00+02:00", "Fuji & Co X100")
    assert "Secret" not in repr(claim)


@pytest.mark.parametrize(
    "packet",
    [
        b"",
        b"\xff\xfe",
        b"<",
        b'exif:GPSLatitude="91,0N" exif:GPSLongitude="0,0E"',
        b'exif:GPSLatitude="' + b"1" * 300_000,
    ],
)
def test_a_broken_packet_claims_no_position(packet):
    assert xmp_claim(packet).point is None


def test_a_file_with_exif_and_xmp_is_read_once():
    exif = Image.Exif()
    exif[0x0110] = "X100"
    exif.get_ifd(0x8769).update({0x9003: "2024:07:01 10:00:00", 0x9011: "+02:00"})
    exif.get_ifd(0x8825).update({7: (8.0, 0.0, 0.0), 29: "2024:07:01"})
    out = io.BytesIO()
    Image.new("RGB", (16, 16)).save(out, "JPEG", exif=exif, xmp=XMP)
    claim = file_claim(out.getvalue())
    assert (claim.zone, claim.utc_at) == ("+02:00", "2024:07:01 08:00:00")
    assert claim.xmp_point == LatLon(lat=46.19, lon=9.02)
    assert ("time", "agrees") in outcomes(claim)


@pytest.mark.parametrize("text", ["", "yesterday", "0000:00:00 00:00:00", "2024:13:01 00:00:00"])
def test_an_invalid_time_is_read_as_no_time(text):
    assert parse_time(text) is None
    assert offset_of(text) is None


def test_times_and_offsets_are_read_in_both_forms():
    assert parse_time("2024:07:01 10:00:00") == parse_time("2024-07-01T10:00:00")
    assert offset_of("-03:30") == -timedelta(hours=3, minutes=30)
