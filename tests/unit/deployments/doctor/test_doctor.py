import json
import socket

import pytest
from click.testing import CliRunner
from support.ports import free_port

from deployments.cli import cli
from deployments.config import AppArgs, GatewayConfig
from deployments.doctor import installation as doctor
from deployments.doctor.installation import check_installation
from deployments.sizing.gpu_plan import Gpus
from tts.config import ToolsConfig
from tts.perception.alphabets import SCRIPT_OF
from tts.perception.tesseract import InstalledModels


@pytest.fixture
def by_what(monkeypatch, data_store):
    def look(**changes):
        return {finding.what: finding for finding in check_installation(AppArgs(**changes))}

    return look


def test_the_doctor_reports_what_is_installed(by_what):
    found = by_what()
    assert found["Python"].state == "ok"
    assert "ray" in found["packages"].detail
    assert {found[name].state for name in ("gazetteer", "lexicon", "maps")} == {"ok"}
    assert found["engine"].detail.startswith("clues")


@pytest.mark.parametrize(("gone", "state"), [((), "missing"), (("ray._private.worker:shutdown",), "problem")])
def test_another_version_of_ray_is_reported_with_the_internals_that_it_lacks(by_what, monkeypatch, gone, state):
    assert "internals" not in by_what()
    monkeypatch.setattr(doctor, "other_versions", lambda: iter(["ray 2.61.0"]))
    monkeypatch.setattr(doctor, "missing_names", lambda: iter(gone))
    finding = by_what()["internals"]
    assert (finding.state, finding.mend) == (state, "use ray 2.60, uvicorn 0.54")
    assert all(name in finding.detail for name in ("ray 2.61.0", *gone))


def test_the_doctor_states_the_effect_and_the_remedy_of_missing_data(by_what, tmp_path, monkeypatch):
    monkeypatch.setattr(doctor, "installed_models", lambda: InstalledModels(None, ("rus",)))
    found = by_what(data_dir=str(tmp_path))
    for what in ("gazetteer", "maps", "Tesseract models"):
        assert found[what].state == "missing"
        assert found[what].cost
        assert found[what].mend
    assert "tesseract-ocr-kor" in found["Tesseract models"].mend
    assert "tesseract-ocr-rus" not in found["Tesseract models"].mend


def test_missing_data_is_reported_with_the_command_that_builds_it(by_what, tmp_path):
    found = by_what(data_dir=str(tmp_path))["gazetteer"]
    assert (found.cost, found.mend) == (
        "nothing can be looked up until it is built",
        "run `geotts data build`; `geotts locate` and `geotts serve` build it by themselves",
    )


def test_a_port_in_use_is_a_problem(by_what):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert by_what(gateway=GatewayConfig(port=min(port, 65534)))[f"port {port}"].state == "problem"


def test_findings_are_printed_as_json_with_an_exit_code(data_store):
    done = CliRunner().invoke(cli, ["doctor", "--json", "--set", f"gateway.port={free_port()}"], standalone_mode=False)
    findings = json.loads(done.stdout)
    assert {"what", "state", "detail", "cost", "mend"} == set(findings[0])
    assert done.return_value == int(any(finding["state"] == "problem" for finding in findings))


def test_the_script_that_installs_system_packages_knows_every_model():
    from pathlib import Path

    script = Path(__file__).parents[4] / "scripts" / "system-packages"
    (line,) = [line for line in script.read_text().splitlines() if line.startswith("codes=")]
    assert line.removeprefix("codes=").strip('"').split() == list(SCRIPT_OF)


def test_the_doctor_explains_a_profile_without_a_model(data_store):
    """As the documentation shows it. Such a service does not start, so the exit code is 1."""
    done = CliRunner().invoke(
        cli, ["doctor", "--profile", "reverse", "--set", f"gateway.port={free_port()}"], standalone_mode=False
    )
    assert done.return_value == 1
    assert "✗ engine  vllm: no model is named" in done.output
    assert "    means: the service does not start" in done.output
    assert "profile reverse" in done.output


@pytest.mark.parametrize(
    ("tools", "state", "words"),
    [
        ({"region_search": {}}, "off", "parts of photos may not leave"),
        ({"region_search": {"allowed": True}}, "ok", "fetched from https://photos.example"),
        (
            {"region_search": {"allowed": True, "upload": {"kind": "store", "put_url": "https://s.example/{name}"}}},
            "ok",
            "nothing is hidden in them",
        ),
        (
            {"region_search": {"allowed": True, "blur": {"model": "/nowhere/faces.onnx"}}},
            "problem",
            "/nowhere/faces.onnx",
        ),
        ({"region_search": {"allowed": True}, "providers": ["tape", "serper_lens"]}, "off", "the tape answers"),
    ],
)
def test_the_doctor_says_whether_parts_of_photos_are_sent_out(by_what, tools, state, words):
    gateway = GatewayConfig(public_url="https://photos.example")
    found = by_what(tools=ToolsConfig(**{"providers": ["serper_lens", "offline"], **tools}), gateway=gateway)
    finding = found["region search serper_lens"]
    assert finding.state == state
    assert words in finding.detail
    assert bool(finding.mend) == (state != "ok")


def test_a_key_that_serves_two_providers_is_unused_only_when_neither_is_named(by_what, monkeypatch):
    for variable in ("SERPER_API_KEY", "SERPAPI_API_KEY", "GOOGLE_VISION_API_KEY"):
        monkeypatch.setenv(variable, "a-key")
    found = by_what()
    assert found["provider serper"].mend == "--providers serper"
    for name in ("google_vision", "serpapi_lens"):
        assert found[f"provider {name}"].mend == f"--providers {name} and tools.region_search.allowed: true"
    for used in ("serper", "serper_lens"):
        found = by_what(tools=ToolsConfig(providers=(used,)))
        assert {"provider serper", "provider serper_lens"} & set(found) == set()


def test_a_key_of_a_map_service_that_nothing_uses_is_named_with_the_flag(data_store):
    """By the command: with a profile that needs live maps, and none of them configured."""
    command = ["doctor", "--json", "--profile", "thinking_with_map", "--set", f"gateway.port={free_port()}"]
    keys = {"GOOGLE_MAPS_API_KEY": "a-key", "AMAP_API_KEY": "another"}

    def states(*more):
        done = CliRunner().invoke(cli, [*command, *more], standalone_mode=False, env=keys)
        return {found["what"]: found for found in json.loads(done.stdout)}

    found = states()
    for name, variable in (("google", "GOOGLE_MAPS_API_KEY"), ("amap", "AMAP_API_KEY")):
        finding = found[f"provider {name}"]
        assert (finding["state"], finding["mend"]) == ("off", f"--providers {name}")
        assert f"${variable} is set, but nothing uses it" in finding["detail"]
    assert "provider google" not in states("--providers", "google,amap")
    assert "provider amap" in states("--providers", "google")


def test_the_gpus_of_the_machine_are_counted_and_measured(by_what, monkeypatch):
    monkeypatch.setattr(doctor, "found_gpus", lambda: Gpus(count=2, memory_gb=85.5))
    assert by_what()["GPU"].detail == "2 x 85.5 GB"
    monkeypatch.setattr(doctor, "found_gpus", lambda: None)
    assert by_what()["GPU"].state == "off"
