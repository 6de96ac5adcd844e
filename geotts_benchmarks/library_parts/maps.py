"""`geotts bench maps`: how long a 500x500 map takes, encoding included, all over the world and at every zoom."""

from __future__ import annotations

import random
import time

import click

from geotts_benchmarks.harness import Result, median, percentile, print_progress, report
from tools.maps import Style
from tools.providers.offline_maps import encoded_map
from tts.domain.geo import LatLon
from tts.geodata.maps.view import View
from tts.geodata.store import DataStore

_STYLES: tuple[Style, ...] = ("map", "satellite")
_SIDE_PX = 500


@click.command()
@click.option("--count", type=click.IntRange(2), default=300, show_default=True, help="Maps to draw.")
@click.option("--quick", is_flag=True, help="Draw 40 maps.")
def command(count: int, quick: bool) -> None:
    """Draw maps around towns, at zoom 2 to 12, in both styles. No map is drawn twice."""
    report("maps", lambda: measure(40 if quick else count))


def measure(count: int) -> Result:
    """Times in ms and the mean size in kB of `count` maps, drawn in this thread; the same places every time."""
    store = DataStore()
    gazetteer, cartographer = store.gazetteer(), store.cartographer()
    lat, lon = gazetteer.positions()
    rng = random.Random(5)
    took: dict[Style, list[float]] = {style: [] for style in _STYLES}
    busy, size = 0.0, 0
    for i in range(count):
        at = rng.randrange(len(gazetteer))
        point = LatLon(lat=float(lat[at]), lon=float(lon[at]))
        style = _STYLES[i % 2]
        started, worked = time.perf_counter(), time.process_time()
        size += len(encoded_map(cartographer, View(point, 2.0 + 10.0 * i / count, _SIDE_PX, _SIDE_PX), style))
        took[style].append((time.perf_counter() - started) * 1000.0)
        busy += time.process_time() - worked
        if (i + 1) % 100 == 0:
            print_progress(f"{i + 1} maps")
    both = took["map"] + took["satellite"]
    return {
        "p50_ms": round(median(both), 1),
        "p95_ms": round(percentile(both, 0.95), 1),
        "map_p50_ms": round(median(took["map"]), 1),
        "satellite_p50_ms": round(median(took["satellite"]), 1),
        "cpu_ms": round(busy / count * 1000.0, 1),
        "kb": round(size / count / 1000.0, 1),
        "maps": count,
    }
