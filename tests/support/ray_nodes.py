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

from support.namespaces import Machine

GCS_PORT = 6380  # 6379 is that of Redis
ROOT = Path(__file__).parents[2]
_BIN = Path(sys.executable).parent
_START_S = 180
_WORKERS = {
    "RAY_prestart_worker_first_driver": "0",  # else a process for each logical processor, idle
    "RAY_worker_niceness": "0",  # at Ray's 15 they starve beside other tests
}


def tool(name: str) -> str:
    """A command of the environment that the tests run in, such as `serve` or `geotts`."""
    return str(_BIN / name)


@contextmanager
def ray_cluster(
    nodes: Sequence[Machine],
    *,
    num_cpus: int = 16,
    num_gpus: int = 0,
    environment: Mapping[str, str] | None = None,
    cwd: Path = ROOT,
) -> Iterator[list[subprocess.Popen[Any]]]:
    """Ray on these machines, the head on the first, with so many logical CPUs and GPUs each. Its `ray start` processes.

    Relative paths in what is deployed are below `cwd`.

    The machines must share the token of `RAY_AUTH_TOKEN_PATH`, which they have in their environment.
    """
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="gr", dir="/tmp"))  # Ray keeps sockets there: their paths must be short
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        settings = {**_WORKERS, **(environment or {})}
        started = []
        for number, machine in enumerate(nodes):
            role = (
                ["--head", f"--port={GCS_PORT}", f"--temp-dir={folder}", "--dashboard-host=127.0.0.1"]
                if number == 0
                else [f"--address={nodes[0].address}:{GCS_PORT}"]
            )
            said = stack.enter_context((folder.parent / f"{folder.name}.{number}.log").open("w"))
            stack.callback(Path(said.name).unlink)
            process = machine.start(
                tool("ray"), "start", *role, "--block", f"--node-ip-address={machine.address}",
                f"--num-cpus={num_cpus}", f"--num-gpus={num_gpus}", f"--object-store-memory={150 * 2**20}",
                "--disable-usage-stats", cwd=cwd, stdout=said, stderr=subprocess.STDOUT, env=settings,
            )  # fmt: skip
            stack.callback(stop_family, process)
            started.append(process)
            _wait_for_node(nodes[0], number + 1, process, Path(said.name))
        yield started


def _wait_for_node(head: Machine, wanted: int, process: subprocess.Popen[Any], said: Path) -> None:
    give_up = time.monotonic() + _START_S
    while True:
        status = head.run(tool("ray"), "status", f"--address={head.address}:{GCS_PORT}", cwd=ROOT)
        if status.returncode == 0 and status.stdout.count("node_") >= wanted:
            return
        if process.poll() is not None or time.monotonic() > give_up:
            raise RuntimeError(f"a node did not start:\n{said.read_text()}\n{status.stdout}{status.stderr}")
        time.sleep(0.5)


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
