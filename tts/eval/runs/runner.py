"""Runs samples concurrently and writes each result to the journal. After a restart it continues where it stopped."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from tts.aio import merge
from tts.domain.answer import Provenance
from tts.domain.request import LocateOptions
from tts.domain.trajectory import Run
from tts.errors import DataError, GeoTTSError, boundary
from tts.eval.runs.journal import Journal, lines_of
from tts.eval.runs.record import Record, record_from
from tts.eval.sample import Sample

Solver = Callable[[str, bytes, LocateOptions], Awaitable[Run]]
"""(request id, encoded photo, options) → the folded run. Raises GeoTTSError when the request breaks."""


@dataclass(frozen=True, slots=True)
class RunSetup:
    """What all records of one file have in common; a file is only continued with the same."""

    dataset: str
    options: LocateOptions
    config_sha256: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """What a run file holds already; `answered_by` is the provenance of its first answer."""

    done: frozenset[str]
    failed: frozenset[str]
    answered_by: Provenance | None = None


def require_same_run(path: Path, setup: RunSetup) -> None:
    """Look at the first line of a run file, before anything is written to it; a file that is not there yet is fine.

    Raises:
        DataError: when the line is no record, or one of another data set, options or configuration.
    """
    number, line = next(lines_of(path), (0, b"")) if path.exists() else (0, b"")
    try:
        row = orjson.loads(line) if line else None
    except orjson.JSONDecodeError:
        return  # the journal decides whether the file may be repaired
    if row is not None:
        _require_same(path, number, row, setup)


def progress_of(path: Path, setup: RunSetup) -> Progress:
    """Samples in a run file, failures apart; nothing for a file that is not there yet.

    Raises:
        DataError: when the file was made with another data set, other options or another configuration.
    """
    if not path.exists():
        return Progress(frozenset(), frozenset())
    failed: dict[str, bool] = {}
    answered_by: dict[str, Any] | None = None
    for number, line in lines_of(path):
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue  # a torn line: the journal cuts it off
        _require_same(path, number, row, setup)
        failed[row["sample"]] = bool(row.get("failure"))
        answered_by = answered_by or (row.get("answer") or {}).get("provenance")
    first = Provenance.model_validate(answered_by) if answered_by else None
    return Progress(frozenset(failed), frozenset(sample for sample, bad in failed.items() if bad), first)


def run_samples(
    samples: Sequence[Sample],
    solve: Solver,
    journal: Journal,
    setup: RunSetup,
    *,
    concurrency: int = 2,
    may_continue: Callable[[], bool] = lambda: True,
) -> AsyncGenerator[Record, None]:
    """Locate every sample and yield its record once it is on disk. Closing it stops the requests under way.

    A request that breaks becomes a record with a failure; its siblings go on. Once `may_continue` says no, no further
    sample is begun, and those under way are finished.
    """
    queue = (sample for sample in samples if may_continue())
    workers = [_record_queue(queue, solve, journal, setup) for _ in range(max(1, min(concurrency, len(samples))))]
    return merge(workers, maxsize=1)


async def _record_queue(
    queue: Iterator[Sample], solve: Solver, journal: Journal, setup: RunSetup
) -> AsyncGenerator[Record, None]:
    for sample in queue:
        record = await _run_sample(sample, solve, setup)
        await asyncio.to_thread(journal.append, record.json_line())
        yield record


async def _run_sample(sample: Sample, solve: Solver, setup: RunSetup) -> Record:
    started = time.perf_counter()
    base = Record(
        dataset=setup.dataset,
        sample=sample.id,
        key=sample.key,
        tags=sample.tags,
        truth=sample.truth,
        options=setup.options,
        config_sha256=setup.config_sha256,
        elapsed_s=0.0,
    )
    try:
        with boundary(GeoTTSError, "the request"):
            photo = await asyncio.to_thread(sample.load)
            started = time.perf_counter()  # reading or drawing the photo is not the solver's time
            record = record_from(await solve(sample.id, photo, setup.options), base)
    except GeoTTSError as error:
        record = base.model_copy(update={"failure": error.detail or error.code})
    return record.model_copy(update={"elapsed_s": round(time.perf_counter() - started, 3)})


def _require_same(path: Path, number: int, row: Any, setup: RunSetup) -> None:
    if not isinstance(row, dict) or "dataset" not in row or "sample" not in row:
        raise DataError(f"{path}, line {number} is no record of a run: choose another file")
    if (differs := _difference(row, setup)) is not None:
        raise DataError(f"{path}, line {number} was made with another {differs}: choose another file")


def _difference(row: dict[str, Any], setup: RunSetup) -> str | None:
    """What a line of the file and the setup disagree on; options are compared as values, so new defaults are fine."""
    if row.get("dataset") != setup.dataset:
        return "data set"
    if LocateOptions.model_validate(row.get("options", {})) != setup.options:
        return "set of options"
    same = row.get("config_sha256", "") == setup.config_sha256
    return None if same else "configuration, or with other contents of a file it names (prompt, tool schemas)"
