import json
import socket

import pytest
from click.testing import CliRunner

from deployments import doctor
from deployments.cli import cli
from deployments.doctor import examine
from tts.config import AppArgs, GatewayConfig
from tts.perception.alphabets import SCRIPT_OF
from tts.perception.tesseract import Installed


@pytest.fixture
def by_what(monkeypatch, data_store):
    def look(**changes):
        return {finding.what: finding for finding in examine(AppArgs(**changes))}

    return look


def test_what_is_there_is_told(by_what):
    found = by_what()
    assert found["Python"].state == "ok"
    assert "ray" in found["packages"].detail
    assert {found[name].state for name in ("gazetteer", "lexicon", "maps")} == {"ok"}
    assert found["engine"].detail.startswith("clues")


def test_what_is_missing_costs_something_and_can_be_mended(by_what, tmp_path, monkeypatch):
    monkeypatch.setattr(doctor, "installed_models", lambda: Installed(None, ("rus",)))
    found = by_what(data_dir=str(tmp_path))
    for what in ("gazetteer", "maps", "Tesseract models"):
        assert found[what].state == "missing"
        assert found[what].cost
        assert found[what].mend
    assert "tesseract-ocr-kor" in found["Tesseract models"].mend
    assert "tesseract-ocr-rus" not in found["Tesseract models"].mend


def test_a_port_in_use_is_a_problem(by_what):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert by_what(gateway=GatewayConfig(port=min(port, 65534)))[f"port {port}"].state == "problem"


def test_as_json_with_an_exit_code(data_store):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    if port > 65000:
        pytest.skip("this run's free port has no neighbour")
    done = CliRunner().invoke(cli, ["doctor", "--json", "--set", f"gateway.port={port}"], standalone_mode=False)
    findings = json.loads(done.stdout)
    assert {"what", "state", "detail", "cost", "mend"} == set(findings[0])
    assert done.return_value == int(any(finding["state"] == "problem" for finding in findings))


def test_the_script_that_installs_system_packages_knows_every_model():
    from pathlib import Path

    script = Path(__file__).parents[2] / "scripts" / "system-packages"
    (line,) = [line for line in script.read_text().splitlines() if line.startswith("codes=")]
    assert line.removeprefix("codes=").strip('"').split() == list(SCRIPT_OF)
