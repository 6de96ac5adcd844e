"""What `geotts bench abuse` counts: connections that a server leaves open, attacks weaker than they are said to be."""

import asyncio
import socket
import subprocess
import sys
import time
from contextlib import asynccontextmanager, closing

import pytest
from click.testing import CliRunner
from support.service import an_app, idle, serving

from deployments.config import AccessConfig, ConnectionLimits, GatewayConfig
from geotts_benchmarks.attacks import abuse
from geotts_benchmarks.attacks.abuse import Keys, closed_within_s
from geotts_benchmarks.attacks.attack import Attack, AttackOutcome, under_attack
from geotts_benchmarks.attacks.silent_names import SilentNames
from geotts_benchmarks.harness import free_port

pytestmark = pytest.mark.slow


@asynccontextmanager
async def a_server(closes_after_s):
    """A server that reads what comes and closes each connection after so many seconds; None: it never does."""

    async def serve(reader, writer):
        try:
            async with asyncio.timeout(closes_after_s):
                while await reader.read(65536):
                    pass
        except TimeoutError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=256)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def attack_port(port, *attack, during=lambda: None, **more):
    plan = Attack(*attack, **more)
    return plan, await asyncio.to_thread(under_attack, port, plan, during)


async def attacked_in_full(port, kind, count, is_in_full, **more):
    """Attacks that get longer: on a busy machine, the attackers may not be connected before a short one ends."""
    for seconds in (2.0, 8.0, 32.0):
        plan, done = await attack_port(port, kind, count, seconds, **more)
        if is_in_full(done):
            break
    return plan, done


@pytest.mark.parametrize("kind", ["slowloris", "headers", "bodies", "dns"])
async def test_a_server_that_leaves_connections_open_is_found(kind):
    async with a_server(None) as port:
        plan, done = await attacked_in_full(port, kind, 12, lambda done: done.left_open == 12, closed_within_s=2.0)
    assert (done.left_open, done.closed_after_s) == (12, None)
    assert done.problems(plan) == []


async def test_a_server_that_closes_is_reported_with_the_seconds_it_took():
    async with a_server(1.0) as port:
        plan, done = await attacked_in_full(
            port, "slowloris", 12, lambda done: done.strength.get("held") == 12, closed_within_s=5.0
        )
    assert done.left_open == 0
    assert done.closed_after_s < 5.0
    assert done.strength["attackers"] == done.strength["held"] == 12
    assert done.problems(plan) == []


async def test_connections_that_nobody_accepts_count_as_left_open():
    with closing(socket.create_server(("127.0.0.1", 0), backlog=64)) as listener:
        port = listener.getsockname()[1]
        _, done = await attacked_in_full(port, "slowloris", 8, lambda done: done.left_open == 8, closed_within_s=1.0)
    assert done.left_open == 8


async def test_connects_are_counted_by_the_second():
    async with a_server(None) as port:
        _, done = await attacked_in_full(
            port, "connects", 40, lambda done: done.strength.get("per_s", 0.0) > 20, closed_within_s=2.0
        )
    assert 20 < done.strength["per_s"] <= 41
    assert (done.left_open, done.strength["failed"]) == (0, 0)


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        ("slowloris", "slowloris, 8: only 0 attackers were ever connected"),
        ("connects", "connects, 8: only 0 connects a second"),
    ],
)
async def test_an_attack_on_a_closed_port_is_reported_as_too_weak(kind, problem):
    plan, done = await attacked_in_full(free_port(), kind, 8, lambda done: done.strength.get("failed", 0) >= 8)
    assert done.strength["failed"] >= 8
    assert done.problems(plan)[0] == problem


async def test_attackers_with_too_few_file_handles_are_reported_as_too_weak(tmp_path, monkeypatch):
    """They raise their soft limit; the hard one is the end."""
    limited = tmp_path / "python"
    limited.write_text(f'#!/bin/bash\nulimit -Sn 16; ulimit -Hn ${{HARD_FILES}}; exec {sys.executable} "$@"\n')
    limited.chmod(0o755)
    monkeypatch.setattr("geotts_benchmarks.attacks.attack.sys.executable", str(limited))
    async with a_server(None) as port:
        monkeypatch.setenv("HARD_FILES", "256")
        plan, done = await attacked_in_full(port, "slowloris", 60, lambda done: done.strength.get("held") == 60)
        assert done.problems(plan) == []
        monkeypatch.setenv("HARD_FILES", "30")
        plan, done = await attacked_in_full(port, "slowloris", 60, lambda done: done.strength.get("failed", 0) > 0)
    assert len(done.problems(plan)) == 2
    assert done.strength["failed"] > 0


def test_connections_that_the_server_refuses_do_not_make_the_attack_too_weak():
    plan = Attack("slowloris", 5000, 20.0)
    done = AttackOutcome(None, {"attackers": 5000, "held": 4096, "per_s": 800.0, "failed": 0}, 0, 11.0)
    assert done.problems(plan, most=4096) == []
    assert done.problems(plan) == ["slowloris, 5000: only 4096 connections were held at once"]
    assert AttackOutcome(None, {}, 0, None).problems(plan) == ["slowloris, 5000: the attackers ended early"]


async def test_every_silent_name_of_the_attack_is_looked_up(data_store, tmp_path, monkeypatch):
    """With the limits that a key has by default, and a `getaddrinfo` that stands for a silent nameserver."""
    known, looked_up = socket.getaddrinfo, []

    def silent(host, *args, **kwargs):
        if str(host).endswith(".silent.invalid"):
            looked_up.append(host)
            time.sleep(3.0)
            raise socket.gaierror("no answer")
        return known(host, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", silent)
    keys = Keys.create(tmp_path / "keys")
    access = AccessConfig(mode="keys", keys_file=str(keys.path))
    async with serving(an_app(access=access, fetch_timeout_s=2.0)) as (url, gateway):
        port = int(url.rpartition(":")[2])
        _, done = await attacked_in_full(
            port, "dns", 30, lambda _: len(set(looked_up)) >= 30, keys=keys.keys_for_attack("dns"), closed_within_s=7.0
        )
        await idle(gateway)
    assert len(set(looked_up)) >= 30
    assert done.left_open == 0


@pytest.mark.parametrize("kind", ["slowloris", "headers", "bodies"])
async def test_the_gateway_closes_every_connection_of_an_attack_by_its_own_time_limit(data_store, tmp_path, kind):
    keys = Keys.create(tmp_path / "keys")
    access = AccessConfig(mode="keys", keys_file=str(keys.path))
    limits = ConnectionLimits(head_timeout_s=2.0)
    async with serving(an_app(access=access, connections=limits, body_window_s=2.0)) as (url, gateway):
        port = int(url.rpartition(":")[2])
        within_s = closed_within_s(gateway._config)[kind]
        more = {"keys": keys.keys_for_attack(kind), "closed_within_s": within_s}
        _, done = await attacked_in_full(port, kind, 20, lambda done: done.strength.get("attackers") == 20, **more)
        await idle(gateway)
    assert done.left_open == 0
    assert done.strength["attackers"] == 20  # how many were held at once depends on how busy this machine is


def test_the_time_limit_of_heads_and_slow_bodies_is_15_s_by_default():
    limits = closed_within_s(GatewayConfig())
    assert limits["slowloris"] == limits["headers"] == limits["connects"] == limits["bodies"] == 15.0
    assert limits["dns"] == 35.0


def test_silent_names_are_counted_in_the_processes_that_look_them_up():
    program = (
        "import socket, threading, os, time\nthreading.Thread(target=socket.getaddrinfo, args=('a.silent.invalid',"
    )
    program += " 80), daemon=True).start()\ntime.sleep(0.5)\nos._exit(0)"
    with SilentNames() as names:
        assert names.lookup_count() == 0
        subprocess.run([sys.executable, "-c", program], check=True)
        assert names.lookup_count() == 1


def test_a_weak_attack_fails_the_bench_and_its_figures_are_printed_all_the_same(monkeypatch):
    monkeypatch.setattr(abuse, "measure", lambda seconds, *, quick: {"problems": ["connects, 1000: only 9 a second"]})
    result = CliRunner().invoke(abuse.command, [])
    assert result.exit_code == 1
    assert '"problems":["connects, 1000: only 9 a second"]' in result.stdout
    assert "Error: connects, 1000: only 9 a second" in result.stderr


def test_the_help_of_bench_abuse_names_its_approximations():
    words = " ".join(CliRunner().invoke(abuse.command, ["--help"]).output.split())
    for part in ("*:log", "max_page_count", "CLIENT PAUSE", "maxmemory 1", "sleeps 20 s"):
        assert part in words
