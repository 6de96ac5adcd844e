"""`geotts serve` as a user starts it: a command of its own, with a profile and an endpoint, until Ctrl-C."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

import httpx
import psutil
import pytest
from support.endpoint import Endpoint, serving_in_a_thread
from support.ports import free_port
from support.process_family import assert_nothing_left, family_of
from support.profile_scripts import HEFEI, play_of, verifies

from deployments.config import AppArgs, GatewayConfig
from deployments.launch.cluster import serve_configuration
from tts.config import ToolsConfig
from tts.domain.geo import LatLon, distance_km
from tts.errors import FatalError
from tts.package_files import SAMPLES

ROOT = Path(__file__).parents[2]
PROFILE = "thinking_with_map"
PHOTO = SAMPLES / "town-sign-latin.jpg"
pytestmark = [pytest.mark.cluster, pytest.mark.timeout(400)]


@dataclass
class Running:
    url: str
    process: subprocess.Popen
    log: Path
    endpoint: Endpoint


def geotts(*arguments, **how):
    """The command in a process of its own."""
    command = [sys.executable, "-c", "from deployments.cli import main; main()", *arguments]
    return subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, **how)


def wait_until_logged(words, process, log, seconds=180):
    give_up = time.monotonic() + seconds
    while words not in log.read_text():
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < give_up, log.read_text()
        time.sleep(0.1)


@pytest.fixture(scope="module")
def running(tmp_path_factory, data_store):
    log = tmp_path_factory.mktemp("cli") / "stderr"
    port = free_port()
    with serving_in_a_thread(play_of(PROFILE)) as endpoint, log.open("w") as stderr:
        service = ("serve", "--profile", PROFILE, "--endpoint", endpoint.url, "--port", str(port))
        with geotts(*service, stdout=subprocess.PIPE, stderr=stderr) as process:
            try:
                wait_until_logged("ready at", process, log)
                yield Running(f"http://127.0.0.1:{port}", process, log, endpoint)
            finally:
                if process.poll() is None:
                    process.send_signal(signal.SIGINT)
                    process.wait(120)


def test_a_photo_is_located_by_the_model_of_the_profile(running):
    reply = httpx.post(f"{running.url}/locate", files={"image": PHOTO.read_bytes()}, data={"depth": "deep"}, timeout=60)
    answer = reply.json()["answer"]
    assert distance_km(LatLon(lat=answer["lat"], lon=answer["lon"]), HEFEI) < 5
    assert answer["provenance"]["dialect"] == PROFILE
    assert answer["n"]["answered"] == 4
    rollouts = [body for body in running.endpoint.bodies if not verifies(body)]
    assert len(running.endpoint.bodies) == len(rollouts) + 1  # the published verifier's
    assert {(body["temperature"], body["top_k"], body["tool_choice"]) for body in rollouts} == {(1.0, 60, "none")}


EXAMPLES = {
    "locate_stream.py": ([PHOTO], "Hefei China: "),
    "locate_folder.py": ([PHOTO.parent], '{"photo": "town-sign-latin.jpg", "status": "done", "lat": 31.8'),
    "openai_client.py": ([PHOTO], "\n\nHefei, Anhui, China: 31.8"),
}


def test_the_list_of_tested_examples_is_complete():
    assert set(EXAMPLES) == {path.name for path in (ROOT / "examples").glob("*.py")}


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_each_example_script_prints_its_expected_output_against_the_service(running, name):
    given, wanted = EXAMPLES[name]
    done = subprocess.run(
        [sys.executable, "-W", "error", ROOT / "examples" / name, *given, running.url],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert wanted in done.stdout
    if name == "locate_folder.py":
        assert len(done.stdout.splitlines()) == len(list(PHOTO.parent.glob("*.jpg")))


def test_every_socket_of_the_whole_family_listens_on_loopback(running):
    """Ray's ports authenticate nobody worth the name: whoever reaches them runs code."""
    family = {process.pid: process.name() for process in family_of(running.process)}
    listening = {
        (str(family[found.pid]), found.laddr.ip, found.laddr.port)
        for found in psutil.net_connections("inet")
        if found.status == psutil.CONN_LISTEN and found.pid in family
    }
    assert {port for _, _, port in listening} > {httpx.URL(running.url).port}
    assert len(family) > 10
    assert not [found for found in listening if not _is_loopback(found[1])]


def _is_loopback(address):
    parsed = ip_address(address)
    return (getattr(parsed, "ipv4_mapped", None) or parsed).is_loopback


def test_a_second_service_on_the_same_port_is_refused_at_once(running):
    """The port is taken: one line, what to do, exit code 2."""
    second = geotts("serve", "--port", str(httpx.URL(running.url).port), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = second.communicate(timeout=120)
    assert (second.returncode, out) == (2, b"")
    *plan, refusal = err.decode().splitlines()
    assert "is taken" in refusal
    assert "--port" in refusal
    assert [line for line in plan if ": " not in line] == []


def test_ctrl_c_ends_geotts_serve_and_all_its_processes_quietly(running):
    family = family_of(running.process)
    running.process.send_signal(signal.SIGINT)
    assert running.process.wait(120) == 0
    assert_nothing_left(family)
    lines = running.log.read_text().splitlines()
    begun = lines[lines.index("starting …") :]
    assert [line.split()[0] for line in begun] == ["starting", "ready", "open", "curl", "stopping"]
    assert running.process.stdout.read() == b""


def test_a_deployment_that_does_not_start_is_reported_with_its_reason_in_one_line(data_store):
    """A provider without its key is found in the replica; the command still names it in one line."""
    args = AppArgs(tools=ToolsConfig(providers=("offline", "amap")), gateway=GatewayConfig(port=free_port()))
    with pytest.raises(FatalError, match=r"did not come up: Tools: .*AMAP") as refused, serve_configuration(args):
        pass
    assert "\n" not in refused.value.detail
