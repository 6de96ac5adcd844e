"""What more rollouts gain on the same photos, with intervals over photos."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from geotts_benchmarks.harness import Result
from tts.domain.geo import Floats, distance_km
from tts.eval.metrics.accuracy import CLASSIC_KM
from tts.eval.metrics.intervals import Interval, bootstrap_mean, share_interval
from tts.eval.runs.kind_of_n import kind_of_records
from tts.eval.runs.record import Record


def gain_of_n(runs: dict[int, list[Record]]) -> Result:
    """The largest n against the smallest, in points of accuracy; nothing for one n.

    Every record of a photo (one a seed) counts, but the photo is what is drawn for the intervals: runs of one photo
    with several seeds are no independent photos.
    """
    if len(runs) < 2:
        return {}
    few, many = min(runs), max(runs)
    before, after = (_right_share_by_photo(runs[n]) for n in (few, many))
    gains = np.stack([100.0 * (after[key] - before[key]) for key in sorted(before)])
    columns = {f"acc_{km:g}": gains[:, i] for i, km in enumerate(CLASSIC_KM[:4])} | {"mean": gains[:, :4].mean(axis=1)}
    return {
        "gain": {
            "kind_of_n": kind_of_records(runs[many]),
            "of": many,
            "over": few,
            "photos": len(gains),
            "runs": len(runs[many]),
            **{name: _round_interval(bootstrap_mean(values)) for name, values in columns.items()},
            "cover90": _round_interval(share_interval(_cover_by_photo(runs[many]))),
        }
    }


def _right_share_by_photo(records: Sequence[Record]) -> dict[str, Floats]:
    """For each photo the share of its runs that are right, at each distance; a failure is not right."""
    rows: dict[str, list[list[float]]] = defaultdict(list)
    for record in records:
        km = _error_km(record)
        rows[record.sample].append([float(km < max(limit, record.truth.slack_km)) for limit in CLASSIC_KM])
    return {sample: np.array(found).mean(axis=0) for sample, found in rows.items()}


def _cover_by_photo(records: Sequence[Record]) -> Floats:
    """For each photo with a radius, the share of its runs whose 90 % radius holds the true place."""
    held: dict[str, list[bool]] = defaultdict(list)
    for record in records:
        if (inside := _is_within_p90(record)) is not None:
            held[record.sample].append(inside)
    return np.array([np.mean(of_photo) for of_photo in held.values()], dtype=np.float64)


def _error_km(record: Record) -> float:
    """Infinite without a point."""
    point = None if record.answer is None else record.answer.point
    return math.inf if point is None else distance_km(point, record.truth.point)


def _is_within_p90(record: Record) -> bool | None:
    """None without a radius."""
    if record.answer is None or record.answer.radius_km is None:
        return None
    return _error_km(record) <= record.answer.radius_km.p90 + record.truth.slack_km


def _round_interval(interval: Interval) -> list[float]:
    return [round(value, 2) for value in (interval.value, interval.low, interval.high)]
