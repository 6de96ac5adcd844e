"""`within_km` on a request with several photos: an answer for each, what others add, and photos that contradict."""

import asyncio
import json

import httpx
import pytest
from click.testing import CliRunner
from support.basics import sign_bytes
from support.service import an_app, talking_to

from deployments.cli import cli
from deployments.wiring.bundle_replay import replay_bundle
from geotts_client import Client, LocateOptions
from tts.bundle.zip_archive import unpack
from tts.package_files import sample_photos

SAMPLES = sample_photos()
BELLINZONA = SAMPLES["town-sign-latin.jpg"].read_bytes()
SEOUL = SAMPLES["pharmacy-korean.jpg"].read_bytes()
LUGANO = sign_bytes("Lugano")
STATION = sign_bytes("Stazione")
BLANK = sign_bytes("....")
GIVEN = {"n_parallel": 2, "seed": 1}


async def locate_walk(url, *photos, **options):
    async with Client(url) as client:
        return (await client.locate(list(photos), LocateOptions(**GIVEN, **options))).answer


async def test_each_photo_has_its_own_answer_and_its_own_evidence(url):
    answer = await locate_walk(url, BELLINZONA, LUGANO, within_km=40)
    assert [one.city for one in answer.per_photo] == ["Bellinzona", "Lugano"]
    assert answer.contradictions == ()
    assert not any("Lugano" in f"{e.claim} {e.quote}" for e in answer.per_photo[0].evidence)
    assert not any("Bellinzona" in f"{e.claim} {e.quote}" for e in answer.per_photo[1].evidence)
    assert answer.radius_km.p90 > 20, "the answer for all stands for both places"


async def test_a_photo_decides_between_the_namesakes_of_another(url):
    alone = await locate_walk(url, sign_bytes("Frankfurt"))
    assert (alone.lat, alone.lon) == pytest.approx((50.11, 8.68), abs=0.05), "the larger of the two"
    answer = await locate_walk(url, sign_bytes("Frankfurt"), sign_bytes("Eisenhüttenstadt"), within_km=30)
    assert [one.city for one in answer.per_photo] == ["Frankfurt (Oder)", "Eisenhüttenstadt"]


@pytest.mark.parametrize("other", [STATION, BLANK])
async def test_a_photo_that_says_little_lies_within_reach_of_one_that_says_more(url, other):
    answer = await locate_walk(url, BELLINZONA, other, within_km=5)
    first, second = answer.per_photo
    assert (second.lat, second.lon) == (first.lat, first.lon)
    assert second.radius_km.p90 == pytest.approx(first.radius_km.p90 + 5)
    assert (second.evidence, "within 5 km of photo 1" in second.explanation) == ((), True)


async def test_photos_that_contradict_the_reach_are_named(url):
    answer = await locate_walk(url, BELLINZONA, LUGANO, SEOUL, within_km=40)
    assert answer.abstained
    (contradiction,) = answer.contradictions
    assert contradiction.about == "photos"
    assert contradiction.text.startswith("Photos 1 and 3 cannot be within 40 km of each other: photo 1 says Bellinzona")
    assert [one.country_code for one in answer.per_photo] == ["CH", "CH", "KR"]


async def test_times_and_a_speed_are_a_reach(url):
    times = ["2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z"]
    slow = await locate_walk(url, BELLINZONA, LUGANO, taken_at=times, max_speed_kmh=5)
    assert slow.contradictions[0].text.startswith("Photos 1 and 2 cannot be within 5 km of each other")
    quick = await locate_walk(url, BELLINZONA, LUGANO, taken_at=times, max_speed_kmh=60)
    assert [one.city for one in quick.per_photo] == ["Bellinzona", "Lugano"]


async def test_a_further_photo_joins_a_walk(url):
    async with httpx.AsyncClient(base_url=url, timeout=60) as http:
        files = [("image", BELLINZONA), ("image", STATION)]
        reply = await http.post("/locate", files=files, data={"within_km": "40", "n_parallel": "2", "seed": "1"})
        request_id = reply.json()["request_id"]
        reply = await http.post(f"/locate/{request_id}/continue", files={"image": LUGANO})
    cities = [one["city"] for one in reply.json()["answer"]["per_photo"]]
    assert cities == ["Bellinzona", "", "Lugano"]


@pytest.mark.slow
async def test_the_bundle_of_a_walk_and_of_what_continues_it_replays_to_the_byte(url, clues):
    async with httpx.AsyncClient(base_url=url, timeout=60) as http:
        files = [("image", BELLINZONA), ("image", LUGANO)]
        reply = await http.post("/locate", files=files, data={"within_km": "40", "n_parallel": "2", "seed": "1"})
        first = reply.json()["request_id"]
        second = (await http.post(f"/locate/{first}/continue", json={"not_there": "Milan"})).json()["request_id"]
        for request_id in (first, second):
            bundle = unpack((await http.get(f"/locate/{request_id}/bundle")).content)
            assert (await replay_bundle(bundle, clues[0])).is_equal


async def test_on_the_command_line_the_photos_are_one_request(url, tmp_path):
    files = []
    for name, photo in (("a.jpg", BELLINZONA), ("b.jpg", LUGANO)):
        (tmp_path / name).write_bytes(photo)
        files.append(str(tmp_path / name))
    given = ["locate", *files, "--within-km", "40", "--seed", "1", "--json"]
    for place in (["--url", url], ["--local"]):
        done = await asyncio.to_thread(CliRunner().invoke, cli, [*given, *place], standalone_mode=False)
        assert done.exception is None, done.exception
        answer = json.loads(done.stdout)["answer"]
        assert [one["city"] for one in answer["per_photo"]] == ["Bellinzona", "Lugano"]
    alone = CliRunner().invoke(cli, ["locate", files[0], "--within-km", "40"])
    assert alone.exit_code == 2


async def test_within_km_needs_several_photos_and_widens_the_radius_without_text(data_store):
    async with talking_to(an_app()) as http:
        reply = await http.post("/locate", files={"image": BLANK}, data={"within_km": "5"})
        assert (reply.status_code, reply.json()["errors"][0]["field"]) == (422, "within_km")
        files = [("image", BLANK), ("image", STATION)]
        plain = (await http.post("/locate", files=files, data={"seed": "1", "n_parallel": "1"})).json()["answer"]
        wide = (
            await http.post("/locate", files=files, data={"seed": "1", "n_parallel": "1", "within_km": "500"})
        ).json()["answer"]
        assert wide["lat"] == plain["lat"]
        assert wide["radius_km"]["p90"] >= 500


async def test_within_km_is_refused_with_max_precision(data_store):
    async with talking_to(an_app(max_precision="city")) as http:
        files = [("image", BLANK), ("image", STATION)]
        reply = await http.post("/locate", files=files, data={"within_km": "5"})
        assert (reply.status_code, reply.json()["errors"][0]["field"]) == (422, "within_km")
