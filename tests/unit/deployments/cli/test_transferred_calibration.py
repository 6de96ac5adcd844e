"""An answer says what its radius rests on, and nobody is shown a percentage that was fitted to another engine."""

import io
import json

import pytest
from click.testing import CliRunner
from rich.console import Console
from support.basics import sign_bytes
from support.made_answers import an_answer

from deployments.cli import cli
from deployments.cli.views import answer_panel
from deployments.config import AppArgs
from tts.domain.answer import PhotoAnswer, Radius
from tts.domain.calibration import CalibrationState
from tts.domain.hypothesis import Level
from tts.domain.kind_of_n import FittedKind
from tts.report.sections import headline, per_photo
from tts.verify.consensus.calibration import shipped_calibration
from tts.verify.consensus.calibration_in_use import calibration_in_use
from tts.verify.consensus.installed_calibrations import calibration_key, install

SCRIPTED = ("--set", "engine={name: scripted, turns: 2, tokens_per_turn: 4}", "--set", "routing.method=fixed")
TRANSFERRED = CalibrationState(state="transferred", origin="others", photos=889)
APART = PhotoAnswer(
    photo=0, lat=1.0, lon=2.0, radius_km=Radius(p50=1, p90=9), level=Level.CITY, abstained=False, confidence=0.4
)


@pytest.fixture
def calibrations(tmp_path, monkeypatch):
    monkeypatch.setenv("GEOTTS_CALIBRATIONS", str(tmp_path / "calibrations"))
    return tmp_path / "calibrations"


def panel(answer):
    out = io.StringIO()
    Console(file=out, width=140, highlight=False, color_system=None).print(answer_panel(answer, None))
    return out.getvalue()


@pytest.mark.parametrize("more", [{}, {"per_photo": (APART, APART)}])
def test_a_transferred_radius_is_shown_with_a_remark_and_without_percentages(more):
    more = {**more, "target_radius_km": 0.5}  # below all radii: where these are fitted, a percentage is shown
    answer = an_answer(calibration=TRANSFERRED, **more)
    shown = panel(answer)
    assert "calibration: transferred" in shown
    assert "%" not in shown
    report = str(headline(answer)) + "".join(map(str, per_photo(answer) or ()))
    assert "calibration: transferred" in report
    assert "%" not in report
    fitted = panel(an_answer(calibration=TRANSFERRED.model_copy(update={"state": "fitted"}), **more))
    assert "%" in fitted
    assert "calibration" not in fitted


def locate(folder, *options):
    photo = folder / "photo.jpg"
    photo.write_bytes(sign_bytes("Rue de Rivoli"))
    done = CliRunner().invoke(cli, ["locate", str(photo), *options], standalone_mode=False)
    assert done.exception is None, done.output
    return done


def test_the_embedded_engine_answers_with_its_fitted_calibration(data_store, calibrations, tmp_path):
    answer = json.loads(locate(tmp_path, "--json", "-n", "1").stdout)["answer"]
    assert answer["calibration"]["state"] == "fitted"
    assert answer["calibration"]["photos"] == shipped_calibration("clues").runs


def test_another_engine_says_transferred_until_a_calibration_is_installed(data_store, calibrations, tmp_path):
    before = json.loads(locate(tmp_path, "--json", *SCRIPTED).stdout)["answer"]
    assert before["calibration"]["state"] == "transferred"
    assert "calibration: transferred" in locate(tmp_path, *SCRIPTED).stdout
    made = shipped_calibration("default").model_copy(update={"origin": "mine", "runs": 41})
    args = AppArgs.model_validate({"engine": {"name": "scripted"}})
    path = install(made, args)
    assert path.parent == calibrations
    after = json.loads(locate(tmp_path, "--json", *SCRIPTED).stdout)["answer"]
    fitted = {"state": "fitted", "origin": "mine", "photos": 41, "kind_of_n": "a mixture of models"}
    assert after["calibration"] == fitted
    other_dialect = AppArgs.model_validate({"engine": {"name": "scripted"}, "dialect": "reverse"})
    assert calibration_in_use(other_dialect).state.state == "transferred"
    path.write_text("schema_version: 0\n")
    unread = json.loads(locate(tmp_path, "--json", *SCRIPTED).stdout)["answer"]
    assert unread["calibration"]["state"] == "transferred"


def test_models_endpoints_dialects_and_providers_have_calibrations_of_their_own(calibrations):
    base = {"engine": {"name": "openai", "model": "a/b", "base_url": "http://127.0.0.1:9/v1"}}
    others = [
        {"engine": {**base["engine"], "model": "a/c"}},
        {**base, "dialect": "reverse"},
        {**base, "tools": {"providers": ["osm"]}},
        {"engine": {"name": "openai", "base_url": "http://127.0.0.1:9/v1"}},
        {"engine": {"name": "openai", "base_url": "http://127.0.0.1:10/v1"}},
    ]
    names = [calibration_key(AppArgs.model_validate(tree)).file_name for tree in (base, *others)]
    assert len(set(names)) == len(names)
    moved = {"engine": {**base["engine"], "base_url": "http://elsewhere:9/v1"}}
    assert calibration_key(AppArgs.model_validate(moved)).file_name == names[0]


def test_a_named_calibration_wins_over_an_installed_one(calibrations, tmp_path):
    named = tmp_path / "named.yaml"
    shipped_calibration("default").model_copy(update={"origin": "named"}).write(named)
    args = AppArgs.model_validate({"verifier": {"calibration": str(named)}})
    install(shipped_calibration("default").model_copy(update={"origin": "installed"}), args)
    assert calibration_in_use(args).state.origin == "named"


@pytest.mark.parametrize(("kind", "of_one_model", "of_a_mixture"), [
    (FittedKind.ONE_POLICY, "fitted", "transferred"), (FittedKind.MIXTURE, "transferred", "fitted"),
    (FittedKind.BOTH, "fitted", "fitted"), (FittedKind.NOT_STATED, "fitted", "fitted"),
])  # fmt: skip
def test_a_named_calibration_of_the_other_kind_of_n_is_transferred(kind, of_one_model, of_a_mixture, tmp_path):
    named = tmp_path / "named.yaml"
    shipped_calibration("default").model_copy(update={"kind_of_n": kind}).write(named)
    verifier = {"verifier": {"calibration": str(named)}}
    members = [{"name": name, "engine": {"name": "clues"}} for name in "ab"]
    one, mixture = AppArgs.model_validate(verifier), AppArgs.model_validate({**verifier, "engines": members})
    states = [calibration_in_use(args).state for args in (one, mixture)]
    assert [state.state for state in states] == [of_one_model, of_a_mixture]
    assert {state.kind_of_n for state in states} == {kind}
