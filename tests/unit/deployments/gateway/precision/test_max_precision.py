"""`gateway.max_precision`: a property over every output. Nothing that leaves is finer than the unit.

The engine is scripted to know a house: an exact point, a street, a file of a map. A search goes through every byte that
callers can get: JSON, SSE, NDJSON, GeoJSON and the other exports, OpenAI's interface, the client, files, and the log.
"""

import base64
import json
import re

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.made_answers import an_answer
from support.service import PHOTO, an_app, serving, talking_to
from support.verdict_contradictions import contradictions_of

from deployments.gateway.precision.coarse_answer import coarse_answer
from deployments.gateway.precision.coarse_events import coarse_events
from deployments.gateway.precision.coarsening import Coarsening
from deployments.gateway.precision.units import FINEST_KM, Units
from geotts_client import Client, LocateOptions
from tts.config import ScriptedEngine
from tts.domain.answer import Candidate, Evidence, Radius
from tts.domain.claim import CheckedPlace, ClaimCheck, RolloutAgreement
from tts.domain.events import (
    Answered,
    Hypothesised,
    RolloutFinished,
    RolloutStarted,
    Text,
    ToolResulted,
    VerifierText,
)
from tts.domain.geo import Circle, Countries, LatLon, distance_km
from tts.domain.geojson import circles_region
from tts.domain.hypothesis import Hypothesis, Level
from tts.domain.tooling import ToolResult
from tts.export.formats import FORMATS

PRECISIONS = ("city", "region", "country")
SECRET = "Geheimgasse 7"
LANDS = [
    (48.21, 16.37),
    (46.19, 9.02),
    (50.0, 36.23),
    (35.68, 139.69),
    (-33.87, 151.2),
    (64.15, -21.94),
    (19.43, -99.13),
]


@pytest.fixture(scope="module")
def units(gazetteer, countries):
    return Units(gazetteer, countries)


HOUSE_DISC = Circle(centre=LatLon(lat=46.201234, lon=9.034321), radius_km=0.1)


def fine_answer(lat, lon, p50):
    """A house that is known to its street."""
    evidence = Evidence(id="e1", claim=f"the sign says {SECRET}", quote=SECRET, url=f"https://maps.test/?q={lat},{lon}")
    candidate = Candidate(
        lat=lat, lon=lon, radius_km=Radius(p50=p50, p90=4 * p50), place=SECRET, support=1.0, rollouts=(0,),
        dissent=(f"not in {SECRET}",),
    )  # fmt: skip
    return an_answer(
        lat=lat, lon=lon, radius_km=Radius(p50=p50, p90=4 * p50), level=Level.POINT, place=SECRET,
        region_50=circles_region([HOUSE_DISC]), region_90=circles_region([HOUSE_DISC]),
        explanation=f"It is {SECRET}, {lat}, {lon}.", evidence=(evidence,), candidates=(candidate,),
        warnings=(f"read {SECRET}",),
    )  # fmt: skip


places = st.sampled_from(LANDS).flatmap(
    lambda at: st.tuples(st.floats(at[0] - 1.5, at[0] + 1.5), st.floats(at[1] - 1.5, at[1] + 1.5))
)


@given(places, st.floats(0.01, 900.0), st.sampled_from(PRECISIONS))
@settings(max_examples=150)
def test_any_answer_becomes_the_centre_of_a_unit_and_stays_consistent(units, place, p50, precision):
    lat, lon = (round(value, 6) for value in place)
    coarse = coarse_answer(fine_answer(lat, lon, p50), precision, units)
    text = coarse.json_bytes().decode()
    assert SECRET not in text
    assert len(str(lat)) < 8 or str(lat) not in text or coarse.lat == lat
    assert contradictions_of(coarse) == []
    assert (coarse.region_50, coarse.region_90) == (None, None)
    if coarse.point is None:
        return
    assert coarse.radius_km.p50 >= FINEST_KM[precision]
    again = units.unit_at(LatLon(lat=lat, lon=lon), precision)
    assert (coarse.lat, coarse.lon) == (round(again.centre.lat, 6), round(again.centre.lon, 6))
    assert coarse.radius_km.p90 >= again.reach_km - 0.01
    finer = {"city": ("place",), "region": ("place", "city"), "country": ("place", "city", "region")}[precision]
    assert not any(getattr(coarse, name) for name in finer)


@given(st.floats(-0.02, 0.02), st.floats(-0.02, 0.02), st.floats(0.2, 3.0))
@settings(max_examples=40)
def test_two_houses_of_one_town_cannot_be_told_apart(units, north, east, p50):
    one = coarse_answer(fine_answer(46.1928, 9.017, 0.5), "city", units)
    other = coarse_answer(fine_answer(46.1928 + north, 9.017 + east, p50), "city", units)
    if other.city == one.city:
        assert (other.lat, other.lon) == (one.lat, one.lon)


def test_kinds_of_events_that_are_not_known_to_be_coarse_are_not_sent(units):
    point = LatLon(lat=46.19281, lon=9.01712)
    belief = Hypothesis(point=point, place=SECRET)
    fine = [
        Text(rollout_id=0, turn=0, text=SECRET),
        VerifierText(text=SECRET),
        Hypothesised(rollout_id=0, turn=0, hypothesis=belief),
        ToolResulted(rollout_id=0, turn=0, result=ToolResult(call_id="c", name="t", text=SECRET)),
        RolloutFinished(rollout_id=0, stop_reason="answered", answer=belief, error=SECRET),
        Answered(answer=fine_answer(point.lat, point.lon, 0.1)),
    ]
    coarse = list(coarse_events(fine, "city", units))
    assert [event.type for event in coarse] == ["rollout_finished", "answer"]
    assert SECRET not in "".join(event.json_bytes().decode() for event in coarse)
    assert "MultiPolygon" not in "".join(event.json_bytes().decode() for event in coarse)


HOUSE = LatLon(lat=46.201234, lon=9.034321)
ANSWER = {
    "lat": HOUSE.lat, "lon": HOUSE.lon, "radius_km": 0.2, "level": "point", "country": "Switzerland",
    "country_code": "CH", "region": "Ticino", "city": "Bellinzona", "place": SECRET, "confidence": 0.9,
    "evidence": [{"claim": f"the door says {SECRET}", "call": None}],
}  # fmt: skip


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    tape = tmp_path_factory.mktemp("tape") / "house.jsonl"
    tape.write_text(json.dumps({"text": f"{SECRET}! {json.dumps(ANSWER)}"}) + "\n")
    return ScriptedEngine(tape=str(tape))


def finer_than(text, precision):
    """What in a text is finer than a unit: the street, the house, or a number of the house to four digits."""
    found = [SECRET] if SECRET in text else []
    for number in re.findall(r"-?\d+\.\d{3,}", text):
        if abs(float(number) - HOUSE.lat) < 6e-5 or abs(float(number) - HOUSE.lon) < 6e-5:
            found.append(number)
    if precision != "city" and "Bellinzona" in text:
        found.append("Bellinzona")
    if precision == "country" and "Ticino" in text:
        found.append("Ticino")
    return found


async def test_a_reply_without_max_precision_contains_the_house(engine, data_store):
    async with talking_to(an_app(engine)) as http:
        reply = await http.post("/locate", files={"image": PHOTO}, data={"n_parallel": "2", "include": "full"})
    assert {SECRET, str(HOUSE.lat)} <= set(finer_than(reply.text, "city"))


@pytest.mark.parametrize("precision", PRECISIONS)
async def test_no_output_is_finer_than_the_unit(engine, data_store, precision):
    data = {"n_parallel": "2", "include": "full", "exif": "report"}
    outputs = {}
    async with talking_to(an_app(engine, max_precision=precision)) as http:
        for accept in ("application/json", "application/geo+json", "text/event-stream", "application/x-ndjson"):
            reply = await http.post("/locate", files={"image": PHOTO}, data=data, headers={"Accept": accept})
            assert reply.status_code == 200, reply.text
            outputs[accept] = reply
        request_id = outputs["application/json"].headers["x-request-id"]
        for name, form in FORMATS.items():
            outputs[name] = await http.get(f"/locate/{request_id}", headers={"Accept": form.media_type})
        outputs["events"] = await http.get(f"/locate/{request_id}/events")
        outputs["status"] = await http.get(f"/locate/{request_id}")
        outputs["map"] = await http.get(f"/locate/{request_id}/map")
        image = {
            "type": "image_url",
            "image_url": {"url": "data:image/jpeg;base64," + base64.b64encode(PHOTO).decode()},
        }
        body = {"messages": [{"role": "user", "content": [image]}], "geotts": {"include": "full"}}
        outputs["openai"] = await http.post("/v1/chat/completions", json=body)
        outputs["openai stream"] = await http.post("/v1/chat/completions", json={**body, "stream": True})
        claim = {"city": "Lugano", "region": "Lombardy", "country": "Italy"}[precision]
        outputs["check"] = await http.post("/check", files={"image": PHOTO}, data={"claim": claim, "include": "full"})
    for name, reply in outputs.items():
        assert reply.status_code == 200, (name, reply.text)
        if name not in ("map", "geoparquet"):
            assert finer_than(reply.text, precision) == [], name
    answer = orjson.loads(outputs["application/json"].content)["answer"]
    assert distance_km(LatLon(lat=answer["lat"], lon=answer["lon"]), HOUSE) > 1.0
    assert answer["radius_km"]["p50"] >= FINEST_KM[precision]


async def test_each_event_is_made_coarse_once(engine, data_store, monkeypatch):
    seen: list[int] = []
    events = Coarsening.events

    def noted(self, batch):
        seen.extend(event.seq for event in batch)
        return events(self, batch)

    monkeypatch.setattr(Coarsening, "events", noted)
    async with talking_to(an_app(engine, max_precision="city")) as http:
        assert (await http.post("/locate", files={"image": PHOTO}, data={"n_parallel": "2"})).status_code == 200
    assert seen == list(range(1, len(seen) + 1))


async def test_the_client_gets_nothing_finer_than_the_unit(engine, data_store):
    async with serving(an_app(engine, max_precision="city")) as (url, _), Client(url) as client:
        run = await client.locate(PHOTO, LocateOptions(n_parallel=2))
    assert finer_than(run.model_dump_json(), "city") == []
    assert (run.answer.city, run.answer.place) == ("Bellinzona", "")
    assert all(trajectory.answer is None for trajectory in run.trajectories)


@pytest.mark.parametrize(
    ("precision", "path", "data"),
    [
        ("city", "/locate", {"within": "46.2,9.03,0.5"}),
        ("city", "/locate", {"within": "bbox:46.2,9.03,46.21,9.04"}),
        ("city", "/check", {"claim": "46.2,9.03,0.5"}),
        ("city", "/locate", {"not_there": "Giubiasco"}),
        ("region", "/check", {"claim": "Bellinzona"}),
        ("country", "/check", {"claim": "Lombardy"}),
        ("country", "/check", {"claim": '["Italy", "Lugano"]'}),
    ],
)
async def test_areas_and_claims_finer_than_the_unit_are_refused(engine, data_store, precision, path, data):
    async with talking_to(an_app(engine, max_precision=precision)) as http:
        reply = await http.post(path, files={"image": PHOTO}, data=data)
    assert reply.status_code == 422
    assert "no finer" in reply.json()["detail"]


@pytest.mark.parametrize("precision", PRECISIONS)
async def test_a_hint_or_fact_is_refused_as_its_outcome_would_measure_the_place(engine, data_store, precision):
    async with talking_to(an_app(engine, max_precision=precision)) as http:
        hinted = await http.post("/locate", files={"image": PHOTO}, data={"hint": "near Lugano"})
        first = (await http.post("/locate", files={"image": PHOTO}, data={"n_parallel": "1"})).json()["request_id"]
        added = await http.post(f"/locate/{first}/continue", json={"fact": "near Lugano"})
        rejected = await http.post(f"/locate/{first}/continue", json={})
    for reply in (hinted, added):
        assert (reply.status_code, reply.json()["errors"][0]["field"]) == (422, "hint"), reply.text
    assert rejected.status_code == 200, rejected.text


def test_directions_and_answer_draws_of_rollouts_are_not_sent(units):
    fine = [
        RolloutStarted(rollout_id=1, seed=1, direction=SECRET),
        RolloutFinished(rollout_id=1, stop_reason="answered", answer_draws=(HOUSE, None)),
    ]
    started, finished = coarse_events(fine, "city", units)
    assert (started.direction, finished.answer_draws) == ("", ())


def a_check(*places, **changed):
    check = {"verdict": "supported", "text": SECRET, "odds": 3.0, "mass": 0.75, "places": places, "likeliest": 0}
    blind = RolloutAgreement(rollouts=(0, 1), answered=2, inside=2)
    return ClaimCheck(**{**check, "blind": blind, "testing": blind, "calibrated": True, **changed})


def a_place(verdict, kind, *areas, region=""):
    return CheckedPlace(
        place="p", kind=kind, areas=areas, region=region, verdict=verdict, odds=3.0, mass=0.7, share=0.7
    )


def test_a_check_gives_no_numbers_and_no_verdicts_that_vary_within_the_unit(units):
    """Its numbers, and verdicts about discs that touch the town, would find the house by many claims."""
    town = units.unit_at(HOUSE, "city")
    touching = town.centre.model_copy(update={"lat": town.centre.lat + 0.03})
    far = LatLon(lat=46.0, lon=8.95)
    for verdict in ("supported", "contradicted", "not_decidable"):
        places = (
            a_place(verdict, "town", Circle(centre=town.centre, radius_km=4.0)),
            a_place(verdict, "town", Circle(centre=touching, radius_km=3.0)),
            a_place(verdict, "town", Circle(centre=far, radius_km=3.0)),
            a_place(verdict, "country", Countries(codes=("CH",))),
            a_place(verdict, "country", Countries(codes=("NO",))),
        )
        answer = fine_answer(HOUSE.lat, HOUSE.lon, 0.1).model_copy(update={"check": a_check(*places)})
        coarse = coarse_answer(answer, "city", units).check
        undecided = "not_decidable"
        expected = {
            "supported": ["supported", undecided, undecided, "supported", undecided],
            "contradicted": [undecided, undecided, "contradicted", undecided, "contradicted"],
            "not_decidable": [undecided] * 5,
        }
        assert [one.verdict for one in coarse.places] == expected[verdict]
        assert (coarse.odds, coarse.mass, coarse.likeliest, coarse.alternative) == (None, None, None, None)
        assert (coarse.blind, coarse.testing, coarse.calibrated) == (RolloutAgreement(), RolloutAgreement(), False)
        assert {(one.odds, one.mass, one.share) for one in coarse.places} == {(None, None, None)}
        assert SECRET not in coarse.text


@pytest.mark.parametrize(
    ("lat", "lon", "town"),
    [
        (35.6595, 139.7005, "Tokyo"),
        (51.5136, -0.1365, "London"),
        (48.8566, 2.3522, "Paris"),
        (52.4986, 13.4034, "Berlin"),
    ],
)
def test_a_point_in_a_quarter_belongs_to_the_unit_of_its_town(units, lat, lon, town):
    found = units.unit_at(LatLon(lat=lat, lon=lon), "city")
    assert found.city == town
    assert found.reach_km > 10


@pytest.mark.parametrize("precision", PRECISIONS)
async def test_a_photo_of_a_known_town_cannot_measure_the_distance_of_another_photo(engine, data_store, precision):
    files = [("image", ("one.jpg", PHOTO)), ("image", ("two.jpg", PHOTO))]
    async with talking_to(an_app(engine, max_precision=precision)) as http:
        reply = await http.post("/locate", files=files, data={"n_parallel": "1"})
    assert reply.status_code == (200 if precision == "city" else 422), reply.text
    assert precision == "city" or "send one photo in each request" in reply.json()["detail"]


async def test_files_that_tools_made_are_not_kept(engine, data_store):
    async with talking_to(an_app(engine, max_precision="city")) as http:
        made = (await http.post("/locate", files={"image": PHOTO})).json()
        missing = await http.get(f"/locate/{made['request_id']}/files/{'0' * 64}")
    assert missing.status_code == 404
