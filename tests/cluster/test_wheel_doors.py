"""What a user does with an installed wheel, outside the checkout: demo, serve with an endpoint, doctor, the client."""

import json
import signal
import subprocess
from pathlib import Path

import httpx
import pytest
from support.endpoint import serving_in_a_thread
from support.ports import free_port
from support.profile_scripts import play_of
from support.wheels import PACKAGES, ROOT, Environment, build_client_wheel, build_main_wheel

PROFILE = "thinking_with_map"
pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("doors")


@pytest.fixture(scope="module")
def client_wheel(folder):
    return build_client_wheel(folder)


@pytest.fixture(scope="module")
def installed(folder, client_wheel, data_store):
    """The project and what it declares to need; nothing of the checkout."""
    return Environment(folder / "env", build_main_wheel(folder), client_wheel)


def reply_patiently(body, number):
    """Answers as the profile does; waits long when the caller says so."""
    steps = play_of(PROFILE)(body, number)
    return [30.0, *steps] if "take your time" in json.dumps(body) else steps


@pytest.fixture(scope="module")
def service(installed, folder):
    """`geotts serve --profile … --endpoint …` from the wheel."""
    port, log = free_port(), folder / "log"
    with serving_in_a_thread(reply_patiently) as endpoint, log.open("w") as stderr:
        command = ("serve", "--profile", PROFILE, "--endpoint", endpoint.url, "--port", str(port))
        with subprocess.Popen(
            [installed.bin / "geotts", *command], cwd=folder, env=installed.variables(), stderr=stderr
        ) as process:
            try:
                while "ready at" not in log.read_text():
                    assert process.poll() is None, log.read_text()
                    _pause()
                yield f"http://127.0.0.1:{port}"
            finally:
                process.send_signal(signal.SIGINT)
                assert process.wait(60) == 0


def _pause():
    subprocess.run(["sleep", "0.2"], check=True)


def test_packages_come_from_the_wheel(installed, folder):
    names = ", ".join([*PACKAGES, "geotts_client"])
    code = f"import {names}; print(*(module.__file__ for module in ({names})))"
    done = installed.run("python", "-c", code, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert all(Path(path).is_relative_to(installed.site_packages) for path in done.stdout.split())


def test_an_undeclared_package_is_not_installed_with_the_wheel(installed, folder):
    assert {"ray", "numpy", "uvicorn"} < installed.installed_names()
    assert not {"pytest", "hypothesis", "redis", "openai"} & installed.installed_names()
    for undeclared in ("pytest", "hypothesis", "redis", "openai"):
        done = installed.run("python", "-c", f"import {undeclared}", cwd=folder)
        assert f"No module named '{undeclared}'" in done.stderr


def test_doctor_explains_a_profile(installed, folder):
    done = installed.run("geotts", "doctor", "--profile", "reverse", "--endpoint", "http://127.0.0.1:9/v1", cwd=folder)
    assert "profile reverse" in done.stdout
    assert "http://127.0.0.1:9/v1: ConnectError" in done.stdout
    assert done.returncode == 1


def test_a_shipped_configuration_is_found_by_name(installed, folder):
    done = installed.run("geotts", "config", "show", "--config", "local", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "rollout:" in done.stdout
    path = installed.run("geotts", "config", "path", "local", cwd=folder).stdout.strip()
    assert Path(path).is_relative_to(installed.site_packages)


def test_the_demo_runs(installed, folder):
    done = installed.run("geotts", "demo", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "Bellinzona" in done.stdout
    assert "Traceback" not in done.stderr


def test_the_installed_client_makes_every_kind_of_call(service, client_wheel, tmp_path):
    environment = Environment(tmp_path / "env", client_wheel)
    photo = ROOT / "tts" / "data" / "samples" / "town-sign-latin.jpg"
    done = environment.run(
        "python", "-W", "error", ROOT / "tests" / "support" / "client_calls.py", service, photo, cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "city": "Hefei",
        "first_and_last": ["accepted", "done"],
        "cancelled": True,
        "erased": True,
        "without_gap": True,
        "connections": 2,
        "left": "cancelled",
        "resumed_at": 4,
    }


def test_the_command_line_locates_a_sample(installed, service, folder):
    """A request through the main package, which uses the client."""
    photo = installed.site_packages / "tts" / "data" / "samples" / "station-chinese.jpg"
    done = installed.run("geotts", "locate", photo, "--url", service, "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["answer"]["city"] == "Hefei"


def test_ray_serves_a_shipped_configuration(installed, folder):
    """`serve run "$(geotts config path local)"`, on another port."""
    port = free_port()
    shipped = Path(installed.run("geotts", "config", "path", "local", cwd=folder).stdout.strip())
    config = folder / "local.yaml"
    config.write_text(shipped.read_text().replace("8000", str(port)))
    environment = {**installed.variables(), "RAY_ADDRESS": "local"}
    command = [installed.bin / "python", "-m", "ray.serve.scripts", "run", config]
    log = folder / "serve-run"
    with log.open("w") as output, subprocess.Popen(command, cwd=folder, env=environment, stderr=output) as process:
        try:
            while not _ready(port):
                assert process.poll() is None, log.read_text()
                _pause()
            photo = installed.site_packages / "tts" / "data" / "samples" / "town-sign-latin.jpg"
            done = installed.run("geotts", "locate", photo, "--url", f"http://127.0.0.1:{port}", "--json", cwd=folder)
            assert done.returncode == 0, done.stderr
            assert json.loads(done.stdout)["answer"]["city"] == "Bellinzona"
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)


def _ready(port):
    try:
        return httpx.get(f"http://127.0.0.1:{port}/readyz", timeout=5).status_code == 200
    except httpx.HTTPError:
        return False
