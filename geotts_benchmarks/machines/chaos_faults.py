"""The faults of `geotts bench chaos`: what is done to a running site, and undone again after some seconds."""

from __future__ import annotations

import contextlib
import random
import resource
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from geotts_benchmarks.machines.site import Site
from geotts_benchmarks.machines.small_disk import SmallDisk

PROCESSES = {
    "gateway": "ServeReplica:geotts:Gateway",
    "tools": "ServeReplica:geotts:Tools",
    "locatability": "ServeReplica:geotts:Locatability",
    "verifier": "ServeReplica:geotts:Verifier",
    "rollout": "ServeReplica:geotts:Rollout",
    "photo_process": "deployments.gateway.photos.decode_in_child",
    "controller": "ServeController",
    "proxy": "ProxyActor",
}
"""Kinds of processes, by what their command line contains."""
_SPARE_HANDLES = 2
_CLOCK_STEPS_S = (-3600, -60, 60, 3600)


@dataclass(frozen=True, slots=True)
class Fault:
    """`kind` as in the report. It begins `after_s` the fault before it, and lasts `lasts_s`."""

    kind: str
    after_s: float
    lasts_s: float


class Harms:
    """What can be done to a site. Each returns how to undo it, or None where nothing was there to be harmed."""

    def __init__(self, site: Site, disks: dict[str, SmallDisk], clock: Path | None, rng: random.Random) -> None:
        self._site = site
        self._disks = disks
        self._clock = clock
        self._rng = rng
        self.victim = ""  # of what was done last

    def kinds(self) -> list[str]:
        """Every kind that can be done here."""
        return [
            *(f"kill_{name}" for name in PROCESSES),
            "kill_redis",
            *(f"stop_{name}" for name in PROCESSES),
            *(f"full_{name}" for name in self._disks),
            "handles_gateway",
            "handles_tools",
            *(["clock_step"] if self._clock else []),
        ]

    def endless(self) -> Iterator[Fault]:
        """Faults without an end, by the seed."""
        kinds = self.kinds()
        while True:
            yield from schedule(kinds, len(kinds), self._rng)

    def do(self, kind: str) -> Callable[[], None] | None:
        """Do harm of one kind."""
        self.victim = ""
        what, _, whom = kind.partition("_")
        if kind == "kill_redis":
            self._site.redis.kill()
            return self._site.redis.start
        if kind == "clock_step":
            return self._step_clock()
        if what == "full":
            self._disks[whom].fill()
            return self._disks[whom].clear
        victim = self._pick_process(PROCESSES[whom])
        if victim is None:
            return None
        self.victim = f"{victim.pid} {command_line(victim)}"[:80]
        with contextlib.suppress(psutil.NoSuchProcess):
            return {"kill": _kill, "stop": _stop, "handles": _limit_open_files}[what](victim)
        return None

    def _pick_process(self, words: str) -> psutil.Process | None:
        """A process of the site whose command line has these words."""
        found = [process for process in processes(self._site) if words in command_line(process)]
        return self._rng.choice(found) if found else None

    def _step_clock(self) -> Callable[[], None]:
        assert self._clock is not None
        clock = self._clock
        self.victim = f"{self._rng.choice(_CLOCK_STEPS_S):+d}"
        clock.write_text(self.victim)
        return lambda: write_no_step(clock)


def processes(site: Site) -> Iterator[psutil.Process]:
    """All processes on the two machines of the service, in the order of their ids."""
    for pid in sorted([*site.head.processes(), *site.worker.processes()]):
        with contextlib.suppress(psutil.NoSuchProcess):
            yield psutil.Process(pid)


def command_line(process: psutil.Process) -> str:
    """The command line, or the title that the process gave itself; empty for one that has ended."""
    try:
        return " ".join(process.cmdline())
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return ""


def write_no_step(clock: Path) -> None:
    """The file that libfaketime reads says that the time is right."""
    clock.write_text("+0")


def _kill(victim: psutil.Process) -> Callable[[], None]:
    victim.kill()
    return lambda: None


def _stop(victim: psutil.Process) -> Callable[[], None]:
    victim.suspend()

    def resume() -> None:
        with contextlib.suppress(psutil.NoSuchProcess):
            victim.resume()

    return resume


def _limit_open_files(victim: psutil.Process) -> Callable[[], None]:
    """Room for two more open files or connections."""
    before = victim.rlimit(resource.RLIMIT_NOFILE)
    assert before is not None
    victim.rlimit(resource.RLIMIT_NOFILE, (victim.num_fds() + _SPARE_HANDLES, before[1]))

    def feed() -> None:
        with contextlib.suppress(psutil.NoSuchProcess):
            victim.rlimit(resource.RLIMIT_NOFILE, before)

    return feed


def schedule(kinds: list[str], count: int, rng: random.Random) -> list[Fault]:
    """So many faults, every kind about equally often, in an order that the seed decides."""
    order: list[str] = []
    while len(order) < count:
        order += rng.sample(kinds, len(kinds))
    return [Fault(kind, rng.uniform(4.0, 9.0), _duration_s(kind, rng)) for kind in order[:count]]


def _duration_s(kind: str, rng: random.Random) -> float:
    if kind == "kill_redis":
        return rng.uniform(0.0, 5.0)
    return 0.0 if kind.startswith("kill_") else rng.uniform(5.0, 30.0)
