"""A Redis on one of the machines, which can be killed and started again with its data."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Any

from geotts_benchmarks.machines.namespaces import Machine
from geotts_benchmarks.machines.ray_nodes import stop_family
from tts.errors import FatalError

_START_TIMEOUT_S = 30.0


class RedisServer:
    """Keeps an append-only file in `folder`. It has no password: only the machines of the switch reach it."""

    def __init__(self, machine: Machine, folder: Path) -> None:
        self._machine = machine
        self._folder = folder
        self._process: subprocess.Popen[Any] | None = None

    def start(self) -> None:
        """Start it and wait until its data are loaded. Raises FatalError when it does not answer."""
        self._process = self._machine.start(
            "redis-server", "--save", "", "--appendonly", "yes", "--dir", self._folder, "--protected-mode", "no",
            "--auto-aof-rewrite-min-size", "8mb", stdout=subprocess.DEVNULL,
        )  # fmt: skip
        give_up = time.monotonic() + _START_TIMEOUT_S
        while self._machine.run("redis-cli", "ping").stdout.strip() != "PONG":
            if time.monotonic() > give_up:
                raise FatalError("redis-server does not answer")
            time.sleep(0.1)

    def kill(self) -> None:
        """SIGKILL; what it has written to its file stays. Does nothing before `start`."""
        if self._process is not None:
            self._process.kill()
            stop_family(self._process)
