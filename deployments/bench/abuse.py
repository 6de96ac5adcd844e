"""`geotts bench abuse`: what attackers on the wire, and stores that fail, do to everybody else.

Callers send photos to an engine of 200 ms while each attack runs; the same attack runs on a listener that does nothing
(`null_listener`). Their ratio is what the service adds to the harm; it is quoted with the milliseconds it is made of.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import click
import httpx
import psutil

from deployments.access import fingerprint, new_key
from deployments.bench import failing_stores
from deployments.bench.fanout import plain_photo
from deployments.bench.harness import Result, free_port, gone_is_fine, percentile, report, say
from deployments.cluster import served
from tts.config import AccessConfig, AppArgs, GatewayConfig, RoutingConfig, ScriptedEngine
from tts.geodata.store import DataStore

_ENGINE_S = 0.2
_CALLERS = 4
_LEFT_S = 15.0
_ATTACKERS = "deployments.bench.attackers"
_KEPT_ALIVE = 20
# kind → connections, or connections a second
_COUNTS = {"headers": 16, "slowloris": 5000, "dns": 30, "bodies": 64, "connects": 1000}
_QUICK_COUNTS = {"headers": 8, "slowloris": 1000, "dns": 30, "bodies": 64, "connects": 300}
# stands for a nameserver that keeps silent: the lookup holds its thread as long as the system's would
_SILENT_NAMES = """
import socket, time
_known = socket.getaddrinfo
def getaddrinfo(host, *args, **kwargs):
    if str(host).endswith(".silent.invalid"):
        time.sleep(20)
        raise socket.gaierror("no answer")
    return _known(host, *args, **kwargs)
socket.getaddrinfo = getaddrinfo
"""


@click.command()
@click.option("--seconds", type=click.FloatRange(3), default=20.0, show_default=True, help="Of each attack.")
@click.option("--quick", is_flag=True, help="Attacks of 2 s from fewer connections, two ways for a store to fail.")
def command(seconds: float, quick: bool) -> None:
    """Slowloris, endless headers, silent names, slow bodies and floods of connections, while others ask for answers;
    then run stores that lose, refuse and freeze."""
    report("abuse", lambda: measure(2.0 if quick else seconds, quick=quick))


def measure(seconds: float, *, quick: bool) -> Result:
    counts = _QUICK_COUNTS if quick else _COUNTS
    null = _null(counts, seconds)
    attacked = _service(counts, seconds, left_s=0.0 if quick else _LEFT_S)
    ratio = {kind: round(attacked["p95_ms"][kind] / null[kind], 2) for kind in counts}
    stores = asyncio.run(failing_stores.measure(4 if quick else 10, quick=quick))
    restart = {} if quick else {"restart_extra_s": restart_extra_s()}
    return {"ratio": ratio, "null_p95_ms": null, **attacked, **restart, **stores}


def _null(counts: dict[str, int], seconds: float) -> dict[str, float]:
    port = free_port()
    command = [sys.executable, "-m", "deployments.bench.null_listener", str(port), str(_ENGINE_S)]
    with subprocess.Popen(command) as listener:
        try:
            _wait_for(port)
            return {kind: _attacked(port, kind, counts, seconds, "none", "none") for kind in counts}
        finally:
            listener.terminate()


def _service(counts: dict[str, int], seconds: float, *, left_s: float) -> Result:
    attacker, caller = new_key(), new_key()
    with _silent_names() as folder, tempfile.TemporaryDirectory() as keys:
        path = Path(keys) / "keys"
        path.write_text(f"attacker {fingerprint(attacker)} - 2\ncaller {fingerprint(caller)}\n")
        args = AppArgs(
            engine=ScriptedEngine(turns=1, tokens_per_turn=16, turn_s=_ENGINE_S, tool=None),
            routing=RoutingConfig(method="fixed"),
            gateway=GatewayConfig(port=free_port(), access=AccessConfig(mode="keys", keys_file=str(path))),
        )
        DataStore(args.data_dir).ensure()
        with served(args) as service:
            port = args.gateway.port
            _calls(port, caller, time.monotonic() + 2.0)
            calm = _p95_ms(_calls(port, caller, time.monotonic() + max(2.0, seconds / 2)))
            say(f"calm: p95 {calm:.0f} ms (ready after {service.ready_s:.0f} s)")
            before_mb = _service_mb()
            p95, most_mb, left = {}, before_mb, {}
            for kind in counts:
                with _memory() as seen:
                    p95[kind] = _attacked(port, kind, counts, seconds, attacker, caller)
                most_mb = max(most_mb, *seen) if seen else most_mb
                time.sleep(left_s)
                left[kind] = _open_at(port) if left_s else 0
            if not left_s:
                time.sleep(3.0)
                left["all"] = _open_at(port)
    assert folder
    return {
        "calm_p95_ms": round(calm, 1),
        "p95_ms": p95,
        "memory_mb": round(most_mb - before_mb, 1),
        "open_after": max(left.values()),
    }


def restart_extra_s() -> float:
    """Seconds by which a start on a port that clients kept connections to takes longer than one on a fresh port."""
    args = AppArgs(
        engine=ScriptedEngine(turns=1, turn_s=0.0, tool=None),
        routing=RoutingConfig(method="fixed"),
        gateway=GatewayConfig(port=free_port()),
    )
    kept = [HTTPConnection("127.0.0.1", args.gateway.port, timeout=10.0) for _ in range(_KEPT_ALIVE)]
    ready = []
    for connections in (kept, ()):
        started = time.monotonic()
        with served(args):
            while not _answers(args.gateway.port):
                time.sleep(0.05)
            ready.append(time.monotonic() - started)
            for connection in connections:
                connection.request("GET", "/healthz")
                connection.getresponse().read()
    for connection in kept:
        connection.close()
    say(f"ready after {ready[0]:.1f} s, and {ready[1]:.1f} s on the same port with {_KEPT_ALIVE} clients")
    return round(ready[1] - ready[0], 2)


def _attacked(port: int, kind: str, counts: dict[str, int], seconds: float, attacker: str, caller: str) -> float:
    """95th percentile of other callers' milliseconds while an attack runs."""
    command = [sys.executable, "-m", _ATTACKERS, kind]
    command += [str(port), str(counts[kind]), str(seconds + 1.0), attacker]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as attack:
        try:
            time.sleep(1.0)
            p95 = _p95_ms(_calls(port, caller, time.monotonic() + seconds))
        finally:
            attack.kill()
    say(f"{kind}, {counts[kind]}: p95 {p95:.0f} ms")
    return round(p95, 1)


def _calls(port: int, key: str, until: float) -> list[float]:
    """Seconds of each call by callers side by side; one that fails counts as long as a caller waits."""
    form = httpx.Request(
        "POST", "http://x/locate", files={"image": plain_photo(320, 240)}, data={"n_parallel": "1", "depth": "direct"}
    )
    body, headers = form.read(), {"Content-Type": form.headers["Content-Type"], "Authorization": f"Bearer {key}"}

    def caller(_: int) -> list[float]:
        walls = []
        while time.monotonic() < until:
            started = time.perf_counter()
            walls.append(10.0)
            try:
                with closing(HTTPConnection("127.0.0.1", port, timeout=10.0)) as connection:
                    connection.request("POST", "/locate", body=body, headers=headers)
                    reply = connection.getresponse()
                    reply.read()
                    if reply.status == httpx.codes.OK:
                        walls[-1] = time.perf_counter() - started
            except (OSError, HTTPException):
                time.sleep(0.1)
        return walls

    with ThreadPoolExecutor(_CALLERS) as pool:
        return [wall for walls in pool.map(caller, range(_CALLERS)) for wall in walls]


def _p95_ms(walls: list[float]) -> float:
    return percentile(walls, 0.95) * 1e3


@contextmanager
def _memory() -> Iterator[list[float]]:
    """Megabytes of the service, looked at every two seconds."""
    seen: list[float] = []
    over = threading.Event()

    def look() -> None:
        while not over.wait(2.0):
            seen.append(_service_mb())

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield seen
    finally:
        over.set()
        looking.join()


def _service_mb() -> float:
    """Proportional set size of the service, without its attackers."""
    total = 0
    for process in psutil.Process().children(recursive=True):
        with gone_is_fine():
            if _ATTACKERS not in process.cmdline():
                total += process.memory_full_info().pss
    return total / 2**20


@contextmanager
def _silent_names() -> Iterator[str]:
    """Names under `.silent.invalid` are never answered, in every process that is started inside."""
    before = os.environ.get("PYTHONPATH", "")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "sitecustomize.py").write_text(_SILENT_NAMES)
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [folder, before]))
        try:
            yield folder
        finally:
            os.environ["PYTHONPATH"] = before


def _open_at(port: int) -> int:
    found = psutil.net_connections("tcp")
    return sum(one.laddr.port == port and one.status in ("ESTABLISHED", "CLOSE_WAIT") for one in found if one.laddr)


def _wait_for(port: int) -> None:
    give_up = time.monotonic() + 20
    while not _answers(port):
        if time.monotonic() > give_up:
            raise click.ClickException("the null listener did not start")
        time.sleep(0.05)


def _answers(port: int) -> bool:
    try:
        with closing(HTTPConnection("127.0.0.1", port, timeout=5.0)) as connection:
            connection.request("GET", "/")
            return connection.getresponse().status == httpx.codes.OK
    except (OSError, HTTPException):
        return False
