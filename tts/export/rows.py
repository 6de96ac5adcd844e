"""One flat row for each photo, for tables: CSV and Parquet have the same columns."""

from __future__ import annotations

from tts.export.export_source import LocatedPhoto
from tts.export.geo_uri import geo_uri

Cell = str | float | int | None
TEXT = "string"
NUMBER = "float64"
COUNT = "int64"

COLUMNS: dict[str, str] = {
    "name": TEXT,
    "request_id": TEXT,
    "outcome": TEXT,
    "lat": NUMBER,
    "lon": NUMBER,
    "radius_p50_km": NUMBER,
    "radius_p90_km": NUMBER,
    "level": TEXT,
    "country": TEXT,
    "country_code": TEXT,
    "region": TEXT,
    "city": TEXT,
    "place": TEXT,
    "confidence": NUMBER,
    "target_radius_km": NUMBER,
    "explanation": TEXT,
    "candidates": COUNT,
    "warnings": TEXT,
    "geo_uri": TEXT,
    "engine": TEXT,
    "model": TEXT,
    "version": TEXT,
    "answered_at": TEXT,
    "source_sha256": TEXT,
    "failure": TEXT,
}


def row_of(item: LocatedPhoto) -> dict[str, Cell]:
    """The cells by column; None where there is nothing to say."""
    row: dict[str, Cell] = dict.fromkeys(COLUMNS)
    row |= {"name": item.name, "request_id": item.request_id, "outcome": item.outcome, "failure": item.failure or None}
    answer = item.answer
    if answer is None:
        return row
    radius, provenance = answer.radius_km, answer.provenance
    names = ("lat", "lon", "country", "country_code", "region", "city", "place", "confidence", "target_radius_km")
    row |= {name: getattr(answer, name) for name in names}
    row |= {
        "level": answer.level.value if hasattr(answer.level, "value") else str(answer.level),
        "radius_p50_km": radius.p50 if radius else None,
        "radius_p90_km": radius.p90 if radius else None,
        "explanation": answer.explanation,
        "candidates": len(answer.candidates),
        "warnings": "\n".join(answer.warnings),
        "geo_uri": None if answer.point is None else geo_uri(answer.point, radius.p90 if radius else None),
        "engine": provenance.engine,
        "model": provenance.model,
        "version": provenance.version,
        "answered_at": provenance.answered_at,
        "source_sha256": " ".join(provenance.source_sha256),
    }
    return row
