"""What happened around work that was done twice and around requests without a declared end: the faults that were on,
and what the processes of the service logged.

So a run of `geotts bench chaos` explains each case by itself, after its processes and their logs are gone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from geotts_benchmarks.machines.clients import ClientRequest
from geotts_benchmarks.machines.doubled_work import DoubledWork

# a fault before the first time may still be felt: leases and silence take 10 s, a start takes longer
_EARLIER_FAULTS_S = 30.0
_MAX_LINES = 40


@dataclass(frozen=True, slots=True)
class InjectedFault:
    """A fault that was done. `victim`: the process, empty where there is none. Moments of `time.monotonic()`."""

    kind: str
    victim: str
    started_at: float
    ended: float


def explain_case(one: DoubledWork, faults: Iterable[InjectedFault], logs: Path, run_began: float) -> dict[str, Any]:
    """What to print about one case; all moments in seconds since `run_began`.

    `logs`: the folder of Ray's sessions, whose processes write JSON to their standard error.
    """
    return {
        "way": one.way,
        "request_id": one.request_id,
        "rollout": one.rollout,
        "turn": one.turn,
        "first_s": round(one.first - run_began, 2),
        "again_s": round(one.again - run_began, 2),
        "engine_processes": one.processes,
        "faults": _faults_around(faults, one.first, one.again, run_began),
        "log_lines": _line_texts(_lines_about(one.request_id, logs), run_began),
    }


def explained_end(seen: ClientRequest, faults: Iterable[InjectedFault], logs: Path, run_began: float) -> dict[str, Any]:
    """What to print about a request that hung or failed; moments and `logs` as for `explain_case`.

    Of a request without an id, all warnings and errors between its begin and its end are printed.
    """
    log_lines = (
        _lines_about(seen.request_id, logs) if seen.request_id else _warnings_between(seen.started_at, seen.ended, logs)
    )
    return {
        "outcome": seen.outcome,
        "detail": seen.detail,
        "request_id": seen.request_id,
        "begun_s": round(seen.started_at - run_began, 2),
        "accepted_s": round(seen.accepted - run_began, 2) if seen.accepted else None,
        "last_turn_s": round(max(at for *_, at in seen.turns) - run_began, 2) if seen.turns else None,
        "ended_s": round(seen.ended - run_began, 2),
        "faults": _faults_around(faults, seen.started_at, seen.ended, run_began),
        "log_lines": _line_texts(log_lines, run_began),
    }


def _faults_around(faults: Iterable[InjectedFault], first: float, last: float, run_began: float) -> list[str]:
    return [
        f"{fault.kind} {fault.victim} {fault.started_at - run_began:.1f} to {fault.ended - run_began:.1f} s"
        for fault in faults
        if fault.started_at <= last and fault.ended >= first - _EARLIER_FAULTS_S
    ]


def _lines_about(request_id: str, logs: Path) -> Iterator[Mapping[str, Any]]:
    """The lines of all processes that name the request."""
    name = request_id.encode()
    return _all_lines(logs, lambda line: name in line)


def _warnings_between(first: float, last: float, logs: Path) -> Iterator[Mapping[str, Any]]:
    """The warnings and errors of all processes between two moments of `time.monotonic()`."""
    return (
        line
        for line in _all_lines(logs, lambda raw: b'"level":"info"' not in raw)
        if first <= _written_at(line) <= last
    )


def _all_lines(logs: Path, wanted: Callable[[bytes], bool]) -> Iterator[Mapping[str, Any]]:
    """Lines of JSON in the standard errors of all processes. `process`: the file that a line comes from."""
    for file in logs.glob("session_2*/logs/worker-*.err"):
        for line in file.read_bytes().splitlines():
            if line.startswith(b"{") and wanted(line):
                yield {**orjson.loads(line), "process": file.stem.rpartition("-")[2]}


def _line_texts(log_lines: Iterable[Mapping[str, Any]], run_began: float) -> list[str]:
    return [_line_text(line, run_began) for line in sorted(log_lines, key=_written_at)][:_MAX_LINES]


def _written_at(line: Mapping[str, Any]) -> float:
    """When a line was written, as `time.monotonic()` counts."""
    return datetime.fromisoformat(line["at"]).timestamp() - (time.time() - time.monotonic())


def _line_text(line: Mapping[str, Any], run_began: float) -> str:
    more = f" ({line['seconds']} s)" if "seconds" in line else ""
    why = f": {line['exception'].splitlines()[-1][:300]}" if line.get("exception") else ""
    where = f"{line['service']} {line['process']}"
    return f"{_written_at(line) - run_began:.2f} s {where}: {line['message'][:300]}{more}{why}"
