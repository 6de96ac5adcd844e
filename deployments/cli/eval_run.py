"""`geotts eval run`."""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import click
from rich.progress import BarColumn, Progress, TextColumn

from deployments.cli import shared_options
from deployments.cli.console import EXIT_FAILED, EXIT_INTERRUPTED, STDERR, config_option, profile_options
from deployments.cli.text_console import shown_names
from deployments.cli.views import clean
from deployments.config import AppArgs
from deployments.wiring.local import local_ports
from tts.api.client import Client
from tts.domain.answer import Provenance
from tts.domain.geo import TABLE_KM, distance_km
from tts.domain.plan import Depth
from tts.domain.request import LocateOptions
from tts.errors import DataError
from tts.eval.acceptance.allowance import Allowance
from tts.eval.datasets import DATASETS, describe_left_out, load_dataset
from tts.eval.metrics.name_agreement import PlaceNames
from tts.eval.runs.configuration import config_digest
from tts.eval.runs.journal import Journal
from tts.eval.runs.one_system import OneSystem
from tts.eval.runs.record import Record
from tts.eval.runs.run_metrics import right_country
from tts.eval.runs.runner import RunSetup, Solver, progress_of, require_same_run, run_samples
from tts.eval.runs.solvers import LocalSolver, RemoteSolver
from tts.eval.sample import LeftOut, Sample
from tts.geodata.countries import Countries
from tts.ports.closable import close_each

_MAX_REASON_CHARS = 1000
_LINE_EVERY_S = 10.0


@click.command()
@click.argument("dataset", type=click.Choice([*DATASETS]))
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Run file. Default: named by the options, such as runs/DATASET-n4-auto-seed0.jsonl.",
)
@click.option(
    "--n", "n", type=click.IntRange(1, 32), default=4, show_default=True, help="Attempts (rollouts) per photo."
)
@click.option(
    "--depth",
    type=click.Choice([depth.value for depth in Depth]),
    default=Depth.AUTO.value,
    show_default=True,
    help="auto: as users get it. deep: all attempts, to compare in `geotts eval report`.",
)
@click.option(
    "--stop",
    help="Stop policy, by which attempts that agree stop the others. Default: routing.stop of the configuration.",
)
@click.option("--dialect", help="Dialect: how prompts, tool calls and answers are written.")
@click.option("--target-radius-km", type=float, default=25.0, show_default=True, help="Target radius, in km.")
@click.option("--deadline-s", type=float, help="Seconds for each photo.")
@shared_options.hide_photo_hosts
@click.option(
    "--allow-region-search",
    is_flag=True,
    help="Allow regions of the photos to be sent to web services that search by picture.",
)
@click.option("--url", help="Address of a running service. Default: this process does the work.")
@shared_options.concurrency
@click.option("--limit", type=click.IntRange(min=1), help="Use a random sample of this many photos.")
@click.option("--tag", "tags", multiple=True, help="Use only photos with this tag, such as text. Repeatable.")
@click.option(
    "--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True, help="The same seed repeats a run."
)
@click.option("--retry-failed", is_flag=True, help="Repeat the requests that failed.")
@click.option(
    "--skip-unusable",
    is_flag=True,
    help="Leave out rows without a position or whose picture is missing. A file beside the run file names them.",
)
@config_option
@profile_options
def run(
    args: AppArgs,
    dataset: str,
    path: Path,
    out: Path | None,
    n: int,
    depth: str,
    url: str | None,
    concurrency: int,
    limit: int | None,
    tags: tuple[str, ...],
    seed: int,
    retry_failed: bool,
    skip_unusable: bool,
    **fields: Any,
) -> None:
    """Locate the photos of DATASET in PATH, and write every trajectory to a run file: one JSON line for each photo.

    You can stop the command in any way, also with kill -9. The same command then continues, and no photo is lost or
    repeated. If requests failed, the exit code is 1; failures do not count as abstentions.
    """
    options = LocateOptions(n_parallel=n, depth=Depth(depth), seed=seed, include="full", **fields)
    target = out or Path("runs") / f"{dataset}-n{n}-{depth}-seed{seed}.jsonl"
    left_out: list[LeftOut] = []
    loaded = load_dataset(dataset, path, seed=seed, skip_unusable=skip_unusable, on_left_out=left_out.extend)
    samples = choose_samples(loaded, tags, limit)
    setup = RunSetup(dataset, options, config_digest(args, url))
    require_same_run(target, setup)
    with Journal(target) as journal:
        _name_left_out(target, left_out)
        if journal.repaired_bytes:
            STDERR.print(f"  cut off {journal.repaired_bytes} bytes of a line that was not finished")
        before = progress_of(target, setup)
        skip = before.done - before.failed if retry_failed else before.done
        todo = [sample for sample in samples if sample.id not in skip]
        STDERR.print(f"{dataset}: {len(samples)} photos, {len(samples) - len(todo)} done before → {target}")
        try:
            reasons = asyncio.run(_run(args, url, todo, journal, setup, concurrency, before.answered_by))
        except KeyboardInterrupt:
            STDERR.print(f"stopped. To continue, run the same command again: geotts {' '.join(sys.argv[1:])}")
            raise click.exceptions.Exit(EXIT_INTERRUPTED) from None
    STDERR.print(f"done. geotts eval report {target}")
    if options.depth is Depth.AUTO:
        STDERR.print("  to see what depth costs and saves, run it with --depth deep too and name both run files")
    failed = progress_of(target, setup).failed
    names = [sample.key for sample in samples if sample.id in failed]
    if names:
        _report_failures(names, len(samples), reasons)
        raise click.exceptions.Exit(EXIT_FAILED)


def _report_failures(names: Sequence[str], total: int, reasons: Sequence[str]) -> None:
    """`names` are the photos of the run file without an answer, `reasons` those of this call, one for each photo."""
    STDERR.print(
        f"{len(names)} of {total} photos failed: {clean(shown_names(names), _MAX_REASON_CHARS)}",
        markup=False,
        soft_wrap=True,
    )
    if reasons:
        why, count = Counter(reasons).most_common(1)[0]
        STDERR.print(f"  {count} of them so: {clean(why, _MAX_REASON_CHARS)}", markup=False, soft_wrap=True)
    STDERR.print(
        "They are no part of any figure. To ask again, add --retry-failed to the same command.", soft_wrap=True
    )


def _name_left_out(target: Path, left_out: Sequence[LeftOut]) -> None:
    if not left_out:
        return
    names = target.with_suffix(".left_out.txt")
    names.write_text("".join(f"{one.key}\t{one.reason}\n" for one in left_out), encoding="utf-8")
    STDERR.print(f"left out: {describe_left_out(left_out)} → {names}", markup=False, soft_wrap=True)


def choose_samples(samples: Sequence[Sample], tags: Sequence[str], limit: int | None) -> list[Sample]:
    """Samples with all `tags`, at most `limit`. Raises DataError when none is left, with the tags there are."""
    kept = [sample for sample in samples if set(tags) <= set(sample.tags)]
    if not kept:
        known = sorted({tag for sample in samples for tag in sample.tags})
        raise DataError(f"no photo has the tags {', '.join(tags)}; there are: {', '.join(known) or 'none'}")
    return kept[:limit]


async def _run(
    args: AppArgs,
    url: str | None,
    todo: list[Sample],
    journal: Journal,
    setup: RunSetup,
    concurrency: int,
    answered_by: Provenance | None,
) -> list[str]:
    """Why requests failed, one entry a photo."""
    if not todo:
        return []
    if url is None:
        async with local_solver(args) as solver:
            return await locate_samples(solver, todo, journal, setup, concurrency)
    timeout_s = (setup.options.wanted_s or args.gateway.default_deadline_s) + 60.0
    async with Client(url, timeout_s=timeout_s) as client:
        return await locate_samples(OneSystem(RemoteSolver(client), answered_by), todo, journal, setup, concurrency)


@asynccontextmanager
async def local_solver(args: AppArgs) -> AsyncIterator[LocalSolver]:
    """Locates photos in this process, until the block ends."""
    ports = local_ports(args)
    try:
        yield LocalSolver(ports, deadline_s=args.gateway.default_deadline_s)
    finally:
        await close_each(ports.rollouts, ports.verifier)


async def locate_samples(
    solver: Solver,
    todo: list[Sample],
    journal: Journal,
    setup: RunSetup,
    concurrency: int,
    allowance: Allowance | None = None,
) -> list[str]:
    """Locate photos until `allowance` is used up; why requests failed, one entry a photo."""
    failures = []
    may_continue = allowance.may_continue if allowance is not None else lambda: True
    with running_figures(len(todo)) as show:
        async for record in run_samples(
            todo, solver, journal, setup, concurrency=concurrency, may_continue=may_continue
        ):
            if allowance is not None:
                allowance.count(record)
            show(record)
            if record.failure:
                failures.append(record.failure)
    return failures


class _Tally:
    """Running figures of what came in so far."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._names = PlaceNames(Countries())
        self._recent_ends: deque[float] = deque(maxlen=64)
        self.done = 0
        self.failures = 0
        self._right_countries = 0
        self._named_countries = 0
        self._abstentions = 0
        self._hits_by_km = dict.fromkeys(TABLE_KM[1:], 0)

    def add(self, record: Record | None) -> None:
        if record is None:
            return
        self.done += 1
        self._recent_ends.append(time.monotonic())
        if record.failure:
            self.failures += 1
            return
        self._named_countries += bool(record.truth.country or record.truth.country_code)
        self._right_countries += right_country(record, self._names)
        point = record.answer.point if record.answer is not None else None
        if point is None:
            self._abstentions += 1
            return
        error_km = distance_km(point, record.truth.point)
        for threshold in self._hits_by_km:
            self._hits_by_km[threshold] += error_km < max(threshold, record.truth.slack_km)

    def text(self) -> str:
        answered = max(1, self.done - self.failures)
        shares = " ".join(f"@{t:g} {100 * count / answered:.1f}" for t, count in self._hits_by_km.items())
        failed = f" · {self.failures} failed" if self.failures else ""
        named = self._named_countries
        country = f" · country {100 * self._right_countries / named:.0f} %" if named else ""
        return (
            f"{self.done}/{self._total} {shares} %{country} · "
            f"abstained {100 * self._abstentions / answered:.0f} %{failed} · {self._remaining_text()}"
        )

    def _remaining_text(self) -> str:
        """Time left at the pace of the last photos."""
        if len(self._recent_ends) < 2:
            return "…"
        pace_s = (self._recent_ends[-1] - self._recent_ends[0]) / (len(self._recent_ends) - 1)
        seconds = int(pace_s * (self._total - self.done))
        return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02} left"


@contextmanager
def running_figures(total: int, label: str = "") -> Iterator[Callable[[Record | None], None]]:
    """A bar with running figures and time left on a terminal, a line every ten seconds otherwise."""
    tally = _Tally(total)
    if not STDERR.is_terminal:
        last = time.monotonic()

        def line(record: Record | None) -> None:
            nonlocal last
            tally.add(record)
            if tally.done == total or time.monotonic() - last >= _LINE_EVERY_S:
                last = time.monotonic()
                STDERR.print(f"  {label}{tally.text()}", soft_wrap=True)

        yield line
        return
    columns = (BarColumn(bar_width=8), TextColumn("{task.description}", markup=False))  # all of it fits into 80 columns
    with Progress(*columns, console=STDERR) as bar:
        task = bar.add_task("starting …", total=total)

        def update(record: Record | None) -> None:
            tally.add(record)
            bar.update(task, completed=tally.done, description=label + tally.text())

        yield update
