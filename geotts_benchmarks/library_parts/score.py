"""`geotts bench score`: how fast logs are scored, and whether a killed run resumes exactly."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import click
import orjson

from geotts_benchmarks.harness import Result, median, print_progress, report
from tts.domain.geo import LatLon, destination
from tts.domain.request import LocateOptions
from tts.domain.trajectory import Run
from tts.errors import GeoTTSError
from tts.eval.runs.journal import Journal, lines_of
from tts.eval.runs.runner import RunSetup, progress_of, run_samples
from tts.eval.sample import Sample, Truth, sample_id
from tts.eval.score import score_file

_N_ROWS = 60_000
_N_SAMPLES = 4_000
_WORDS = ("the", "sign", "reads", "{maybe}", "architecture", "suggests", "a", "town")
_SETUP = RunSetup("bench", LocateOptions(seed=1))


@click.command()
@click.option("--kills", type=click.IntRange(1, 1000), default=50, show_default=True)
@click.option("--quick", is_flag=True, help="Kill the process 8 times.")
def command(kills: int, quick: bool) -> None:
    """Score made-up logs.

    Also kill a run on made-up samples at random moments (kill -9), and count the rows in its file.
    """
    report("score", lambda: measure(8 if quick else kills))


def measure(kills: int) -> Result:
    """Rows scored a second, and what a run file holds after `kills` killed processes and one that ended."""
    with tempfile.TemporaryDirectory(prefix="geotts-bench-") as temporary:
        folder = Path(temporary)
        walls, busy = _measure_rates(folder / "log.jsonl")
        rates = {"rows_per_s": round(median(walls)), "rows_per_cpu_s": round(median(busy))}
        return {**rates, **_kill_and_resume(folder / "run.jsonl", kills)}


def _measure_rates(path: Path) -> tuple[list[float], list[float]]:
    """Rows a second, and a second of processor time, of `score_file`, over logs of the published form (1 kB a row)."""
    rng = random.Random(3)
    with path.open("wb") as file:
        for index in range(_N_ROWS):
            file.write(_log_row(rng, index))
    walls, busy = [], []
    for _ in range(5):
        started, worked = time.perf_counter(), time.process_time()
        scored = score_file(path)
        walls.append(scored.n / (time.perf_counter() - started))
        busy.append(scored.n / (time.process_time() - worked))
    print_progress(f"{_N_ROWS} rows: {', '.join(f'{rate:,.0f}' for rate in walls)} rows/s; {scored.unparsed} unparsed")
    return walls, busy


def _log_row(rng: random.Random, index: int) -> bytes:
    """A row as published logs have it: prose, then the answer; one in twenty has no answer that strict JSON takes."""
    truth = LatLon(lat=rng.uniform(-60, 70), lon=rng.uniform(-180, 179))
    guess = destination(truth, bearing_deg=rng.uniform(0, 360), distance_km=10 ** rng.uniform(-1, 3.5))
    words = " ".join(rng.choices(_WORDS, weights=(20, 10, 10, 1, 10, 10, 20, 10), k=140))
    city = "Town" if rng.random() < 0.05 else '"Town"'
    answer = (
        f'{{\n    "lat": {guess.lat:.5f},\n    "lon": {guess.lon:.5f},\n    "city": {city},\n    "country": "X"\n}}'
    )
    place = {"city": "Town", "country": "X", "image": f"{index}.jpg", "lat": truth.lat, "lon": truth.lon}
    row = {"index": index, "data_source": "made", "ground_truth": place, "solution_str": f"{words}\n\n{answer}"}
    return orjson.dumps(row) + b"\n"


def _kill_and_resume(path: Path, kills: int) -> Result:
    """Kill a child at random times, tearing its last line now and then; then let it finish and count."""
    rng = random.Random(11)
    killed = torn = 0
    while killed < kills:
        child = _start_child(path)
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(rng.uniform(0.0, 0.12))
        child.send_signal(signal.SIGKILL)
        killed += child.wait() == -signal.SIGKILL
        child.stdout.close()
        if rng.random() < 0.5:
            torn += _cut_last_line(path, rng)
        done = len(progress_of(path, _SETUP).done)
        if killed % 10 == 0:
            print_progress(f"{killed} kills, {torn} torn lines, {done} of {_N_SAMPLES} samples on disk")
        if done >= _N_SAMPLES * 0.9:
            path.unlink()  # start over, so that every kill hits a run under way
    last = _start_child(path)
    assert last.stdout is not None
    last.stdout.read()
    last.stdout.close()
    found = Counter(orjson.loads(line)["sample"] for _, line in lines_of(path))
    wanted = {sample.id for sample in _make_samples()}
    exact = last.wait() == 0 and found.keys() == wanted and set(found.values()) == {1}
    repeated = sum(count - 1 for count in found.values())
    return {
        "resume_exact": int(exact),
        "kills": killed,
        "torn_lines": torn,
        "lost": len(wanted - found.keys()),
        "repeated": repeated,
    }


def _start_child(path: Path) -> subprocess.Popen[bytes]:
    program = "import sys; from geotts_benchmarks.library_parts.score import child; child(sys.argv[1])"
    return subprocess.Popen(
        [sys.executable, "-c", program, str(path)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


def _cut_last_line(path: Path, rng: random.Random) -> int:
    """Cut the file inside its last line, as a power loss may."""
    if not path.exists() or not (size := path.stat().st_size):
        return 0
    with path.open("r+b") as file:
        file.truncate(max(0, size - rng.randint(1, 200)))
    return 1


def child(path: str) -> None:
    """The process that is killed: the real runner and journal around a solver that answers at once."""
    asyncio.run(_run_child(Path(path)))


async def _run_child(path: Path) -> None:
    with Journal(path) as journal:
        done = progress_of(path, _SETUP).done
        todo = [sample for sample in _make_samples() if sample.id not in done]
        sys.stdout.write(json.dumps({"left": len(todo)}) + "\n")
        sys.stdout.flush()
        async for _ in run_samples(todo, _run_without_answer, journal, _SETUP, concurrency=4):
            pass


async def _run_without_answer(request_id: str, photo: bytes, options: LocateOptions) -> Run:
    await asyncio.sleep(0)
    raise GeoTTSError("made to fail, so that nothing but the journal is measured")


def _make_samples() -> list[Sample]:
    truth = Truth(point=LatLon(lat=0.0, lon=0.0))
    return [Sample(sample_id("bench", str(i), 1), lambda: b"", truth, (), str(i)) for i in range(_N_SAMPLES)]
