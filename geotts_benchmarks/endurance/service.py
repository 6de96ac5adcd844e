"""A service on a private cluster in a process of its own, as `geotts serve` starts it, and what it takes."""

from __future__ import annotations

import re
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil
import yaml

from geotts_benchmarks.harness import free_port, gone_is_fine
from geotts_benchmarks.machines.ray_nodes import stop_family, tool
from tts.errors import FatalError

_START_TIMEOUT_S = 300.0
_REPLICA_TITLE = re.compile(r"ServeReplica:geotts:(\w+)")
_TASKS_METRIC = re.compile(r"^geotts_tasks (\S+)$", re.MULTILINE)


class OwnService:
    """`folder` has its run store. Figures are of all its processes together."""

    def __init__(self, process: subprocess.Popen[Any], url: str, folder: Path) -> None:
        self._process = process
        self.url = url
        self._folder = folder
        self._http = httpx.Client(timeout=60)  # one connection: a new one takes longer than what is measured

    def close(self) -> None:
        """Close the connection by which samples are taken."""
        self._http.close()

    def cpu_s(self) -> float:
        """Seconds of the processors that the processes which now live have taken."""
        seconds = 0.0
        for process in psutil.Process(self._process.pid).children(recursive=True):
            with gone_is_fine():
                times = process.cpu_times()
                seconds += times.user + times.system
        return seconds

    def sample(self) -> dict[str, float]:
        """Memory in MB (proportional set size) in total and by kind of process, open handles, asyncio tasks of the
        gateway, MB of the run store, and milliseconds until the loop of the gateway answers.
        """
        memory: dict[str, float] = defaultdict(float)
        handles = 0
        for process in psutil.Process(self._process.pid).children(recursive=True):
            with gone_is_fine():
                kind = _REPLICA_TITLE.search(" ".join(process.cmdline()))
                memory[kind[1].lower() if kind else "ray"] += process.memory_full_info().pss / 1e6
                handles += process.num_fds()
        started = time.perf_counter()
        self._http.get(f"{self.url}/healthz").raise_for_status()
        lag_ms = (time.perf_counter() - started) * 1e3
        tasks = _TASKS_METRIC.search(self._http.get(f"{self.url}/metrics").text)
        stored = sum(path.stat().st_size for path in self._folder.glob("runs.sqlite*"))
        by_kind = {f"memory_{kind}_mb": total for kind, total in sorted(memory.items())}
        return {
            "memory_mb": sum(memory.values()),
            **by_kind,
            "handles": handles,
            "tasks": float(tasks[1]) if tasks else 0.0,
            "store_mb": stored / 1e6,
            "loop_lag_ms": lag_ms,
        }


@contextmanager
def own_service(folder: Path, args: Mapping[str, Any]) -> Iterator[OwnService]:
    """Run `geotts serve` with this configuration until the block ends. Raises FatalError when it does not come up."""
    folder.mkdir()
    port = free_port()
    gateway = {**args.get("gateway", {}), "port": port, "run_store": f"sqlite:///{folder}/runs.sqlite"}
    config, log = folder / "config.yaml", folder / "log"
    config.write_text(yaml.safe_dump({**args, "gateway": gateway}))
    url = f"http://127.0.0.1:{port}"
    with log.open("w") as out:
        process = subprocess.Popen(
            [tool("geotts"), "serve", "--config", config], stdout=out, stderr=out, start_new_session=True
        )
    try:
        _wait_until_ready(url, process, log)
        service = OwnService(process, url, folder)
        yield service
        service.close()
    finally:
        stop_family(process)


def _wait_until_ready(url: str, process: subprocess.Popen[Any], log: Path) -> None:
    give_up = time.monotonic() + _START_TIMEOUT_S
    while True:
        try:
            if httpx.get(f"{url}/readyz", timeout=5).is_success:
                return
        except httpx.HTTPError:
            pass
        if process.poll() is not None or time.monotonic() > give_up:
            raise FatalError(f"a service did not come up:\n{log.read_text()[-3000:]}")
        time.sleep(0.5)
