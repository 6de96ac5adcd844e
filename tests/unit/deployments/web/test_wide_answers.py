"""An answer whose 90 % radius is wider than a continent says so in words, at every door, and draws no such circle.

A Portuguese sign says Portugal to half, and Brazil to much of the rest: both radii are right, and the wider one helps
nobody as a circle. The page is read in `tests/browser`.
"""

import json
import re
from importlib.resources import files

import pytest
from click.testing import CliRunner
from support.basics import sign_bytes
from support.made_answers import an_answer

from deployments.cli import cli
from tts.domain.answer import CONTINENT_KM, Radius
from tts.domain.calibration import CalibrationState
from tts.report.answer_map import answer_map
from tts.report.sections import headline

OPEN = "it may also be on another continent"


@pytest.fixture(scope="module")
def bakery(tmp_path_factory):
    photo = tmp_path_factory.mktemp("photos") / "bakery.jpg"
    photo.write_bytes(sign_bytes("PADARIA", "PÃO QUENTE"))
    return photo


def locate(*words):
    done = CliRunner().invoke(cli, ["locate", *map(str, words), "-n", "2"], standalone_mode=False)
    assert done.return_value == 0, done.output
    return done.stdout


def test_terminal_and_report_say_in_words_that_the_answer_is_wide(data_store, bakery, tmp_path):
    report = tmp_path / "report.html"
    printed = " ".join(locate(bakery, "--html", report).replace("│", " ").split())
    assert "perhaps Portugal" in printed
    assert re.search(rf"probably within [\d,]+ km; {OPEN}", printed)
    assert printed.count("%") == 1
    body = report.read_text().split("<main>", 1)[1]
    assert "<h1>Perhaps Portugal</h1>" in body
    assert OPEN in body
    assert f"areas: it is probably inside one of them; {OPEN}" in body
    assert "dashed circle" not in body


def test_programs_get_the_radii_as_they_are(data_store, bakery):
    answer = json.loads(locate(bakery, "--json"))["answer"]
    assert (answer["level"], answer["country"], answer["abstained"]) == ("country", "Portugal", False)
    assert answer["radius_km"]["p50"] < 1500 < CONTINENT_KM < answer["radius_km"]["p90"]


@pytest.mark.parametrize("state", ["fitted", "transferred"])
@pytest.mark.parametrize(("p90", "wide"), [(CONTINENT_KM, False), (CONTINENT_KM + 1, True)])
def test_an_answer_is_called_open_above_the_radius_of_a_continent_only(p90, wide, state):
    calibration = CalibrationState(state=state)
    text = str(headline(an_answer(radius_km=Radius(p50=900, p90=p90), calibration=calibration)))
    assert (OPEN in text) is wide
    assert ("<h1>Perhaps " in text) is wide


def test_a_circle_wider_than_a_continent_is_not_drawn(cartographer):
    """It made the whole world red, and the pin a dot on it."""

    def drawn(p90):
        return answer_map(cartographer, an_answer(radius_km=Radius(p50=200, p90=p90), candidates=())).tobytes()

    assert drawn(2000) != drawn(2400)
    assert drawn(9000) == drawn(15000)


def test_the_page_and_the_report_have_the_same_radius_of_a_continent():
    script = files("deployments").joinpath("web/static/answer.js").read_text()
    (limit,) = re.findall(r"const CONTINENT_KM = (\d+);", script)
    assert float(limit) == CONTINENT_KM
