"""Two runs on the same samples: paired differences with intervals and tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tts.domain.geo import Floats
from tts.domain.value import Value
from tts.errors import DataError
from tts.eval.metrics.accuracy import PAPER_KM, geoscores, hits
from tts.eval.metrics.calibration_error import Bools
from tts.eval.metrics.intervals import Interval, mcnemar_p, paired_difference, sign_flip_p
from tts.eval.metrics.name_agreement import PlaceNames
from tts.eval.runs.kind_of_n import kind_of_records
from tts.eval.runs.record import Record
from tts.eval.runs.run_metrics import RecordColumns, measure, names_city, names_country


class Difference(Value):
    """Second minus first, in the unit of `name`; `p` is two-sided (McNemar for shares, sign flips for means)."""

    name: str
    first: float
    second: float
    difference: Interval
    p: float


class Comparison(Value):
    """Only samples that both runs answered or abstained on count; `left_out` are the others.

    `rows` has country and city where truths name them, over those photos.

    `kinds_of_n` says for each of the two runs whether its rollouts are samples of one policy or of a mixture of models.
    """

    n: int
    left_out: int
    kinds_of_n: tuple[str, str]
    rows: tuple[Difference, ...]


def compare(first: Sequence[Record], second: Sequence[Record], names: PlaceNames) -> Comparison:
    """Compare runs sample by sample.

    Raises:
        DataError: when they share no sample.
    """
    a = {record.sample: record for record in first if not record.failure}
    b = {record.sample: record for record in second if not record.failure}
    shared = sorted(a.keys() & b.keys())
    if not shared:
        if {record.sample for record in first} & {record.sample for record in second}:
            raise DataError("every photo of both runs failed in one of them: add --retry-failed to its command")
        raise DataError("the runs share no sample: record both on the same data set with the same --seed")
    all_samples = {record.sample for record in (*first, *second)}
    one, two = measure([a[s] for s in shared], names), measure([b[s] for s in shared], names)
    rows = [_share_difference(f"acc@{t:g}km %", _hit_mask(one, t), _hit_mask(two, t)) for t in PAPER_KM]
    for name, known, right in (
        ("country %", names_country(one.records), (one.country, two.country)),
        ("city %", names_city(one.records), (one.city, two.city)),
    ):
        if known.any():
            rows.append(_share_difference(name, right[0][known], right[1][known]))
    rows.append(_mean_difference("GeoScore", geoscores(one.errors_km), geoscores(two.errors_km)))
    rows.append(_mean_difference("seconds", _seconds(one), _seconds(two)))
    return Comparison(
        n=len(shared),
        left_out=len(all_samples) - len(shared),
        kinds_of_n=(kind_of_records(one.records), kind_of_records(two.records)),
        rows=tuple(rows),
    )


def _hit_mask(measured: RecordColumns, threshold_km: float) -> Bools:
    return hits(measured.errors_km, threshold_km, measured.slack_km)


def _share_difference(name: str, a: Bools, b: Bools) -> Difference:
    first, second = 100.0 * a.astype(np.float64), 100.0 * b.astype(np.float64)
    return _make_difference(name, first, second, mcnemar_p(a, b))


def _mean_difference(name: str, a: Floats, b: Floats) -> Difference:
    return _make_difference(name, a, b, sign_flip_p(a, b))


def _make_difference(name: str, a: Floats, b: Floats, p: float) -> Difference:
    return Difference(
        name=name,
        first=round(float(a.mean()), 3),
        second=round(float(b.mean()), 3),
        difference=paired_difference(a, b),
        p=p,
    )


def _seconds(measured: RecordColumns) -> Floats:
    return np.array([record.elapsed_s for record in measured.records], dtype=np.float64)
