"""`geotts serve` as a user starts it: a command of its own, with a profile and an endpoint, until Ctrl-C."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

import httpx
import psutil
import pytest
from endpoint import Endpoint
from endpoint import serving as an_endpoint
from plays import HEFEI, play_of

from deployments.bench.harness import free_port
from deployments.cluster import served
from tts.config import AppArgs, GatewayConfig, ToolsConfig
from tts.domain.geo import LatLon, distance_km
from tts.errors import FatalError

ROOT = Path(__file__).parents[2]
PROFILE = "thinking_with_map"
PHOTO = ROOT / "examples" / "town-sign-latin.jpg"
pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240)]


@dataclass
class Running:
    url: str
    process: subprocess.Popen
    said: Path
    endpoint: Endpoint

    def family(self):
        root = psutil.Process(self.process.pid)
        return [root, *root.children(recursive=True)]


@contextmanager
def endpoint_in_a_thread():
    """The endpoint of a profile while tests do other things."""
    loop, started, stop, found = asyncio.new_event_loop(), threading.Event(), asyncio.Event(), []

    async def run():
        async with an_endpoint(play_of(PROFILE)) as endpoint:
            found.append(endpoint)
            started.set()
            await stop.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(run(),))
    thread.start()
    assert started.wait(10)
    yield found[0]
    loop.call_soon_threadsafe(stop.set)
    thread.join()
    loop.close()


def geotts(*arguments, **how):
    """The command in a process of its own."""
    command = [sys.executable, "-c", "from deployments.cli import main; main()", *arguments]
    return subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, **how)


def wait_until_said(words, process, said):
    while words not in said.read_text():
        assert process.poll() is None, said.read_text()
        threading.Event().wait(0.1)


@pytest.fixture(scope="module")
def running(tmp_path_factory, data_store):
    said = tmp_path_factory.mktemp("cli") / "stderr"
    port = free_port()
    with endpoint_in_a_thread() as endpoint, said.open("w") as stderr:
        service = ("serve", "--profile", PROFILE, "--endpoint", endpoint.url, "--port", str(port))
        with geotts(*service, stdout=subprocess.PIPE, stderr=stderr) as process:
            try:
                wait_until_said("ready at", process, said)
                yield Running(f"http://127.0.0.1:{port}", process, said, endpoint)
            finally:
                if process.poll() is None:
                    process.send_signal(signal.SIGINT)
                    process.wait(60)


def test_a_photo_is_located_by_the_model_of_the_profile(running):
    reply = httpx.post(f"{running.url}/locate", files={"image": PHOTO.read_bytes()}, data={"depth": "deep"}, timeout=60)
    answer = reply.json()["answer"]
    assert distance_km(LatLon(lat=answer["lat"], lon=answer["lon"]), HEFEI) < 5
    assert answer["provenance"]["dialect"] == PROFILE
    assert answer["n"]["answered"] == 4
    assert {(body["temperature"], body["top_k"], body["tool_choice"]) for body in running.endpoint.bodies} == {
        (1.0, 60, "none")
    }


EXAMPLES = {
    "locate_stream.py": ([PHOTO], "Hefei China: "),
    "locate_folder.py": ([PHOTO.parent], '{"photo": "town-sign-latin.jpg", "status": "done", "lat": 31.8'),
    "openai_client.py": ([PHOTO], "\n\nHefei China: 31.8"),
}


def test_every_example_is_run():
    assert set(EXAMPLES) == {path.name for path in (ROOT / "examples").glob("*.py")}


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_an_example_does_what_it_says(running, name):
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
    family = {process.pid: process.name() for process in running.family()}
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


def test_a_second_service_beside_it_is_told_what_is_wrong_at_once(running):
    """The port is taken: one line, what to do, exit code 2."""
    second = geotts("serve", "--port", str(httpx.URL(running.url).port), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, said = second.communicate(timeout=60)
    assert (second.returncode, out) == (2, b"")
    assert b"is taken" in said
    assert b"--port" in said
    assert len(said.splitlines()) == 1


def test_ctrl_c_ends_everything_quietly(running):
    family = running.family()
    running.process.send_signal(signal.SIGINT)
    assert running.process.wait(60) == 0
    _, alive = psutil.wait_procs(family, timeout=10)
    assert not [process.name() for process in alive if process.status() != psutil.STATUS_ZOMBIE]
    said = running.said.read_text().splitlines()
    assert [line.split()[0] for line in said] == ["starting", "ready", "open", "curl", "stopping"]
    assert running.process.stdout.read() == b""


def test_ctrl_c_while_it_starts_is_heard_at_once(tmp_path, data_store):
    said = tmp_path / "stderr"
    with said.open("w") as stderr, geotts("serve", "--port", str(free_port()), stderr=stderr) as process:
        wait_until_said("starting", process, said)
        while len(family := [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]) < 4:
            threading.Event().wait(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    _, alive = psutil.wait_procs(family, timeout=10)
    assert not [found.name() for found in alive if found.status() != psutil.STATUS_ZOMBIE]
    assert [line for line in said.read_text().splitlines() if line] == [
        "starting …",
        "stopping …",
        "geotts: interrupted",
    ]


def test_a_deployment_that_does_not_come_up_says_why(data_store):
    """A provider without its key is found in the replica; the command still names it in one line."""
    args = AppArgs(tools=ToolsConfig(providers=("offline", "amap")), gateway=GatewayConfig(port=free_port()))
    with pytest.raises(FatalError, match=r"did not come up: Tools: .*AMAP") as refused, served(args):
        pass
    assert "\n" not in refused.value.detail
