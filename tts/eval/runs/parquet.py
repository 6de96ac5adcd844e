"""A recorded run as Parquet: one flat row a request for analysis, and the whole record as JSON beside it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from tts.domain.geo import distance_km
from tts.errors import DataError
from tts.eval.runs.record import Record, read_records
from tts.eval.runs.run_metrics import rollout_errors_km

_BATCH_ROWS = 512


def to_parquet(source: Path, target: Path) -> int:
    """Convert a run file; returns the number of rows. The target is replaced in one step.

    Raises:
        DataError: when pyarrow is missing, the source is not a run file, or the target is not named .parquet.
    """
    if target.suffix.lower() != ".parquet":
        raise DataError(f"{target} would be a Parquet file: give it a name that ends in .parquet")
    try:
        import pyarrow as arrow  # noqa: PLC0415  optional: the `parquet` extra
        from pyarrow import parquet  # noqa: PLC0415  optional, as above
    except ModuleNotFoundError as error:
        raise DataError("writing Parquet needs pyarrow: pip install 'geotts[parquet]'") from error
    records = read_records(source)
    schema = arrow.schema([(name, getattr(arrow, kind)()) for name, kind in _COLUMNS.items()])
    schema = schema.append(arrow.field("tags", arrow.list_(arrow.string())))
    schema = schema.append(arrow.field("rollout_errors_km", arrow.list_(arrow.float64())))
    partial = target.with_name(target.name + ".partial")
    with parquet.ParquetWriter(partial, schema, compression="zstd") as writer:
        for start in range(0, len(records), _BATCH_ROWS):
            rows = [_row(record) for record in records[start : start + _BATCH_ROWS]]
            writer.write_table(arrow.Table.from_pylist(rows, schema=schema))
    partial.replace(target)
    return len(records)


_COLUMNS = {
    "schema_version": "int64", "dataset": "string", "sample": "string", "key": "string", "failure": "string",
    "true_lat": "float64", "true_lon": "float64", "true_country": "string", "true_city": "string",
    "accuracy_radius_m": "float64", "answer_lat": "float64", "answer_lon": "float64",
    "error_km": "float64", "abstained": "bool_",
    "country": "string", "city": "string", "confidence": "float64", "radius_p50_km": "float64",
    "radius_p90_km": "float64", "n_parallel": "int64", "tool_calls": "int64", "tokens": "int64", "elapsed_s": "float64",
    "config_sha256": "string", "record": "string",
}  # fmt: skip


def _row(record: Record) -> dict[str, Any]:
    answer, truth = record.answer, record.truth
    row: dict[str, Any] = {
        "schema_version": record.schema_version,
        "dataset": record.dataset,
        "sample": record.sample,
        "key": record.key,
        "tags": list(record.tags),
        "failure": record.failure or None,
        "true_lat": truth.point.lat,
        "true_lon": truth.point.lon,
        "true_country": truth.country,
        "true_city": truth.city,
        "accuracy_radius_m": truth.accuracy_radius_m,
        "rollout_errors_km": [None if math.isnan(error) else error for error in rollout_errors_km(record)],
        "n_parallel": record.options.n_parallel,
        "elapsed_s": record.elapsed_s,
        "config_sha256": record.config_sha256,
        "record": record.json_line().decode(),
    }
    if answer is None:
        return row
    point, radius = answer.point, answer.radius_km
    return row | {
        "answer_lat": answer.lat,
        "answer_lon": answer.lon,
        "error_km": None if point is None else distance_km(point, truth.point),
        "abstained": answer.abstained,
        "country": answer.country,
        "city": answer.city,
        "confidence": answer.confidence,
        "radius_p50_km": radius.p50 if radius else None,
        "radius_p90_km": radius.p90 if radius else None,
        "tool_calls": answer.usage.tool_calls,
        "tokens": answer.usage.prompt_tokens + answer.usage.completion_tokens,
    }
