"""`geotts bench abuse`: what attackers on the wire, and stores that fail, do to everybody else.

Callers send photos to an engine of 200 ms while each attack runs; the same attack runs on a listener that does nothing
(`null_listener`). Their ratio is what the service adds to the harm; it is quoted with the milliseconds it is made of.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import click
import httpx
import psutil

from deployments.config import AccessConfig, AppArgs, ConnectionLimits, GatewayConfig
from deployments.gateway.auth import fingerprint, new_key
from deployments.launch.cluster import serve_configuration
from geotts_benchmarks.attacks.attack import ATTACKERS, Attack, AttackOutcome, under_attack
from geotts_benchmarks.attacks.silent_names import SilentNames
from geotts_benchmarks.harness import Result, free_port, gone_is_fine, percentile, print_progress, report
from geotts_benchmarks.plain_photo import plain_photo
from geotts_benchmarks.run_stores import failing_stores
from tts.config import RoutingConfig, ScriptedEngine
from tts.geodata.store import DataStore

_ENGINE_S = 0.2
_N_CALLERS = 4
_GRACE_S = 5.0  # after the gateway's own time limit: 15 s for what has to send a head in 10 s
_IDLE_CLIENTS = 20
_DNS_KEYS = 4  # photos of one key are fetched `gateway.max_fetches` at once
# kind → connections, or connections a second
_ATTACKER_COUNTS = {"headers": 16, "slowloris": 5000, "dns": 30, "bodies": 64, "connects": 1000}
_QUICK_ATTACKER_COUNTS = {"headers": 8, "slowloris": 1000, "dns": 30, "bodies": 64, "connects": 300}


@click.command()
@click.option("--seconds", type=click.FloatRange(3), default=20.0, show_default=True, help="Length of each attack.")
@click.option(
    "--quick",
    is_flag=True,
    help="Attack for 2 s, with fewer connections, a gateway with shorter time limits; test two failures of a store.",
)
def command(seconds: float, quick: bool) -> None:
    """Slowloris, endless headers, host names without a DNS reply, slow bodies and floods of connections, while other
    clients send requests. After that, run stores that lose data, refuse writes or freeze.

    `open_after` is the number of connections of the attackers that are still open 5 s after the time limits of the
    gateway: 15 s for heads (head_timeout_s) and slow bodies (body_window_s), 35 s for photos by URL (fetch_timeout_s).
    `problems` names each attack that was weaker than planned. If there is one, the exit code is 1.

    Some faults are simulated in a simplified way. Silent names: the system's lookup sleeps 20 s for names
    under .silent.invalid. Evicting: the keys of all logs (*:log) are deleted, as Redis might under its maxmemory
    policy. Full: Redis with maxmemory 1. Read-only: a replica of a server that is not there. Frozen: CLIENT PAUSE for
    40 s. Full disk: SQLite's max_page_count, so that the file gets no further page; its write-ahead log still grows.
    """
    found = report("abuse", lambda: measure(2.0 if quick else seconds, quick=quick))
    if found["problems"]:
        raise click.ClickException("; ".join(found["problems"]))


def measure(seconds: float, *, quick: bool) -> Result:
    """The figures of all attacks, each of `seconds` on the null listener and on the service, and of failing stores."""
    counts = _QUICK_ATTACKER_COUNTS if quick else _ATTACKER_COUNTS
    null = _harm_null_listener(counts, seconds)
    with tempfile.TemporaryDirectory() as folder:
        keys = Keys.create(Path(folder) / "keys")
        attacked = _harm_service(_gateway_config(keys, quick=quick), keys, counts, seconds)
    stores = asyncio.run(failing_stores.measure(4 if quick else 10, quick=quick))
    restart = {} if quick else {"restart_extra_s": restart_extra_s()}
    return {
        "ratio": {kind: round(attacked.p95_ms[kind] / null.p95_ms[kind], 2) for kind in counts},
        "null_p95_ms": null.p95_ms,
        "p95_ms": attacked.p95_ms,
        **attacked.more,
        "open_after": sum(found["open_after"] for found in attacked.attacks.values()),
        "attacks": attacked.attacks,
        "null_attacks": null.attacks,
        **restart,
        **stores,
        "problems": [*null.problems, *attacked.problems],
    }


@dataclass(slots=True)
class Harm:
    """What the attacks on one server did to its callers, and how strong they were."""

    p95_ms: dict[str, float] = field(default_factory=dict)
    attacks: dict[str, Result] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    more: Result = field(default_factory=dict)

    def add(self, attack: Attack, done: AttackOutcome[list[float]], *, most: int | None = None) -> None:
        """Add one attack and how callers fared. `most`: connections that the server admits at once."""
        self.p95_ms[attack.kind] = round(_p95_ms(done.found), 1)
        self.attacks[attack.kind] = {"asked": attack.count, **done.strength}
        if attack.closed_within_s:
            self.attacks[attack.kind] |= {"open_after": done.left_open, "closed_after_s": done.closed_after_s}
        self.problems += done.problems(attack, most=most)
        print_progress(f"{attack.kind}: p95 {self.p95_ms[attack.kind]:.0f} ms, {self.attacks[attack.kind]}")


@dataclass(frozen=True, slots=True)
class Keys:
    """`limited` may have two requests at once. Those of `unlimited` may have what a key has by default."""

    path: Path
    caller: str
    limited: str
    unlimited: tuple[str, ...]

    @classmethod
    def create(cls, path: Path) -> Keys:
        """Make the keys and write a file of their hashes to `path`, for `gateway.access.keys_file`."""
        caller, limited, *unlimited = (new_key() for _ in range(2 + _DNS_KEYS))
        lines = [f"caller {fingerprint(caller)}", f"limited {fingerprint(limited)} - 2"]
        lines += [f"unlimited{number} {fingerprint(key)}" for number, key in enumerate(unlimited)]
        path.write_text("\n".join(lines) + "\n")
        return cls(path, caller, limited, tuple(unlimited))

    def keys_for_attack(self, kind: str) -> Sequence[str]:
        """Silent names come with several keys: a limit of one key would keep most from being looked up."""
        return self.unlimited if kind == "dns" else (self.limited,)


def _gateway_config(keys: Keys, *, quick: bool) -> GatewayConfig:
    access = AccessConfig(mode="keys", keys_file=str(keys.path))
    if not quick:
        return GatewayConfig(port=free_port(), access=access)
    limits = ConnectionLimits(head_timeout_s=2.0)
    return GatewayConfig(port=free_port(), access=access, connections=limits, body_window_s=2.0, fetch_timeout_s=4.0)


def closed_within_s(gateway: GatewayConfig) -> Mapping[str, float]:
    """Seconds after which the gateway has closed the last connection of an attack."""
    heads = gateway.connections.head_timeout_s
    limits = {
        "dns": gateway.fetch_timeout_s,
        "bodies": max(gateway.body_window_s, heads),  # what comes of a body that was refused has the time of a head
    }
    return {kind: limits.get(kind, heads) + _GRACE_S for kind in _ATTACKER_COUNTS}


def _harm_null_listener(counts: dict[str, int], seconds: float) -> Harm:
    port, harm = free_port(), Harm()
    command = [sys.executable, "-m", "geotts_benchmarks.attacks.null_listener", str(port), str(_ENGINE_S)]
    with subprocess.Popen(command) as listener:
        try:
            _wait_for(port)
            for kind, count in counts.items():
                attack = Attack(kind, count, seconds + 1.0)
                harm.add(
                    attack, under_attack(port, attack, lambda: _time_calls(port, "none", time.monotonic() + seconds))
                )
        finally:
            listener.terminate()
    return harm


def _harm_service(gateway: GatewayConfig, keys: Keys, counts: dict[str, int], seconds: float) -> Harm:
    args = AppArgs(
        engine=ScriptedEngine(turns=1, tokens_per_turn=16, turn_s=_ENGINE_S, tool=None),
        routing=RoutingConfig(method="fixed"),
        gateway=gateway,
    )
    DataStore(args.data_dir).ensure()
    harm, port, limits = Harm(), gateway.port, closed_within_s(gateway)
    with SilentNames() as names, serve_configuration(args) as service:

        def calls(for_s: float) -> list[float]:
            return _time_calls(port, keys.caller, time.monotonic() + for_s)

        calls(2.0)
        calm = _p95_ms(calls(max(2.0, seconds / 2)))
        print_progress(f"calm: p95 {calm:.0f} ms (ready after {service.ready_s:.0f} s)")
        before_mb = _service_mb()
        with _watch_memory() as seen:
            for kind, count in counts.items():
                attack = Attack(kind, count, seconds + 1.0, keys.keys_for_attack(kind), limits[kind])
                harm.add(
                    attack,
                    under_attack(port, attack, lambda: calls(seconds)),
                    most=gateway.connections.max_connections,
                )
        lookup_count = names.lookup_count()
    if lookup_count < counts["dns"]:
        harm.problems.append(f"dns, {counts['dns']}: only {lookup_count} silent names were looked up")
    memory_mb = round(max([before_mb, *seen]) - before_mb, 1)
    harm.more = {"calm_p95_ms": round(calm, 1), "memory_mb": memory_mb, "silent_names": lookup_count}
    return harm


def restart_extra_s() -> float:
    """Seconds by which a start on a port that clients kept connections to takes longer than one on a fresh port."""
    args = AppArgs(
        engine=ScriptedEngine(turns=1, turn_s=0.0, tool=None),
        routing=RoutingConfig(method="fixed"),
        gateway=GatewayConfig(port=free_port()),
    )
    kept = [HTTPConnection("127.0.0.1", args.gateway.port, timeout=10.0) for _ in range(_IDLE_CLIENTS)]
    ready = []
    for connections in (kept, ()):
        started = time.monotonic()
        with serve_configuration(args):
            while not _is_listening(args.gateway.port):
                time.sleep(0.05)
            ready.append(time.monotonic() - started)
            for connection in connections:
                connection.request("GET", "/healthz")
                connection.getresponse().read()
    for connection in kept:
        connection.close()
    print_progress(f"ready after {ready[0]:.1f} s, and {ready[1]:.1f} s on the same port with {_IDLE_CLIENTS} clients")
    return round(ready[1] - ready[0], 2)


def _time_calls(port: int, key: str, until: float) -> list[float]:
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

    with ThreadPoolExecutor(_N_CALLERS) as pool:
        return [wall for walls in pool.map(caller, range(_N_CALLERS)) for wall in walls]


def _p95_ms(walls: list[float]) -> float:
    return percentile(walls, 0.95) * 1e3


@contextmanager
def _watch_memory() -> Iterator[list[float]]:
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
            if ATTACKERS not in process.cmdline():
                total += process.memory_full_info().pss
    return total / 2**20


def _wait_for(port: int) -> None:
    give_up = time.monotonic() + 20
    while not _is_listening(port):
        if time.monotonic() > give_up:
            raise click.ClickException("the null listener did not start")
        time.sleep(0.05)


def _is_listening(port: int) -> bool:
    try:
        with closing(HTTPConnection("127.0.0.1", port, timeout=5.0)) as connection:
            connection.request("GET", "/")
            return connection.getresponse().status == httpx.codes.OK
    except (OSError, HTTPException):
        return False
