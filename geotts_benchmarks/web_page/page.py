"""`geotts bench page`: a queue of photos in a real browser, with the live view: memory, and time for events.

A batch is what the page does with the events that arrive together: the time in `Live.take` until the browser gets a
turn, layouts that it forces included.
"""

from __future__ import annotations

import asyncio
import itertools
import shutil
import tempfile
from pathlib import Path

import click
import psutil

from deployments.config import AppArgs, GatewayConfig
from deployments.launch.cluster import serve_configuration
from geotts_benchmarks.harness import Result, free_port, gone_is_fine, percentile, print_progress, report
from geotts_benchmarks.web_page.chromium import CHROMIUM, MISSING, Tab, chromium
from tts.package_files import sample_photos

_SAMPLE_PERIOD_S = 1.0
_MAX_WATCH_S = 1800.0
# The module is the one that the page runs, so that its class can be measured from outside.
_WATCH_SCRIPT = """import(new URL('web/live.js', document.baseURI)).then(({ Live }) => {
  const take = Live.prototype.take;
  window.batches = [];
  let batch = null;
  Live.prototype.take = function (event) {
    if (batch === null) { batch = 0; setTimeout(() => { window.batches.push(batch); batch = null; }); }
    const begun = performance.now();
    try { return take.call(this, event); } finally { batch += performance.now() - begun; }
  };
  return true;
})"""
_QUEUED_COUNT = "document.querySelectorAll('#thumbs li').length"
_ENDED_COUNT = "document.querySelectorAll('#case-runs .entry:is(.done, .abstained, .failed, .cancelled)').length"


@click.command()
@click.option(
    "--photos", "count", type=click.IntRange(1, 200), default=50, show_default=True, help="Photos in the queue."
)
@click.option("--n", "n", type=click.IntRange(1, 32), default=4, show_default=True, help="Rollouts for each photo.")
@click.option("--quick", is_flag=True, help="Use only five photos.")
def command(count: int, n: int, quick: bool) -> None:
    """Memory of the page and its time for events while a queue of photos is located and looked at."""
    report("page", lambda: measure(5 if quick else count, n))


def measure(count: int, n: int) -> Result:
    """Sizes in MB (10^6 bytes), times in ms. Raises click.ClickException where there is no Chromium."""
    if CHROMIUM is None:
        raise click.ClickException(MISSING)
    args = AppArgs(gateway=GatewayConfig(port=free_port()))
    with serve_configuration(args) as service, tempfile.TemporaryDirectory() as folder:
        print_progress(f"ready after {service.ready_s} s; {count} photos, n={n}")
        return {"photos": count, "n": n, **asyncio.run(_run(service.url, Path(folder), count, n))}


async def _run(url: str, folder: Path, count: int, n: int) -> Result:
    async with chromium(folder / "profile") as browser:
        tab = await browser.tab()
        await tab.ask("Performance.enable")
        await tab.look()
        await tab.open(url)
        await tab.wait_until("document.getElementById('foot').textContent")
        await tab.js(_WATCH_SCRIPT)
        empty = max(_renderers_mb(browser.pid))
        await tab.choose("#photos", *_copy_photos(folder, count))
        await tab.wait_until(f"{_QUEUED_COUNT} == {count}")
        await tab.js(f"document.getElementById('apart').click(); document.getElementById('rollouts').value = {n}")
        await tab.js("document.getElementById('depth').value = 'deep'; document.getElementById('go').click()")
        heaps, processes = await _watch_until_ended(tab, browser.pid, count)
        batches: list[float] = await tab.js("window.batches")
        return {
            "heap_mb": round(max(heaps), 1),
            "process_mb": round(max(map(max, processes)), 1),
            "all_processes_mb": round(max(map(sum, processes)), 1),
            "process_empty_mb": round(empty, 1),
            "batches": len(batches),
            "batch_p50_ms": round(percentile(batches, 0.5), 2),
            "batch_p99_ms": round(percentile(batches, 0.99), 2),
            "batch_longest_ms": round(max(batches, default=0.0), 2),
            "complaints": tab.console_errors[:3],
        }


async def _watch_until_ended(tab: Tab, pid: int, count: int) -> tuple[list[float], list[list[float]]]:
    """Heap of the page and memory of the processes that show pages, every second until every photo has ended."""
    heaps, processes = [], []
    async with asyncio.timeout(_MAX_WATCH_S):
        while True:
            ended = int(await tab.js(_ENDED_COUNT))
            metrics = {one["name"]: one["value"] for one in (await tab.ask("Performance.getMetrics"))["metrics"]}
            heaps.append(metrics["JSHeapUsedSize"] / 1e6)
            processes.append(_renderers_mb(pid))
            if ended >= count:
                return heaps, processes
            await asyncio.sleep(_SAMPLE_PERIOD_S)


def _copy_photos(folder: Path, count: int) -> list[Path]:
    """Files of their own, from the photos that ship."""
    found = []
    for number, (name, photo) in zip(range(count), itertools.cycle(sorted(sample_photos().items())), strict=False):
        found.append(folder / f"{number:03d}-{name}")
        shutil.copyfile(photo, found[-1])
    return found


def _renderers_mb(pid: int) -> list[float]:
    """Proportional set size of each process that shows pages: the page's, which is the largest once it has photos, and
    those of the empty pages that the browser opens itself."""
    found = []
    for process in psutil.Process(pid).children(recursive=True):
        with gone_is_fine():
            if "--type=renderer" in process.cmdline():
                found.append(process.memory_full_info().pss / 1e6)
    return found
