"""Compares a run with the published figures of the same benchmark, at the thresholds of each publication."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tts.domain.value import Value
from tts.errors import DataError
from tts.eval.metrics.accuracy import PAPER_KM, accuracy_percent
from tts.eval.metrics.name_agreement import PlaceNames
from tts.eval.published_results import PublishedRow, published_for
from tts.eval.runs.dependence import RunDependence, run_dependences
from tts.eval.runs.kind_of_n import kind_of_records
from tts.eval.runs.record import Record
from tts.eval.runs.run_metrics import Figures, RecordColumns, figures, measure
from tts.verify.evidence.world import World


class TableRow(Value):
    """`note` says where a row is from, or why it is not to be compared."""

    system: str
    acc_percent: tuple[float, ...]
    note: str = ""
    ours: bool = False


class Table(Value):
    """This run, in the last row, below the published rows of a benchmark that have the same thresholds."""

    benchmark: str
    thresholds_km: tuple[float, ...]
    rows: tuple[TableRow, ...]


class Report(Value):
    """Figures of the whole run and of its tagged parts, and tables with published rows.

    `side_by_side` has this run and others over the photos that all of them answered, by what they were asked for.
    `dependence` is that of two rollouts of one model, `dependence_between_models` that of two models of a mixture.
    `kind_of_n` says whether the rollouts are samples of one policy.
    """

    dataset: str
    kind_of_n: str
    whole: Figures
    parts: dict[str, Figures]
    tables: tuple[Table, ...]
    side_by_side: dict[str, Figures] = {}
    dependence: RunDependence | None = None
    dependence_between_models: RunDependence | None = None


def report(
    records: Sequence[Record],
    names: PlaceNames,
    others: Sequence[Sequence[Record]] = (),
    world: World | None = None,
) -> Report:
    """Needs records of one data set. `others` are further runs of it, for instance at another depth. `world` is needed
    for the dependence.

    Raises:
        DataError: when another run is of another data set, or answered none of the same photos.
    """
    measured = measure(records, names)
    dataset = records[0].dataset
    tags = sorted({tag for record in measured.records for tag in record.tags})
    parts = {tag: measured.part(lambda record, tag=tag: tag in record.tags) for tag in tags}  # type: ignore[misc]
    benchmarks = {dataset: measured, **{f"{dataset}_{tag}": part for tag, part in parts.items()}}
    of_one_model, between_models = run_dependences(records, world) if world is not None else (None, None)
    return Report(
        dataset=dataset,
        kind_of_n=kind_of_records(records),
        whole=figures(measured, intervals=True),
        parts={tag: figures(part) for tag, part in parts.items()},
        tables=tuple(table for name, part in benchmarks.items() for table in _tables(name, part)),
        side_by_side=_figures_by_run([records, *others], names) if others else {},
        dependence=of_one_model,
        dependence_between_models=between_models,
    )


def _figures_by_run(runs: Sequence[Sequence[Record]], names: PlaceNames) -> dict[str, Figures]:
    if len({record.dataset for run in runs for record in run}) > 1:
        raise DataError("runs of different data sets cannot stand side by side")
    shared = set.intersection(*({record.sample for record in run if not record.failure} for run in runs))
    if not shared:
        raise DataError("these runs have answered no photo in common")
    found: dict[str, Figures] = {}
    for run in runs:
        kept = [record for record in run if record.sample in shared]
        options = kept[0].options
        label = f"{options.depth.value}, n = {options.n_parallel}"
        label += f", stop {options.stop}" if options.stop is not None else ""
        found[label if label not in found else f"{label} ({len(found) + 1})"] = figures(measure(kept, names))
    return found


def markdown(found: Report) -> str:
    """The whole report as Markdown."""
    sections = [
        f"# {found.dataset}",
        f"Kind of N: {found.kind_of_n}",
        _figures_table({"all": found.whole, **found.parts}),
    ]
    intervals = ", ".join(f"@{t:g} km {i}" for t, i in zip(PAPER_KM, found.whole.acc_intervals, strict=False))
    sections.append(f"95 % intervals: {intervals}")
    between = found.dependence_between_models
    for of, rho in (("rollouts of one model", found.dependence), ("rollouts of different models", between)):
        if rho is not None:
            sections.append(f"Dependence of {of}: ρ = {rho.rho:.2f}, from shared statements in {rho.photos} photos")
    if found.side_by_side:
        sections += ["## Side by side, on the photos that all runs answered", _figures_table(found.side_by_side)]
    for table in found.tables:
        sections += [f"## {table.benchmark}: beside published rows", table_markdown(table)]
    return "\n\n".join(sections)


def table_markdown(table: Table) -> str:
    """The table as Markdown; our row in bold, rows that are not comparable marked with *."""
    head = ["system", *(f"@{t:g} km" for t in table.thresholds_km), "source"]
    rows = [
        [f"**{row.system}**" if row.ours else row.system, *(f"{value:.2f}" for value in row.acc_percent), row.note]
        for row in table.rows
    ]
    return _markdown_table(head, rows)


_TABLE_HEAD = (
    "n", "failed", *(f"@{t:g} km" for t in PAPER_KM), "@1 km", "@2500 km", "median km", "GeoScore", "country", "city",
    "abstained", "90 % circle holds", "its median km", "ECE", "rollouts", "tool calls",
    "first calls shared", "tokens", "p50 s",
)  # fmt: skip


def _figures_table(parts: dict[str, Figures]) -> str:
    return _markdown_table(["part", *_TABLE_HEAD], [[name, *_cells(found)] for name, found in parts.items()])


def _markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(cells) + " |" for cells in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


def _cells(f: Figures) -> list[str]:
    """In the order of `_TABLE_HEAD`."""
    return [
        f"{f.n}",
        f"{f.failures}",
        *(f"{value:.2f}" for value in f.acc),
        f"{f.acc_classic[0]:.2f}",
        f"{f.acc_classic[-1]:.2f}",
        _number_or_dash(f.median_km, 1),
        f"{f.geoscore:.0f}",
        _number_or_dash(f.country, 1),
        _number_or_dash(f.city, 1),
        f"{f.abstained:.1f}",
        _number_or_dash(f.radius90_cover, 1),
        _number_or_dash(f.radius90_median_km, 0),
        _number_or_dash(f.ece, 3),
        f"{f.rollouts:.1f}",
        f"{f.tool_calls:.1f}",
        _number_or_dash(f.shared_first_calls, 1),
        f"{f.tokens:.0f}",
        f"{f.p50_s:.2f}",
    ]


def _number_or_dash(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _tables(benchmark: str, measured: RecordColumns) -> list[Table]:
    grouped: dict[tuple[float, ...], list[PublishedRow]] = {}
    for row in published_for(benchmark):
        grouped.setdefault(row.thresholds_km, []).append(row)
    return [_table(benchmark, thresholds, rows, measured) for thresholds, rows in grouped.items()]


def _table(
    benchmark: str, thresholds: tuple[float, ...], rows: Sequence[PublishedRow], measured: RecordColumns
) -> Table:
    exact = accuracy_percent(measured.errors_km, thresholds, measured.slack_km)
    ours = TableRow(
        system="GeoTTS, this run",
        acc_percent=tuple(float(np.round(value, 2)) for value in exact),
        note=f"n = {len(measured.records)}",
        ours=True,
    )
    theirs = [published_table_row(row, mark=" *") for row in rows]
    return Table(benchmark=benchmark, thresholds_km=thresholds, rows=(*theirs, ours))


def published_table_row(row: PublishedRow, *, mark: str = "") -> TableRow:
    """The row of a published figure; `mark` follows the name of a system that is not comparable."""
    if row.comparable:
        return TableRow(system=row.system, acc_percent=row.acc_percent, note=row.source)
    note = f"{row.source}; not comparable: {row.why}"
    return TableRow(system=row.system + mark, acc_percent=row.acc_percent, note=note)
