"""What another package brings is used by its name, as soon as the package is installed (`examples/extension`)."""

import json
import os
import shutil
from functools import partial

import pytest
from support.docs_places import ROOT
from support.geotts_process import geotts as run
from support.rude_server import as_json, rude_server
from support.wheels import install_beside

from tts.package_files import SAMPLES

EXAMPLE = ROOT / "examples" / "extension"
PHOTO = str(SAMPLES / "town-sign-latin.jpg")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder in which the example is installed as a distribution of its own."""
    folder = tmp_path_factory.mktemp("additions")
    install_beside(EXAMPLE, folder)
    return folder / "site"


@pytest.fixture
def geotts(site):
    return partial(run, PYTHONPATH=str(site))


@pytest.mark.parametrize("file", sorted((EXAMPLE / "geotts_example").glob("*.py")), ids=lambda path: path.stem)
def test_an_example_has_at_most_forty_lines(file):
    assert len(file.read_text().splitlines()) <= 40


async def test_a_tool_is_listed_and_called_by_its_name(geotts):
    _, listed, _ = await geotts("tools", "list")
    assert "time_zone_at(latitude, longitude)" in listed
    code, out, err = await geotts("tools", "call", "time_zone_at", "latitude=35.68", "longitude=139.77")
    assert (code, out) == (0, "Clocks at 35.68000, 139.77000 show the time of Asia/Tokyo.\n"), err


async def test_an_added_tool_is_unknown_without_its_package():
    code, out, _ = await run("tools", "call", "time_zone_at", "latitude=35.68", "longitude=139.77")
    assert code != 0
    assert "Tokyo" not in out


SEARCH = ("tools", "call", "image_search", "bbox=[0.1,0.1,0.9,0.9]", "--photo", PHOTO, "--allow-region-search")


async def test_an_added_region_search_provider_gets_the_picture_only_if_allowed(geotts):
    hit = {"pages": [{"title": "The sign of Coimbra", "url": "https://pages.example/coimbra"}]}
    async with rude_server(lambda seen: as_json(hit)) as server:
        named = (
            "--set", "tools.providers=[own_pages,offline]",
            "--set", f"tools.settings.own_pages.base_url={server.url}",
        )  # fmt: skip
        code, _, err = await geotts(*SEARCH, *named)
        assert (code, server.seen) == (1, []), err
        code, out, err = await geotts(*SEARCH, *named, "--set", "tools.region_search.allowed=true")
    assert code == 0, err
    assert "https://pages.example/coimbra" in out
    (asked,) = server.seen
    assert asked.path == "/search"
    assert bytes.fromhex(json.loads(asked.body)["jpeg"]).startswith(b"\xff\xd8")


async def test_the_doctor_says_what_an_added_region_search_provider_needs(geotts):
    _, out, err = await geotts("doctor", "--json", "--set", "tools.providers=[own_pages,offline]")
    (found,) = [one for one in json.loads(out) if one["what"] == "region search own_pages"]
    assert (found["state"], found["mend"]) == ("off", "set tools.region_search.allowed: true"), err


async def test_a_dialect_a_verifier_and_a_stop_policy_are_chosen_by_the_configuration(geotts):
    code, out, err = await geotts(
        "locate", PHOTO, "--json", "-n", "4", "--depth", "deep", "--set", "dialect=witness",
        "--set", "verifier.kind=wary", "--set", "routing.stop=close_pair",
    )  # fmt: skip
    assert code == 0, err
    answer = json.loads(out)["answer"]
    assert (answer["provenance"]["dialect"], answer["provenance"]["verifier"]) == ("witness", "wary")
    assert answer["confidence"] <= 1 - 0.5**4


@pytest.mark.parametrize(("km", "answered"), [(1, 2), (5, 3)])
async def test_two_rollouts_within_a_tenth_of_the_radius_stop_the_third(geotts, tmp_path, km, answered):
    """The wanted radius is 25 km. The third rollout would answer after 6 s."""
    places = [{"lat": lat, "lon": -8.43, "city": "Coimbra"} for lat in (40.21, 40.21 + km / 111, 40.21)]
    turns = [{"rollout": i, "text": json.dumps(place), "first_token_s": 6 * (i == 2)} for i, place in enumerate(places)]
    tape = tmp_path / "tape.jsonl"
    tape.write_text("\n".join(map(json.dumps, turns)))
    code, out, err = await geotts(
        "locate", PHOTO, "--json", "-n", "3", "--depth", "deep", "--set", "engine.name=scripted",
        "--set", f"engine.tape={tape}", "--set", "routing.stragglers=wait", "--set", "routing.stop=close_pair",
    )  # fmt: skip
    assert code == 0, err
    n = json.loads(out)["answer"]["n"]
    assert (n["run"], n["answered"]) == (3, answered)


async def test_the_wary_verifier_caps_the_confidence_of_one_rollout_at_one_half(geotts):
    sure = json.loads((await geotts("locate", PHOTO, "--json", "-n", "1"))[1])["answer"]["confidence"]
    wary = json.loads((await geotts("locate", PHOTO, "--json", "-n", "1", "--set", "verifier.kind=wary"))[1])
    assert wary["answer"]["confidence"] == min(sure, 0.5)


async def test_a_data_set_is_evaluated_by_its_name(geotts, tmp_path):
    photos = tmp_path / "photos"
    photos.mkdir()
    shutil.copy(PHOTO, photos / "40.2111_-8.4291.jpg")
    code, _, err = await geotts("eval", "run", "named_photos", str(photos), "--out", str(tmp_path / "run.jsonl"))
    assert code == 0, err
    (row,) = (tmp_path / "run.jsonl").read_text().splitlines()
    assert '"lat":40.2111,"lon":-8.4291' in row
    assert json.loads(row)["answer"]["country"]


async def test_an_added_command_is_listed_and_run(geotts, tmp_path):
    _, listed, _ = await geotts("--help")
    assert "Commands of other packages" in listed
    assert "tally" in listed.partition("Commands of other packages")[2]
    located = (await geotts("locate", PHOTO, "--json", "-n", "1"))[1]
    (tmp_path / "reply.json").write_text(located)
    code, out, err = await geotts("tally", str(tmp_path / "reply.json"))
    assert (code, out) == (0, f"1\t{json.loads(located)['answer']['country']}\n1\tphotos\n"), err


async def test_an_added_command_is_unknown_without_its_package():
    _, listed, _ = await run("--help")
    assert "Commands of other packages" not in listed
    code, _, err = await run("tally", "reply.json")
    assert (code, "No such command 'tally'" in err) == (2, True)


async def test_a_name_that_no_package_provides_is_refused_with_the_known_names(geotts):
    code, _, err = await geotts("config", "show", "--set", "verifier.kind=bold")
    assert code == 2
    assert "consensus, model, wary" in err
    code, _, err = await geotts("config", "show", "--set", "routing.stop=never")
    assert (code, "close_pair" in err) == (2, True)
    code, _, err = await geotts("config", "show", "--set", "tools.providers=[nowhere]")
    assert (code, "own_pages" in err) == (2, True)


async def test_a_package_that_cannot_be_imported_is_named(site, tmp_path):
    broken = tmp_path / "broken-1.dist-info"
    broken.mkdir()
    (broken / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1\n")
    (broken / "entry_points.txt").write_text("[geotts.verifiers]\nbroken = nowhere_at_all:make\n")
    path = os.pathsep.join((str(site), str(tmp_path)))
    code, _, err = await run("locate", PHOTO, "--set", "verifier.kind=broken", PYTHONPATH=path)
    assert code != 0
    assert "nowhere_at_all" in err
    assert "broken" in err
