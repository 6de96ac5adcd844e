"""What happened around work that was done twice: the faults that were on, and what the processes of the service said.

So a run of `geotts bench chaos` explains each case by itself, after its processes and their logs are gone.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from geotts_benchmarks.machines.doubled_work import DoubledWork

_BEFORE_S = 30.0  # a fault before the first time may still be felt: leases and silence take 10 s, a start takes longer
_MOST_LINES = 40


@dataclass(frozen=True, slots=True)
class Happened:
    """A fault that was done. `victim`: the process, empty where there is none. Moments of `time.monotonic()`."""

    kind: str
    victim: str
    began: float
    ended: float


def explained(one: DoubledWork, faults: Iterable[Happened], logs: Path, run_began: float) -> dict[str, Any]:
    """What to print about one case; all moments in seconds since `run_began`.

    `logs`: the folder of Ray's sessions, whose processes write JSON to their standard error.
    """
    around = [fault for fault in faults if fault.began <= one.again and fault.ended >= one.first - _BEFORE_S]
    return {
        "way": one.way,
        "request_id": one.request_id,
        "rollout": one.rollout,
        "turn": one.turn,
        "first_s": round(one.first - run_began, 2),
        "again_s": round(one.again - run_began, 2),
        "engine_processes": one.processes,
        "faults": [
            f"{fault.kind} {fault.victim} {fault.began - run_began:.1f} to {fault.ended - run_began:.1f} s"
            for fault in around
        ],
        "said": [_line(said, run_began) for said in sorted(_said(one.request_id, logs), key=_at)][:_MOST_LINES],
    }


def _said(request_id: str, logs: Path) -> Iterator[Mapping[str, Any]]:
    """The lines of all processes that name the request. `process`: the file that they come from."""
    name = request_id.encode()
    for file in logs.glob("session_2*/logs/worker-*.err"):
        for line in file.read_bytes().splitlines():
            if name in line and line.startswith(b"{"):
                yield {**orjson.loads(line), "process": file.stem.rpartition("-")[2]}


def _at(said: Mapping[str, Any]) -> float:
    return datetime.fromisoformat(said["at"]).timestamp()


def _line(said: Mapping[str, Any], run_began: float) -> str:
    since = _at(said) - (time.time() - time.monotonic()) - run_began
    more = f" ({said['seconds']} s)" if "seconds" in said else ""
    return f"{since:.2f} s {said['service']} {said['process']}: {said['message']}{more}"
