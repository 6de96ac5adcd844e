"""One attack of `geotts bench abuse`, its strength, and the connections that the server leaves open after it.

Connections are counted on the server's side, while the attackers stay connected and open no new connections. The server
has left open the connections that still exist when its own time limit has passed.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

import orjson
import psutil

from geotts_benchmarks.harness import Result

ATTACKERS = "geotts_benchmarks.attacks.attackers"
_OPEN_STATES = ("ESTABLISHED", "CLOSE_WAIT")
_POLL_S = 0.5
_MIN_COUNT_SHARE = 0.95  # of what is announced
_MIN_RATE_SHARE = 0.9
_HOLDING_KINDS = ("slowloris", "bodies")  # kinds that are as strong as the connections they hold
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Attack:
    """`count` connections, for `connects` a second, with these keys in turn. What the server has to close, it closes
    `closed_within_s` after the attack at the latest; with 0 nobody looks.
    """

    kind: str
    count: int
    seconds: float
    keys: Sequence[str] = ("none",)
    closed_within_s: float = 0.0


@dataclass(frozen=True, slots=True)
class AttackOutcome(Generic[T]):
    """What `during` found, how strong the attack was, how many connections the server left open, and after how many
    seconds it had closed the last (None: never).
    """

    found: T
    strength: Result
    left_open: int
    closed_after_s: float | None

    def problems(self, attack: Attack, *, most: int | None = None) -> list[str]:
        """What makes the attack less than it is said to be. `most`: connections that the server admits at once."""
        where = f"{attack.kind}, {attack.count}"
        if not self.strength:
            return [f"{where}: the attackers ended early"]
        if attack.kind == "connects":
            per_s = self.strength["per_s"]
            return [f"{where}: only {per_s:g} connects a second"] if per_s < _MIN_RATE_SHARE * attack.count else []
        problems = []
        if self.strength["attackers"] < _MIN_COUNT_SHARE * attack.count:
            problems.append(f"{where}: only {self.strength['attackers']} attackers were ever connected")
        admitted = attack.count if most is None else min(attack.count, most)
        if attack.kind in _HOLDING_KINDS and self.strength["held"] < _MIN_COUNT_SHARE * admitted:
            problems.append(f"{where}: only {self.strength['held']} connections were held at once")
        return problems


def under_attack(port: int, attack: Attack, during: Callable[[], T]) -> AttackOutcome[T]:
    """Run `during` from a second after the attack has started. Then see what the server closes."""
    with _start_attackers(port, attack) as attackers:
        time.sleep(1.0)
        found = during()
        assert attackers.stdout is not None
        line = attackers.stdout.readline()
        still_open, after_s = (
            (0, None) if not attack.closed_within_s else _open_connections(port, attack.closed_within_s)
        )
    return AttackOutcome(found, orjson.loads(line) if line else {}, still_open, after_s)


def count_open_connections(port: int) -> int:
    """Connections that the server at this port of this machine has open, also those that it has not accepted yet."""
    found = psutil.net_connections("tcp")
    return sum(one.laddr.port == port and one.status in _OPEN_STATES for one in found if one.laddr)


def _open_connections(port: int, within_s: float) -> tuple[int, float | None]:
    started = time.monotonic()
    while open_connections := count_open_connections(port):
        if time.monotonic() - started > within_s:
            return open_connections, None
        time.sleep(_POLL_S)
    return 0, round(time.monotonic() - started, 1)


@contextmanager
def _start_attackers(port: int, attack: Attack) -> Iterator[subprocess.Popen[bytes]]:
    numbers = [str(port), str(attack.count), str(attack.seconds)]
    command = [sys.executable, "-m", ATTACKERS, attack.kind, *numbers, *attack.keys]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as attackers:
        try:
            yield attackers
        finally:
            attackers.kill()
