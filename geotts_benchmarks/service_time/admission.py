"""`geotts bench admission`: small photos decoded in the gateway's own process, or in a pool of the standard library.

The two take turns. In each turn, some photos are under way at a time until all are decoded. Behind ADR 0015.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context

import click
import uvloop

from deployments.gateway.photos.decoding_process import PhotoProcess
from geotts_benchmarks.harness import Result, median, print_progress, report
from geotts_benchmarks.plain_photo import plain_photo
from tts.domain.photo import Photo, PhotoLimits
from tts.domain.photo_cleaning import load_small_photo
from tts.errors import FatalError

_WORTHWHILE_GAIN = 1.15  # times as many photos a second, from which a decoder of our own is worth its code
Decode = Callable[[bytes], Awaitable[Photo | None]]


@dataclass(frozen=True, slots=True)
class Turn:
    """Photos a second, and milliseconds of this process's processor time for one photo."""

    photos_s: float
    own_ms: float


@click.command()
@click.option("--turns", type=click.IntRange(1, 40), default=4, show_default=True)
@click.option(
    "--photos",
    type=click.IntRange(16, 20000),
    default=2000,
    show_default=True,
    help="Photos that each decoder gets in a turn.",
)
@click.option(
    "--at-once", type=click.IntRange(1, 256), default=16, show_default=True, help="Photos sent at the same time."
)
@click.option("--quick", is_flag=True, help="Run two turns of 200 photos.")
def command(turns: int, photos: int, at_once: int, quick: bool) -> None:
    """Photos a second and the gateway's processor time: its own decoding process against ProcessPoolExecutor."""
    turns, photos = (2, 200) if quick else (turns, photos)
    report("admission", lambda: uvloop.run(measure(turns, photos, at_once)))


async def measure(turns: int, photos: int, at_once: int) -> Result:
    """Figures of both decoders; `worthwhile_turns` counts turns in which the own process is 15 % faster or more."""
    photo = plain_photo()
    async with _own_process() as own, _process_pool() as pool:
        rows = []
        for number in range(turns):
            row = {
                name: await _measure_turn(decode, photo, photos, at_once)
                for name, decode in (("own", own), ("pool", pool))
            }
            rows.append(row)
            print_progress(
                f"turn {number + 1}: " + ", ".join(f"{name} {turn.photos_s:.0f}/s" for name, turn in row.items())
            )
    gains = [row["own"].photos_s / row["pool"].photos_s for row in rows]
    return {
        **{f"{name}_photos_s": round(median([row[name].photos_s for row in rows]), 1) for name in ("own", "pool")},
        **{f"{name}_gateway_ms": round(median([row[name].own_ms for row in rows]), 3) for name in ("own", "pool")},
        "gains": [round(gain, 3) for gain in gains],
        "worthwhile_turns": sum(gain >= _WORTHWHILE_GAIN for gain in gains),
        "turns": turns,
        "photos": photos,
        "at_once": at_once,
    }


@asynccontextmanager
async def _own_process() -> AsyncIterator[Decode]:
    process = PhotoProcess(PhotoLimits())
    try:
        async with asyncio.timeout(60):
            while not process.ready():  # noqa: ASYNC110  there is no event for it
                await asyncio.sleep(0.05)
        yield process.clean
    finally:
        await process.aclose()


@asynccontextmanager
async def _process_pool() -> AsyncIterator[Decode]:
    """One process that is started anew and empties its environment."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_empty_environment) as pool:
        decode = partial(load_small_photo, limits=PhotoLimits())
        await asyncio.wrap_future(pool.submit(os.getpid))
        yield lambda raw: asyncio.wrap_future(pool.submit(decode, raw))


def _empty_environment() -> None:
    os.environ.clear()


async def _measure_turn(decode: Decode, photo: bytes, photos: int, at_once: int) -> Turn:
    waiting = iter(range(photos))

    async def client() -> None:
        for _ in waiting:
            if await decode(photo) is None:
                raise FatalError("the photo of this benchmark is not decoded as a small one")

    started, used = time.perf_counter(), time.process_time()
    async with asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(client())
    wall_s, used_s = time.perf_counter() - started, time.process_time() - used
    return Turn(photos / wall_s, 1000.0 * used_s / photos)
