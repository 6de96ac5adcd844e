"""Every weight of the product says where it is from, and is used."""

import math
import re
from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

import tts
from tts.clues.clue_tables import HandSetTable, TableSources, tables
from tts.clues.plate_forms import plate_forms
from tts.decision_weights import FittedWeight, HandSet, WeightsFile, weights, weights_file
from tts.domain.geo import EQUATOR_KM, TABLE_KM

FOLDER = Path(tts.__file__).parent
FILES = sorted(path.stem for path in (FOLDER / "data" / "weights").glob("*.yaml"))
SOURCES = "\n".join(path.read_text() for path in FOLDER.rglob("*.py"))


def test_every_part_that_decides_has_a_file_of_weights():
    verdict = {"belief", "grounding", "inquiry", "misleading", "verdict", "votes", "watch"}
    assert verdict | {"depth", "locatability", "photo_view", "reading", "rollouts"} <= set(FILES)


DECIDING = ("clues/conclusion", "ensemble/stragglers", "inference/clues/answer_texts", "inference/clues/planned_calls")


@pytest.mark.parametrize("module", [*DECIDING, "inference/clues/rereads", "inference/clues/unknown_words"])
def test_the_embedded_engine_and_the_watch_have_no_thresholds_of_their_own(module):
    """Other numbers than small whole ones stand in their file of weights. 0.25 and 0.5 divide a photo; `gumbel` and
    `round` need none."""
    numbers = re.findall(r"(?<![\w.])\d+\.\d+", (FOLDER / f"{module}.py").read_text())
    assert set(numbers) <= {"0.0", "0.25", "0.5", "0.9", "1.0"}


def test_a_file_without_a_source_for_each_weight_is_refused(tmp_path, monkeypatch):
    folder = tmp_path / "data" / "weights"
    folder.mkdir(parents=True)
    (folder / "bare.yaml").write_text("version: 1\nweights:\n  near_km: {value: 25.0}\n")
    monkeypatch.setattr("tts.decision_weights.files", lambda package: tmp_path)
    with pytest.raises(ValidationError, match="near_km"):
        weights_file("bare")


@pytest.mark.parametrize("name", FILES)
def test_each_weight_is_fitted_or_set_by_hand_for_a_reason(name):
    rows = weights_file(name).weights
    assert rows
    assert all(isinstance(row, HandSet | FittedWeight) for row in rows.values())
    assert weights(name) == {key: row.value for key, row in rows.items()}


@pytest.mark.parametrize("name", FILES)
def test_every_weight_of_a_file_is_used_in_the_code(name):
    used = set(re.findall(r'"(\w+)"', SOURCES))
    assert re.search(rf'weights(_of)?\("{name}"\)', SOURCES)
    assert set(weights(name)) <= used


@pytest.mark.parametrize(
    "row",
    [
        {"value": 1.0},
        {"value": 1.0, "source": "hand-set", "date": "2026-11-24"},
        {"value": 1.0, "source": "hand-set", "date": "2026-11-24", "reason": "so"},
        {"value": 1.0, "source": "fitted", "date": "2026-11-24", "data": "runs"},
        {"value": 1.0, "source": "fitted", "date": "2026-11-24", "data": "runs", "command": "by looking at them"},
        {"value": 1.0, "source": "guessed", "date": "2026-11-24", "reason": "somebody thought that it was about right"},
    ],
)
def test_a_weight_without_its_source_is_refused(row):
    with pytest.raises(ValidationError):
        WeightsFile.model_validate({"version": 1, "weights": {"a": row}})


def test_the_limits_of_claims_name_the_data_and_the_command_that_they_were_chosen_by():
    rows = weights_file("claims").weights
    limits = [rows["supported_from"], rows["contradicted_to"]]
    assert all(isinstance(row, FittedWeight) and row.command.startswith("geotts bench check") for row in limits)


@pytest.mark.parametrize("name", ["calibration/*.yaml", "claims/*.yaml", "budget/*.yaml", "stopping.yaml"])
def test_each_fit_says_by_which_command_and_when_it_was_made(name):
    files = sorted((FOLDER / "data").glob(name))
    assert files
    for path in files:
        head = path.read_text()[:2000]
        fit = yaml.safe_load(path.read_text())
        assert fit["origin"]
        assert fit["command"].startswith("geotts ")
        assert re.search(r"20\d\d-\d\d-\d\d", head)


def test_the_radius_of_the_earth_is_defined_in_one_module_only():
    """Beside those of the authors' code, which is followed as it is."""
    folders = [
        FOLDER,
        *(FOLDER.parent / name for name in ("tools", "deployments", "geotts_client", "geotts_benchmarks")),
    ]
    ours = [path for folder in folders for path in folder.rglob("*.py") if "released" not in path.parts]
    assert [path.name for path in ours if re.search(r"6371|6378\.?1|4007[45]", path.read_text())] == ["geo.py"]


def test_a_distance_that_published_tables_have_is_one_of_theirs():
    rows = [row for name in FILES for row in weights_file(name).weights.values()]
    distances = [row.value for row in rows if "published tables" in getattr(row, "reason", "")]
    assert len(distances) >= 13
    assert set(distances) <= set(TABLE_KM)


def test_the_equator_is_that_of_the_ellipsoid():
    assert pytest.approx(2 * math.pi * 6378.137, abs=1e-6) == EQUATOR_KM


def test_forms_of_number_plates_have_a_source_and_are_for_known_countries(countries):
    forms = plate_forms()
    assert forms.source == "hand-set"
    assert len(forms.reason) >= 20
    assert all(countries.find(code) is not None for one in forms.forms for code in one.countries.split())
    assert {one.nats % 0.5 for one in forms.forms} == {0.0}
    assert all(any(f"<{name}>" in one.form for one in forms.forms) for name in forms.letters)


def test_each_table_of_shares_says_when_and_why_it_was_set_by_hand():
    sources = tables().sources
    for name in ("photo_shares", "wording", "regional"):
        assert isinstance(getattr(sources, name), HandSetTable)


@pytest.mark.parametrize("missing", ["source", "date", "reason"])
def test_a_table_of_shares_without_its_source_is_refused(missing):
    stated = tables().sources.model_dump()
    del stated["wording"][missing]
    with pytest.raises(ValidationError, match=rf"wording\.{missing}"):
        TableSources.model_validate(stated)
