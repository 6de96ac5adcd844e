"""`geotts serve` from its start to its end: stopped early, at work and under clients, killed, and with a dead Ray."""

import os
import signal
import sqlite3
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import httpx
import psutil
import pytest
from support.asking_clients import AskingClients
from support.basics import ROOT, sign_bytes
from support.ports import free_port
from support.process_family import assert_nothing_left, family_of
from support.ray_nodes import tool

CONFIG = """
config_version: 1
engine: { name: scripted, turns: 2, tokens_per_turn: 8, turn_s: 2.0 }
routing: { method: fixed }
colocate: true
"""
pytestmark = [pytest.mark.cluster, pytest.mark.timeout(420)]


@contextmanager
def geotts_serve(folder, port, *more, config_text=CONFIG, token=""):
    """The command with slow scripted rollouts, what it said so far, and a list for its processes, killed at the end.

    It runs for a user who never had a token of Ray, or who has this one where Ray looks for it, and nothing else in
    that folder; so it is afterwards.
    """
    config, log, home = folder / "config.yaml", folder / f"log-{time.monotonic_ns()}", folder / "home"
    config.write_text(config_text)
    home.mkdir(exist_ok=True)
    before = {home / ".ray" / "auth_token": token} if token else {}
    for path in before:
        path.parent.mkdir()
        path.write_text(token)
    command = [tool("geotts"), "serve", "--config", config, "--port", str(port), *more]
    environment = at_home(home)
    with log.open("w") as out, subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=out, env=environment) as process:
        family: list[psutil.Process] = []
        try:
            yield process, log, family
            assert {path: path.read_text() for path in (home / ".ray").rglob("*")} == before
        finally:
            process.kill()
            for member in family:
                if member.is_running():
                    member.kill()


def at_home(home, **more):
    """The environment of a user with this home folder, without what the tests set for Ray."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    return {**kept, "HOME": str(home), "XDG_CACHE_HOME": str(cache_folder()), **more}


def cache_folder():
    """Where the built data are, also for a command with another home folder."""
    return os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"


def wait_until_logged(words, process, log, seconds=150):
    give_up = time.monotonic() + seconds
    while words not in log.read_text():
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < give_up, log.read_text()
        time.sleep(0.1)


def lines_from_the_start_on(log):
    """What was said after the plan of what is served."""
    lines = [line for line in log.read_text().splitlines() if line]
    return lines[lines.index("starting …") :]


def locate(url):
    return httpx.post(
        f"{url}/locate", files={"image": sign_bytes("Rue de Rivoli")}, data={"depth": "deep"}, timeout=120
    )


def in_flight(url):
    metrics = httpx.get(f"{url}/metrics", timeout=10).text
    return any(
        line.startswith('geotts_in_flight{state="working"') and float(line.split()[-1]) > 0
        for line in metrics.splitlines()
    )


@pytest.mark.parametrize(
    ("number", "processes"), [(signal.SIGTERM, 2), (signal.SIGTERM, 4), (signal.SIGTERM, 8), (signal.SIGINT, 4)]
)
def test_geotts_serve_stopped_while_it_starts_ends_with_0_and_leaves_no_process(
    tmp_path, data_store, number, processes
):
    """Ray's own handlers for SIGTERM would end it with 1 or 134 and a stack. With 2 processes the control process of
    Ray starts, with 4 the raylet does, with 8 Serve does."""
    with geotts_serve(tmp_path, free_port()) as (process, log, family):
        wait_until_logged("starting", process, log)
        while len(found := family_of(process)) < processes:
            time.sleep(0.02)
        family.extend(found)
        process.send_signal(number)
        assert process.wait(120) == 0, log.read_text()
        assert lines_from_the_start_on(log) == ["starting …", "stopping …"]
        assert_nothing_left(family)


def test_a_start_warns_at_once_of_an_endpoint_that_does_not_answer(tmp_path, data_store):
    endpoint = f"http://127.0.0.1:{free_port()}/v1"
    with geotts_serve(tmp_path, free_port(), "--endpoint", endpoint, "--model", "m") as (process, log, family):
        wait_until_logged("starting", process, log)
        family.extend(family_of(process))
        warned, _, _ = log.read_text().partition("starting …")
        assert endpoint in warned
        assert "To fix it: start it" in " ".join(warned.split())
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0, log.read_text()


def test_geotts_serve_drains_on_a_stop_frees_its_port_and_ends_with_a_dead_raylet(tmp_path, data_store):
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with ExitStack() as stack, geotts_serve(tmp_path, port) as (process, log, family), ThreadPoolExecutor() as threads:
        clients = [stack.enter_context(httpx.Client()) for _ in range(20)]
        wait_until_logged("ready at", process, log)
        family.extend(family_of(process))
        for client in clients:
            assert client.get(f"{url}/healthz").status_code == 200
        reply = threads.submit(locate, url)
        while not in_flight(url):
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        assert reply.result().status_code == 200
        assert process.wait(120) == 0, log.read_text()
        assert "***" not in log.read_text()
        assert_nothing_left(family)
        other = tmp_path / "other"
        other.mkdir()
        assert_a_dead_raylet_ends_it(other, port)


def assert_a_dead_raylet_ends_it(folder, port):
    """Started at once on the port of a service that was stopped under clients, by a user who has a token of Ray."""
    with geotts_serve(folder, port, token="the-token-of-a-user") as (process, log, family):
        wait_until_logged("ready at", process, log)
        family.extend(family_of(process))
        assert_only_the_users_token_opens_ray(folder / "home", family)
        next(found for found in family if found.name() == "raylet").kill()
        died = time.monotonic()
        assert process.wait(60) == 1, log.read_text()
        assert time.monotonic() - died < 20
        assert "the Ray cluster under the service died: the raylet" in log.read_text()
        assert_nothing_left(family)


def assert_only_the_users_token_opens_ray(home, family):
    """That of `~/.ray/auth_token`, which Ray's own commands find there as well."""
    raylet = next(found for found in family if found.name() == "raylet").cmdline()
    (address,) = (word.partition("=")[2] for word in raylet if word.startswith("--gcs-address="))

    def status(**more):
        command = [tool("ray"), "status", f"--address={address}"]
        environment = at_home(home, RAY_AUTH_MODE="token", RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="0", **more)  # on loopback
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)

    found = status()
    assert (found.returncode, found.stdout.count("node_")) == (0, 1), found.stderr
    refused = status(RAY_AUTH_TOKEN="the-token-of-somebody-else")
    assert refused.returncode != 0
    assert "token" in refused.stderr.lower()


def test_a_killed_service_starts_again_at_once_while_clients_keep_asking(tmp_path, data_store):
    """Nothing is cleaned up by hand between `kill -9` and the next start, and the run store is the same file."""
    port, store = free_port(), tmp_path / "state" / "runs.sqlite"
    config = f"{CONFIG}gateway: {{ run_store: 'sqlite:///{store}' }}\n"
    started = time.monotonic()
    with ExitStack() as stack, AskingClients(f"http://127.0.0.1:{port}", 20) as clients:
        with geotts_serve(tmp_path, port, config_text=config) as (process, log, _):
            wait_until_logged("ready at", process, log)
            cold_s = time.monotonic() - started
            first = family_of(process)
            stack.callback(kill_those_left, first)
            # Ray's agents may notice later than the rest; they hold neither port nor store
            serving = [member for member in first if not member.name().endswith("Agent")]
            clients.start()
            clients.wait_for_one_more_answer_each()
            process.kill()
            killed = time.monotonic()
        with geotts_serve(tmp_path, port, config_text=config) as (process, log, family):
            wait_until_logged("ready at", process, log)
            family.extend(family_of(process))
            assert time.monotonic() - killed < 2 * cold_s + 20, log.read_text()
            assert_nothing_left(serving)
            clients.wait_for_one_more_answer_each()
            clients.stop()
            process.send_signal(signal.SIGTERM)
            assert process.wait(120) == 0, log.read_text()
    assert clients.errors <= {"unreachable", "gateway-lost", "rollouts-failed", "overloaded", "store-unavailable"}
    assert "gateway-lost" in clients.errors, "the service was killed while nobody was being answered"
    assert {len(ids) for ids in clients.requests_of_key.values()} == {1}
    with closing(sqlite3.connect(store)) as db:
        twice = "SELECT meta ->> 'claim' AS key, count(*) FROM runs GROUP BY key HAVING key <> '' AND count(*) > 1"
        assert db.execute(twice).fetchall() == []
        ends = "SELECT request_id, kind, count(*) FROM events WHERE kind IN ('answer', 'done') GROUP BY 1, 2"
        assert {count for _, _, count in db.execute(ends)} == {1}
        assert db.execute("SELECT count(*) FROM runs WHERE NOT closed").fetchone() == (0,)


def kill_those_left(family):
    for member in family:
        if member.is_running():
            member.kill()
