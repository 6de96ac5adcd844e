"""What benchmarks share: a service to measure, a client that times it, the memory it takes, and the last line."""

from __future__ import annotations

import contextlib
import math
import os
import platform
import random
import signal
import socket
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click
import httpx
import orjson
import psutil

from deployments.cli.console import STDERR
from tts.api.sse_frame import parse_sse
from tts.domain.events import Event
from tts.errors import FatalError

Result = dict[str, Any]
DEFAULT_PHOTOS = Path(os.environ.get("GEOTTS_PHOTOS", "../shared/data/photos"))
DEFAULT_LOGS = Path(os.environ.get("GEOTTS_LOGS", "../shared/data/logs"))
DEFAULT_CORPUS = Path(os.environ.get("GEOTTS_RELEASED", "../shared/data/released"))


@dataclass(slots=True)
class TimedRequest:
    """One request as a client saw it. Seconds since it was sent."""

    first_event_s: float
    total_s: float
    events: list[Event] = field(default_factory=list)
    failure: str = ""


def report(name: str, measure: Callable[[], Result]) -> Result:
    """Run `measure`, print its result as the last line of stdout and return it."""
    started = time.perf_counter()
    with _handle_sigterm_as_ctrl_c():
        result = measure()
    line = {
        "bench": name,
        **result,
        "version": version("geotts"),
        "machine": machine(),
        "seconds": round(time.perf_counter() - started, 1),
    }
    click.echo(orjson.dumps(line).decode())
    return result


@contextmanager
def _handle_sigterm_as_ctrl_c() -> Iterator[None]:
    """So that what a benchmark has started ends with it, whoever ends it."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def machine() -> str:
    """Processor, cores, memory and Python, in one line."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.partition(":")[2].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        model = names[0] if names else model
    memory = psutil.virtual_memory().total / 2**30
    return f"{model}, {os.cpu_count()} cores, {memory:.0f} GiB, Python {platform.python_version()}"


def print_progress(text: str) -> None:
    """Progress, on stderr."""
    STDERR.print(f"  {text}", soft_wrap=True, markup=False)


def round_figure(value: float | None) -> float | None:
    """To four digits; None where there is no figure."""
    return None if value is None else round(value, 4)


def free_port() -> int:
    """A port of 127.0.0.1 that nothing uses, outside the ranges from which the kernel and Ray take ports by themselves.

    A port that the kernel hands out (bind to 0) can be handed out again, to an outgoing connection, before it is used.
    """
    for port in random.SystemRandom().sample(range(20_000, 32_000), 200):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise FatalError("no port between 20000 and 32000 of 127.0.0.1 is free")


async def locate(
    client: httpx.AsyncClient,
    url: str,
    photo: bytes,
    *,
    on_event: Callable[[Event], object] | None = None,
    **fields: Any,
) -> TimedRequest:
    """Send one photo and follow the stream to its end; `on_event` sees each event as it comes."""
    started = time.perf_counter()
    located = TimedRequest(first_event_s=0.0, total_s=0.0)
    data = {name: str(value) for name, value in fields.items()}
    request = client.stream(
        "POST", f"{url}/locate", files={"image": photo}, data=data, headers={"Accept": "text/event-stream"}
    )
    async with request as response:
        if response.status_code != httpx.codes.OK:
            located.failure = f"{response.status_code}: {(await response.aread()).decode(errors='replace')[:300]}"
            return located
        async for event in parse_sse(response.aiter_lines()):
            if not located.events:
                located.first_event_s = time.perf_counter() - started
            located.events.append(event)
            if on_event is not None:
                on_event(event)
    located.total_s = time.perf_counter() - started
    kinds = [event.type for event in located.events]
    if kinds[-1:] != ["done"] or kinds.count("answer") != 1:
        located.failure = f"the stream ended with {kinds[-2:]}"
    return located


def client() -> httpx.AsyncClient:
    """An HTTP client with a timeout of 300 s and no limit of connections; the caller closes it."""
    return httpx.AsyncClient(timeout=httpx.Timeout(300.0), limits=httpx.Limits(max_connections=None))


def family_pss_gb() -> float:
    """Proportional set size of this process's descendants: the service without its measuring client."""
    total = 0
    for process in psutil.Process().children(recursive=True):
        with gone_is_fine():
            total += process.memory_full_info().pss
    return round(total / 2**30, 3)


@contextmanager
def gone_is_fine() -> Iterator[None]:
    """Ignore that a process has ended, or may not be looked at, inside the block."""
    try:
        yield
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return


def percentile(values: list[float], share: float) -> float:
    """Nearest-rank percentile; 0 for nothing."""
    if not values:
        return 0.0
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def median(values: list[float]) -> float:
    """The middle value, or the mean of the two in the middle; 0 for nothing."""
    return statistics.median(values) if values else 0.0


def photo_labels(folder: Path) -> list[dict[str, Any]]:
    """The labels of an evaluation folder; a usage error when it is not one."""
    labels = folder / "labels.jsonl"
    if not labels.is_file():
        raise click.BadParameter(f"{folder} has no labels.jsonl", param_hint="--photos")
    return [orjson.loads(line) for line in labels.read_text().splitlines() if line.strip()]
