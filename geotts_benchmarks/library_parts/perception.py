"""`geotts bench perception`: seconds to read the signs of a photo, and the memory that takes, in a fresh process."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click
import orjson
import psutil

from geotts_benchmarks.harness import DEFAULT_PHOTOS, Result, median, percentile, photo_labels, report
from tts.domain.photo_cleaning import load_photo
from tts.perception.sign_reader import SignReader

_QUICK_COUNT = 16


@click.command()
@click.option("--photos", type=click.Path(path_type=Path), default=DEFAULT_PHOTOS, show_default=True)
@click.option("--quick", is_flag=True, help=f"Use {_QUICK_COUNT} photos, at equal distances in the list.")
def command(photos: Path, quick: bool) -> None:
    """Read every photo once, in its clean copy. Photos with text and without text have separate figures."""
    labels = photo_labels(photos)
    chosen = labels[:: max(1, len(labels) // _QUICK_COUNT)] if quick else labels
    report("perception", lambda: measure([(photos / row["file"], bool(row["has_legible_text"])) for row in chosen]))


def measure(photos: Sequence[tuple[Path, bool]]) -> Result:
    """Medians over photos; `pss_mb` is the most a process that does nothing else had after any of them."""
    program = "from geotts_benchmarks.library_parts.perception import child; child()"
    wanted = b"\n".join(str(path).encode() for path, _ in photos)
    done = subprocess.run([sys.executable, "-c", program], input=wanted, stdout=subprocess.PIPE, check=True)
    rows = [orjson.loads(line) for line in done.stdout.splitlines()]
    walls = [row["s"] for row in rows]
    parts = {text: [row["s"] for row, (_, has) in zip(rows, photos, strict=True) if has == text] for text in (0, 1)}
    return {
        "p50_s": round(median(walls), 3),
        "p95_s": round(percentile(walls, 0.95), 3),
        "text_p50_s": round(median(parts[1]), 3),
        "notext_p50_s": round(median(parts[0]), 3),
        "cpu_p50_s": round(median([row["cpu_s"] for row in rows]), 3),
        "pss_mb": round(max(row["pss_mb"] for row in rows)),
        "lines": sum(row["lines"] for row in rows),
        "photos": len(rows),
    }


def child() -> None:
    """Reads the photos whose paths come on stdin; a JSON line each. The first photo's time includes no loading."""
    reader, process = SignReader(), psutil.Process()
    paths = [Path(line) for line in sys.stdin.read().splitlines()]
    reader.read(load_photo(paths[0].read_bytes()))  # opens what is opened when it is first needed
    for path in paths:
        photo = load_photo(path.read_bytes())
        started, worked = time.perf_counter(), time.process_time()
        lines = len(reader.read(photo).lines)
        row = {"s": time.perf_counter() - started, "cpu_s": time.process_time() - worked, "lines": lines}
        click.echo(orjson.dumps(row | {"pss_mb": process.memory_full_info().pss / 2**20}).decode())
