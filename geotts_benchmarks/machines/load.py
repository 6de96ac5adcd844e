"""Steady load from a machine: the clients of `clients`, started there, and what they have written so far."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from geotts_benchmarks.machines.clients import ClientRequest
from geotts_benchmarks.machines.namespaces import Machine
from geotts_benchmarks.machines.ray_nodes import stop_family

_CLIENTS_MODULE = "geotts_benchmarks.machines.clients"


class SteadyLoad:
    """Clients that run on a machine. `ended_requests()` may be asked at any time."""

    def __init__(self, process: subprocess.Popen[Any], file: Path) -> None:
        self._process = process
        self._file = file

    def ended_requests(self) -> list[ClientRequest]:
        """What was seen of every request that has ended."""
        lines = self._file.read_bytes().splitlines(keepends=True)
        return [ClientRequest(**orjson.loads(line)) for line in lines if line.endswith(b"\n")]

    def finish(self, within_s: float) -> list[ClientRequest]:
        """Let the clients end what they have begun. Raises subprocess.TimeoutExpired when they do not."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(within_s)
        return self.ended_requests()


@contextmanager
def steady_load(
    machine: Machine, url: str, folder: Path, *, clients: int, deadline_s: float, parallel: int
) -> Iterator[SteadyLoad]:
    """Clients on `machine` until the block ends; they are killed then if `finish` was not called."""
    file = folder / "seen.jsonl"
    words = (f"--clients={clients}", f"--deadline-s={deadline_s}", f"--parallel={parallel}")
    with file.open("w") as out:
        process = machine.start(sys.executable, "-m", _CLIENTS_MODULE, url, *words, stdin=subprocess.PIPE, stdout=out)
    try:
        yield SteadyLoad(process, file)
    finally:
        stop_family(process)
