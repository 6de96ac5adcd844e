"""`geotts bench tracing`: the throughput that traces with `telemetry.gen_ai` cost.

Two services as `geotts serve` starts them: one traces to a receiver in this process, the other does not trace. Both
get the same requests, one service after the other, in pairs; which of them is first alternates. So other work on the
machine affects both. Measured with the embedded engine, and, as the worst case, with a scripted engine that takes no
time: then a request is nothing but what the service does for it.

Beside the throughput stands the time of the processors that a service took for a request. It says the same where a
service has the machine for itself, and is steadier where it has not.
"""

from __future__ import annotations

import asyncio
import io
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import click
import httpx
import numpy as np
from PIL import Image

from geotts_benchmarks.endurance.service import own_service
from geotts_benchmarks.harness import Result, client, print_progress, report
from geotts_benchmarks.plain_photo import plain_photo
from geotts_benchmarks.service_time.otlp_receiver import run_receiver
from tts.errors import FatalError
from tts.eval.metrics.intervals import bootstrap_median
from tts.package_files import sample_photos

SETTLE_S = 6.0  # a process exports every 5 s: so no block is exported within another
_FIELDS = {"n_parallel": "4", "depth": "standard", "stop": "none", "include": "none"}
_SCRIPTED_ARGS: dict[str, Any] = {
    "engine": {"name": "scripted", "turns": 3, "tokens_per_turn": 16, "turn_s": 0.0},
    "routing": {"method": "fixed"},
    "colocate": True,
}


class RunningService(Protocol):
    """A running service."""

    url: str

    def cpu_s(self) -> float:
        """Seconds of the processors that its processes have taken so far."""
        ...


@dataclass(frozen=True, slots=True)
class Load:
    """`clients` send `photos` photos each, `pairs` times to each of the two services. `photo` makes them by number."""

    clients: int
    photos: int
    pairs: int
    photo: Callable[[int], bytes]


@dataclass(frozen=True, slots=True)
class Block:
    """The same requests as another block: wall seconds, and seconds of the processors: in these, and while the spans
    are exported afterwards."""

    wall_s: float
    cpu_s: float
    export_cpu_s: float = 0.0


@click.command()
@click.option(
    "--pairs",
    type=click.IntRange(2),
    default=30,
    show_default=True,
    help="Pairs of runs to compare: one with traces, one without.",
)
@click.option("--only", type=click.Choice(["embedded", "scripted"]), help="Measure only this engine.")
@click.option("--quick", is_flag=True, help="Compare 2 pairs.")
def command(pairs: int, only: str | None, quick: bool) -> None:
    """The same requests to a service that traces with gen_ai and to one that does not, in alternating pairs."""
    report("tracing", lambda: measure(2 if quick else pairs, only))


def measure(pairs: int, only: str | None = None) -> Result:
    """By engine: throughput with traces as a share of that without, in median and with a 95 % interval; also what it
    costs in percent, and the same for the time of the processors."""
    found: Result = {"pairs": pairs}
    photo = plain_photo(640, 480)
    if only != "scripted":
        found["embedded"] = _measure_engine("embedded", {}, Load(2, 2, pairs, _unread_photo))
    if only != "embedded":
        found["scripted"] = _measure_engine("scripted", _SCRIPTED_ARGS, Load(4, 8, pairs, lambda _: photo))
    return found


def _measure_engine(name: str, args: Mapping[str, Any], load: Load) -> Result:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        receiver = stack.enter_context(run_receiver())
        telemetry = {"traces": "otlp", "gen_ai": True, "endpoint": receiver.endpoint}
        off = stack.enter_context(own_service(folder / "off", args))
        on = stack.enter_context(own_service(folder / "on", {**args, "telemetry": telemetry}))
        print_progress(f"{name}: two services are ready")
        result = asyncio.run(measure_pairs(name, off, on, load))
        spans = [span.name for _, span in receiver.spans()]
    requests = spans.count("request")
    if requests < load.clients * load.photos * load.pairs:
        raise FatalError(f"of the requests that were traced, only {requests} arrived at the receiver")
    return {**result, "spans_a_request": round(len(spans) / requests, 1)}


async def measure_pairs(name: str, off: RunningService, on: RunningService, load: Load) -> Result:
    """The figures of one engine: `off` and `on` in alternating order, with the same photos and seeds in each pair."""
    blocks: dict[str, list[Block]] = {"off": [], "on": []}
    services = {"off": off, "on": on}
    async with client() as http:
        for pair in range(-1, load.pairs):  # the first only warms up
            order = ("off", "on") if pair % 2 else ("on", "off")
            photos = _photos(pair + 1, load)
            done = {which: await _measure_block(http, services[which], photos) for which in order}
            if pair < 0:
                continue
            for which, block in done.items():
                blocks[which].append(block)
            print_progress(
                f"{name}, pair {pair + 1}: {done['off'].wall_s:.2f} s without, {done['on'].wall_s:.2f} s with traces"
            )
    return compare_blocks(blocks["off"], blocks["on"], load.clients * load.photos)


def compare_blocks(off: Sequence[Block], on: Sequence[Block], requests: int) -> Result:
    """What pairs of blocks of so many requests say. Each needs at least one block."""
    walls = [np.array([block.wall_s for block in blocks]) for blocks in (off, on)]
    totals = [np.array([block.cpu_s + block.export_cpu_s for block in blocks]) for blocks in (off, on)]
    busy, added = np.array([block.cpu_s for block in off]), totals[1] - totals[0]  # what idles is in both
    throughput, cpu = bootstrap_median(walls[0] / walls[1]), bootstrap_median(1.0 + added / busy)
    return {
        "throughput": round(throughput.value, 4),
        "throughput_95": [round(throughput.low, 4), round(throughput.high, 4)],
        "costs_percent": round(100.0 * (1.0 - throughput.value), 2),
        "cpu": round(cpu.value, 4),
        "cpu_95": [round(cpu.low, 4), round(cpu.high, 4)],
        "rps_off": round(requests / float(np.median(walls[0])), 2),
        "rps_on": round(requests / float(np.median(walls[1])), 2),
        "cpu_ms_off": round(1e3 * float(np.median(busy)) / requests, 1),
        "cpu_ms_added": round(1e3 * float(np.median(added)) / requests, 1),
    }


async def _measure_block(http: httpx.AsyncClient, service: RunningService, photos: Sequence[Sequence[bytes]]) -> Block:
    """Each client sends its photos. The block ends when its spans are out."""
    cpu_s, started = service.cpu_s(), time.perf_counter()

    async def send(own: Sequence[bytes]) -> None:
        for seed, photo in enumerate(own):
            reply = await http.post(
                f"{service.url}/locate", files={"image": photo}, data={**_FIELDS, "seed": str(seed)}
            )
            if reply.status_code != httpx.codes.OK:
                raise FatalError(f"{service.url} replied {reply.status_code}: {reply.text[:300]}")

    await asyncio.gather(*map(send, photos))
    wall_s, busy_s = time.perf_counter() - started, service.cpu_s() - cpu_s
    await asyncio.sleep(SETTLE_S)
    return Block(wall_s, busy_s, service.cpu_s() - cpu_s - busy_s)


def _photos(pair: int, load: Load) -> list[list[bytes]]:
    """Those of each client in one pair."""
    first = pair * load.clients * load.photos
    return [
        [load.photo(first + client * load.photos + i) for i in range(load.photos)] for client in range(load.clients)
    ]


def _unread_photo(number: int) -> bytes:
    """A shipped sample with a corner of its own, so that nobody has read it before."""
    samples = [*sample_photos().values()]
    with Image.open(samples[number % len(samples)]) as sample:
        picture = sample.convert("RGB")
    picture.paste((number % 8 * 32, number // 8 % 8 * 32, number // 64 % 8 * 32), (0, 0, 16, 16))
    written = io.BytesIO()
    picture.save(written, "JPEG", quality=92)
    return written.getvalue()
