"""Exports: each format is read back by a reader that others wrote, at the antimeridian and at the poles, too."""

import csv
import io
import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import fastkml
import jsonschema
import pyarrow
import pytest
from geoarrow.pyarrow import io as geoarrow_io
from geojson_pydantic import FeatureCollection
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree
from pyarrow import parquet
from shapely import from_wkb
from shapely.geometry import shape
from support.made_answers import EVIL, an_answer

from tts.domain.answer import Radius, StopReason
from tts.domain.claim import CheckedPlace, ClaimCheck, RolloutAgreement
from tts.domain.geo import Countries, LatLon, distance_km
from tts.domain.hypothesis import Level
from tts.domain.outline import AnswerOutlines, Outline
from tts.domain.tooling import ToolCall, ToolResult
from tts.domain.trajectory import Run, Trajectory, Turn
from tts.domain.usage import Usage
from tts.errors import DataError
from tts.export.export_source import LocatedPhoto, located_from
from tts.export.formats import FORMATS
from tts.export.geo_uri import geo_uri
from tts.verify.consensus.answer_regions import RegionRule, regions_of
from tts.verify.consensus.peaks import Peak

# RFC 5870 section 3.3, without `crs` and other parameters
GEO_URI = re.compile(r"geo:(-?\d+(?:\.\d+)?),(-?\d+(?:\.\d+)?)(?:;u=(\d+(?:\.\d+)?))?")
ATIF = json.loads((Path(__file__).parents[3] / "fixtures" / "atif_v1_4.schema.json").read_text())
NAMESPACES = {"k": "http://www.opengis.net/kml/2.2", "exif": "http://ns.adobe.com/exif/1.0/"}
HARD_PLACES = [(0, 180), (0, -180), (90, 0), (-90, 77), (89.99, -179.999), (-16.5, 179.99), (71.1, -179.9), (0, 0)]
points = st.builds(
    lambda lat, lon: LatLon(lat=lat, lon=lon),
    st.floats(-90, 90),
    st.floats(-180, 180),
) | st.sampled_from([LatLon(lat=lat, lon=lon) for lat, lon in HARD_PLACES])
radii = st.floats(0.01, 20_000)


def located_photo(point=None, p90=40.0, name="a.jpg", text="Bellinzona", run=None):
    moved = {} if point is None else {"lat": point.lat, "lon": point.lon}
    answer = an_answer(text, radius_km=Radius(p50=p90 / 3, p90=p90), **moved)
    return LocatedPhoto(name=name, request_id="loc_0", answer=answer, run=run or Run(answer=answer))


def with_regions(*places):
    """The same answer, which may also be at other places."""
    peaks = [Peak(place, 1 / (1 + rank)) for rank, place in enumerate(places)]
    regions = regions_of(peaks, 400.0, RegionRule(origin="made", scale_50=0.2, scale_90=0.8, cases=40))
    answer = located_photo(places[0], 400.0).answer
    update = {"region_50": regions.region_50, "region_90": regions.region_90}
    return LocatedPhoto(name="r.jpg", answer=answer.model_copy(update=update))


def abstained_photo():
    silent = an_answer(lat=None, lon=None, radius_km=None, abstained=True, level=Level.COUNTRY)
    return LocatedPhoto(name="b.jpg", request_id="loc_1", answer=silent)


BROKEN = LocatedPhoto(name="c.jpg", request_id="loc_2", failure="the engine is down")


@pytest.fixture(scope="module")
def kml_schema():
    return etree.XMLSchema(etree.parse(str(files("fastkml") / "schema" / "ogckml22.xsd")))


def kml_polygons(document):
    for ring in document.iterfind(".//k:LinearRing/k:coordinates", NAMESPACES):
        yield [tuple(map(float, vertex.split(","))) for vertex in ring.text.split()]


@given(points, radii)
@settings(max_examples=60, deadline=None)
def test_kml_follows_its_schema_and_keeps_areas_on_the_map(kml_schema, point, radius):
    document = etree.fromstring(FORMATS["kml"].write([located_photo(point, radius), abstained_photo(), BROKEN]))
    kml_schema.assertValid(document)
    for ring in kml_polygons(document):
        assert ring[0] == ring[-1]
        assert all(-180 <= lon <= 180 and -90 <= lat <= 90 for lon, lat in ring)


def test_kml_keeps_points_and_candidates_for_its_readers():
    read = fastkml.KML.from_string(FORMATS["kml"].write([located_photo()]).decode().partition("?>")[2])
    (folder,) = read.features[0].features
    placemarks = {one.name: one for one in folder.features}
    answer = placemarks["Bellinzona, Ticino, Switzerland"].geometry
    assert (answer.y, answer.x) == (46.19278, 9.01703)
    assert placemarks["90 %: within 40 km"].geometry.geom_type == "Polygon"
    assert [name for name in placemarks if name.startswith("candidate")] == [
        "candidate 1: Bellinzona", "candidate 2: Milan"
    ]  # fmt: skip


def test_an_area_over_the_antimeridian_is_two_polygons_and_over_a_pole_reaches_it():
    over = etree.fromstring(FORMATS["kml"].write([located_photo(LatLon(lat=-16.5, lon=179.9), 100.0)]))
    assert len(list(over.iterfind(".//k:MultiGeometry", NAMESPACES))) == 2
    assert {lon for ring in kml_polygons(over) for lon, _ in ring if abs(lon) == 180} == {180.0, -180.0}
    polar = etree.fromstring(FORMATS["kml"].write([located_photo(LatLon(lat=89.5, lon=10), 200.0)]))
    assert max(lat for ring in kml_polygons(polar) for _, lat in ring) == 90.0


def test_a_claimed_country_is_in_kml_with_its_holes(kml_schema):
    square = [[0, 0], [4, 0], [4, 4], [0, 4], [0, 0]]
    hole = [[1, 1], [1, 2], [2, 2], [2, 1], [1, 1]]
    made = {"type": "MultiPolygon", "coordinates": [[square, hole], [[[6, 0], [7, 0], [7, 1], [6, 0]]]]}
    outline = Outline(made, LatLon(lat=3, lon=3), "made")
    place = CheckedPlace(
        place="Lesotho's neighbour", kind="country", areas=(Countries(codes=("ZA",)),), verdict="contradicted"
    )
    check = ClaimCheck(
        verdict="contradicted",
        calibrated=False,
        places=(place,),
        blind=RolloutAgreement(),
        testing=RolloutAgreement(),
        text="no",
    )
    item = located_photo()
    answer = item.answer.model_copy(update={"check": check})
    item = item.model_copy(update={"answer": answer, "outlines": AnswerOutlines((outline,))})
    kml = etree.fromstring(FORMATS["kml"].write([item]))
    kml_schema.assertValid(kml)
    (claimed,) = [
        one
        for one in kml.iterfind(".//k:Placemark", NAMESPACES)
        if one.findtext("k:name", "", NAMESPACES).startswith("claimed")
    ]
    assert len(list(claimed.iterfind(".//k:Polygon", NAMESPACES))) == 2
    assert len(list(claimed.iterfind(".//k:innerBoundaryIs", NAMESPACES))) == 1


def test_a_country_that_is_all_that_is_known_is_exported_with_its_outline(kml_schema):
    triangle = {"type": "MultiPolygon", "coordinates": [[[[6, 0], [7, 0], [7, 1], [6, 0]]]]}
    known = AnswerOutlines(known=Outline(triangle, LatLon(lat=0.3, lon=6.7), "made"))
    item = located_photo()
    answer = item.answer.model_copy(update={"level": Level.COUNTRY, "city": "", "region": "", "country": "Cyprus"})
    item = item.model_copy(update={"answer": answer, "outlines": known})
    features = json.loads(FORMATS["geojson"].write([item]))["features"]
    (outline,) = [one for one in features if one["properties"]["role"] == "known"]
    assert outline["geometry"] == triangle
    assert [outline["properties"][name] for name in ("place", "level", "outline")] == ["Cyprus", "country", "made"]
    kml = etree.fromstring(FORMATS["kml"].write([item]))
    kml_schema.assertValid(kml)
    names = [one.findtext("k:name", "", NAMESPACES) for one in kml.iterfind(".//k:Placemark", NAMESPACES)]
    assert "Cyprus: the whole country" in names


@pytest.mark.parametrize("name", ["kml", "xmp"])
def test_xml_holds_any_text_of_a_model(name):
    text = EVIL + "\x00\x1b]8;;\ud7ff\ufffe & ]]>"
    document = etree.fromstring(FORMATS[name].write([located_photo(text=text)]))
    assert "<script>alert(1)</script>" in "".join(document.itertext())
    assert document.find(".//script") is None


@given(points, radii)
@settings(max_examples=60, deadline=None)
def test_geojson_follows_its_schema(point, radius):
    read: FeatureCollection[Any] = FeatureCollection.model_validate_json(
        FORMATS["geojson"].write([located_photo(point, radius), abstained_photo(), BROKEN])
    )
    roles = [(feature.properties["name"], feature.properties["role"]) for feature in read.features]
    assert ("a.jpg", "radius_90") in roles
    assert ("b.jpg", "answer") in roles
    assert ("c.jpg", "failure") in roles
    areas = [
        shape(feature.geometry.model_dump()) for feature in read.features if "radius" in feature.properties["role"]
    ]
    assert all(area.is_valid and area.area > 0 for area in areas)


@given(st.lists(points, min_size=2, max_size=4))
@settings(max_examples=40, deadline=None)
def test_an_answer_with_several_peaks_is_exported_with_its_regions(kml_schema, tmp_path_factory, places):
    item = with_regions(*places)
    read: FeatureCollection[Any] = FeatureCollection.model_validate_json(FORMATS["geojson"].write([item]))
    areas = {feature.properties["role"]: shape(feature.geometry.model_dump()) for feature in read.features}
    region = shape(item.answer.region_90.jsonable())
    assert areas["region_90"].equals(region)
    assert areas["region_50"].within(areas["region_90"].buffer(1e-4))
    kml = etree.fromstring(FORMATS["kml"].write([item]))
    kml_schema.assertValid(kml)
    assert "90 %: in one of these areas" in kml.xpath("//k:Placemark/k:name/text()", namespaces=NAMESPACES)
    assert len(list(kml_polygons(kml))) == sum(len(areas[f"region_{share}"].geoms) for share in (50, 90))
    path = tmp_path_factory.mktemp("export") / "regions.parquet"
    path.write_bytes(FORMATS["geoparquet"].write([item]))
    assert from_wkb(parquet.read_table(path).to_pylist()[0]["area_90"]).equals(region)


@given(points, st.none() | radii)
@settings(deadline=None)
def test_a_geo_uri_follows_the_grammar_and_round_trips(point, radius):
    lat, lon, uncertainty = GEO_URI.fullmatch(geo_uri(point, radius)).groups()
    read = LatLon(lat=float(lat), lon=float(lon))
    assert distance_km(read, point) < 0.001
    assert (uncertainty is None) == (radius is None)
    if radius is not None:
        assert float(uncertainty) == pytest.approx(radius * 1000, abs=0.1)


def test_a_geo_uri_of_a_pole_has_no_longitude_and_that_of_the_antimeridian_one_form():
    assert geo_uri(LatLon(lat=90, lon=33.3)) == "geo:90,0"
    assert geo_uri(LatLon(lat=1, lon=-180)) == geo_uri(LatLon(lat=1, lon=180)) == "geo:1,180"
    assert geo_uri(LatLon(lat=48.858370, lon=2.294481), 1.5) == "geo:48.85837,2.294481;u=1500"


def test_a_list_of_uris_names_every_photo():
    lines = FORMATS["geo-uri"].write([located_photo(), abstained_photo(), BROKEN]).decode().split("\r\n")
    assert lines == ["# a.jpg", "geo:46.19278,9.01703;u=40000", "# b.jpg: abstained", "# c.jpg: failed", ""]


def test_csv_has_a_row_for_each_photo_and_no_formula():
    written = FORMATS["csv"].write([located_photo(text='=HYPERLINK("http://evil.example")'), abstained_photo(), BROKEN])
    rows = list(csv.DictReader(io.StringIO(written.decode(), newline="")))
    assert [row["outcome"] for row in rows] == ["answered", "abstained", "failed"]
    assert rows[0]["city"].startswith("'=HYPERLINK")
    assert (float(rows[0]["lat"]), rows[0]["geo_uri"]) == (46.19278, "geo:46.19278,9.01703;u=40000")
    assert (rows[1]["lat"], rows[1]["country"], rows[2]["failure"]) == ("", "Switzerland", "the engine is down")


def test_a_southern_latitude_stays_a_number_in_csv():
    rows = list(csv.DictReader(io.StringIO(FORMATS["csv"].write([located_photo(LatLon(lat=-33.9, lon=-70))]).decode())))
    assert rows[0]["lat"] == "-33.9"


@given(points, radii)
@settings(max_examples=20, deadline=None)
def test_geoparquet_is_read_by_geoarrow_and_pyarrow(tmp_path_factory, point, radius):
    path = tmp_path_factory.mktemp("export") / "answers.parquet"
    path.write_bytes(FORMATS["geoparquet"].write([located_photo(point, radius), abstained_photo(), BROKEN]))
    table = geoarrow_io.read_geoparquet_table(path)
    assert isinstance(table.schema.field("geometry").type, pyarrow.ExtensionType)
    plain = parquet.read_table(path).to_pylist()
    placed = from_wkb(plain[0]["geometry"])
    assert (placed.y, placed.x) == (point.lat, point.lon)
    assert from_wkb(plain[0]["area_90"]).is_valid
    assert [row["geometry"] is None for row in plain] == [False, True, True]


@given(points, radii)
@settings(max_examples=60, deadline=None)
def test_an_xmp_sidecar_has_position_and_uncertainty(point, radius):
    document = etree.fromstring(FORMATS["xmp"].write([located_photo(point, radius)]))

    def degrees(name):
        whole, minutes = document.findtext(f".//exif:{name}", namespaces=NAMESPACES).split(",")
        value = int(whole) + float(minutes[:-1]) / 60
        assert float(minutes[:-1]) < 60
        return -value if minutes[-1] in "SW" else value

    read = LatLon(lat=degrees("GPSLatitude"), lon=degrees("GPSLongitude"))
    assert distance_km(read, point) < 0.001
    metres, _, one = document.findtext(".//exif:GPSHPositioningError", namespaces=NAMESPACES).partition("/")
    assert float(metres) / float(one) == pytest.approx(radius * 1000, abs=0.51)
    assert "estimated" in document.findtext(".//exif:GPSProcessingMethod", namespaces=NAMESPACES)


def test_a_sidecar_of_an_abstention_has_no_position():
    document = etree.fromstring(FORMATS["xmp"].write([abstained_photo()]))
    assert document.find(".//exif:GPSLatitude", NAMESPACES) is None
    assert b"Switzerland" in etree.tostring(document)


def test_a_sidecar_needs_one_photo_with_an_answer():
    with pytest.raises(DataError, match="for one photo, and there are 2"):
        FORMATS["xmp"].write([located_photo(), located_photo()])
    with pytest.raises(DataError, match="the engine is down"):
        FORMATS["xmp"].write([BROKEN])


def a_trajectory():
    call = ToolCall(id="c1", name="geocode", arguments={"address": "Bellinzona"})
    first = Turn(index=0, text="I look it up.", calls=(call,), finished=True,
                 results=(ToolResult(call_id="c1", name="geocode", text="Bellinzona, CH"),
                          ToolResult(call_id="lost", name="geocode", text="late")),
                 usage=Usage(prompt_tokens=100, completion_tokens=7))  # fmt: skip
    second = Turn(index=1, text="There.", finished=True, usage=Usage(prompt_tokens=250, completion_tokens=9))
    return Trajectory(rollout_id=3, seed=5, turns=(first, second), stop_reason=StopReason.ANSWERED, usage=second.usage)


def test_atif_has_every_turn_with_its_calls_and_its_own_tokens():
    run = Run(answer=an_answer(), rollouts={3: a_trajectory()})
    (line,) = FORMATS["atif"].write([located_photo(run=run)]).splitlines()
    made = json.loads(line)
    jsonschema.validate(made, ATIF)
    assert [step["step_id"] for step in made["steps"]] == [1, 2, 3]
    assert [step["message"] for step in made["steps"][1:]] == ["I look it up.", "There."]
    first = made["steps"][1]
    assert first["tool_calls"][0]["arguments"] == {"address": "Bellinzona"}
    assert [one["source_call_id"] for one in first["observation"]["results"]] == ["c1", None]
    assert [step["metrics"]["prompt_tokens"] for step in made["steps"][1:]] == [100, 150]
    assert made["final_metrics"]["total_prompt_tokens"] == 250
    assert made["session_id"] == "loc_0/3"


def test_a_run_without_an_answer_says_why():
    assert located_from("a.jpg", Run()).failure == "it has not ended with an answer"
    assert located_from("a.jpg", Run(answer=an_answer())).outcome == "answered"
