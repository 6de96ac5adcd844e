"""Compares the figures of a run with the published figures of the system that the profile serves."""

from __future__ import annotations

from tts.eval.metrics.accuracy import accuracy_percent
from tts.eval.published_results import PublishedRow, published_rows
from tts.eval.runs.report import Table, TableRow, published_table_row
from tts.eval.runs.run_metrics import RecordColumns

# dialect → what the papers call the system with the released weights
_SYSTEM_NAMES = {
    "thinking_with_map": ("+ RL", "+ Parallel x4 & verifier"),
    "geovista": ("GeoVista-7B",),
    "reverse": ("REVERSE",),
    "spotagent": ("SpotAgent",),
    "geoagent": ("GeoAgent",),
    "geo_adapt": ("Geo-ADAPT-8B",),
}


def compare_with_published(dialect: str, dataset: str, measured: RecordColumns) -> tuple[Table, ...]:
    """A table for each benchmark that was published for the dialect's system, at its thresholds, with this run in it.

    Only where `dataset` is the benchmark were the photos the same; otherwise the run's row says that they were not.
    Nothing for a dialect without published figures, or without photos.
    """
    rows = [row for row in published_rows() if row.system in _SYSTEM_NAMES.get(dialect, ())]
    parts = {row.benchmark for row in rows if row.benchmark.startswith(dataset)}
    shown = sorted(parts or {row.benchmark for row in rows}) if len(measured.records) else []
    return tuple(_table(name, [row for row in rows if row.benchmark == name], dataset, measured) for name in shown)


def _table(benchmark: str, rows: list[PublishedRow], dataset: str, measured: RecordColumns) -> Table:
    part = benchmark.removeprefix(dataset).removeprefix("_")
    same = benchmark.startswith(dataset)
    mine = measured.part(lambda record: part in record.tags) if same and part else measured
    thresholds = rows[0].thresholds_km
    ours = TableRow(
        system="this run",
        acc_percent=accuracy_percent(mine.errors_km, thresholds, mine.slack_km),
        note=f"{len(mine.records)} photos" + ("" if same else ", other ones than the benchmark's"),
        ours=True,
    )
    theirs = [published_table_row(row) for row in rows]
    return Table(benchmark=benchmark, thresholds_km=thresholds, rows=(*theirs, ours))
