"""A Ray cluster as an operator starts one: `ray start` on each machine, token authentication, dashboard on loopback."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psutil

from geotts_benchmarks.harness import print_progress
from geotts_benchmarks.machines.namespaces import Machine
from tts.errors import FatalError

GCS_PORT = 6380  # 6379 is that of Redis
_BIN_FOLDER = Path(sys.executable).parent
_START_TIMEOUT_S = 120
_ATTEMPTS = 6  # Ray gives a node 30 s, which on a busy machine may be too short; a supervisor would start it again
_POLL_S = 1.0
_WORKER_ENVIRONMENT = {
    "RAY_prestart_worker_first_driver": "0",  # else a process for each logical processor, idle
    "RAY_worker_niceness": "0",  # at Ray's 15 they starve beside other programs
}


def tool(name: str) -> str:
    """A command of the environment that this runs in, such as `serve` or `geotts`."""
    return str(_BIN_FOLDER / name)


class RayCluster:
    """Ray on machines of which the first is the head. The machines must share the token of `RAY_AUTH_TOKEN_PATH`,
    which they have in their environment. `folder` is short: Ray keeps sockets there.
    """

    def __init__(
        self, folder: Path, *, num_cpus: int, num_gpus: int, environment: Mapping[str, str], cwd: Path | None
    ) -> None:
        self.folder = folder
        self._cwd = cwd
        self._environment = {**_WORKER_ENVIRONMENT, **environment}
        self._resources = (f"--num-cpus={num_cpus}", f"--num-gpus={num_gpus}")
        self._head: Machine | None = None
        self._started: list[subprocess.Popen[Any]] = []

    def start(self, machine: Machine) -> None:
        """Start a node on the machine and wait until the cluster has it; the first one is the head.

        Raises:
            FatalError: it does not come up; says what it wrote.
        """
        before = 0 if self._head is None else self.nodes()
        for attempt in range(_ATTEMPTS):
            process, log = self._spawn(machine, head=self._head in (None, machine))
            self._head = self._head or machine
            give_up = time.monotonic() + _START_TIMEOUT_S
            while process.poll() is None and time.monotonic() < give_up:
                if self.nodes() > before:
                    return
                time.sleep(_POLL_S)
            print_progress(f"a node of Ray did not start, attempt {attempt + 1}: {log.read_text()[-300:]}")
            stop_family(process)
        raise FatalError(f"a node of Ray did not start:\n{log.read_text()}")

    def _spawn(self, machine: Machine, *, head: bool) -> tuple[subprocess.Popen[Any], Path]:
        """`ray start` on the machine, and the file with what it writes."""
        own = ("--head", f"--port={GCS_PORT}", f"--temp-dir={self.folder}", "--dashboard-host=127.0.0.1")
        role = own if head or self._head is None else (f"--address={self._head.address}:{GCS_PORT}",)
        log = self.folder.with_name(f"{self.folder.name}.{len(self._started)}.log")
        with log.open("w") as out:
            process = machine.start(
                tool("ray"), "start", *role, "--block", f"--node-ip-address={machine.address}", *self._resources,
                f"--object-store-memory={150 * 2**20}", "--disable-usage-stats",
                cwd=self._cwd, stdout=out, stderr=subprocess.STDOUT, env=self._environment,
            )  # fmt: skip
        self._started.append(process)
        return process, log

    def nodes(self) -> int:
        """How many nodes the cluster has, by `ray status`; 0 when it does not answer."""
        assert self._head is not None
        status = self._head.run(tool("ray"), "status", f"--address={self._head.address}:{GCS_PORT}", cwd=self._cwd)
        active, _, _ = status.stdout.partition("Pending:")
        return active.count("node_") if status.returncode == 0 else 0

    def stop(self) -> None:
        """End all nodes, the head last, and remove their files."""
        for process in reversed(self._started):
            stop_family(process)
        for number in range(len(self._started)):
            self.folder.with_name(f"{self.folder.name}.{number}.log").unlink(missing_ok=True)


@contextmanager
def ray_cluster(
    nodes: Sequence[Machine],
    *,
    num_cpus: int = 16,
    num_gpus: int = 0,
    environment: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> Iterator[RayCluster]:
    """Ray on these machines, the head on the first, with so many logical CPUs and GPUs each, until the block ends.

    Relative paths in what is deployed are below `cwd`, or else below the current folder.
    """
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="gr", dir="/tmp"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        made = RayCluster(folder, num_cpus=num_cpus, num_gpus=num_gpus, environment=environment or {}, cwd=cwd)
        stack.callback(made.stop)
        for machine in nodes:
            made.start(machine)
        yield made


def stop_family(process: subprocess.Popen[Any]) -> None:
    """End a process and all that it started, and wait until none is left."""
    with contextlib.suppress(psutil.NoSuchProcess):
        family = psutil.Process(process.pid).children(recursive=True)
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)
        for member in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                member.kill()
        psutil.wait_procs(family, timeout=10)
    process.kill()
    process.wait(10)
