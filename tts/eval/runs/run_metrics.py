"""The figures of a recorded run, or of any part of it.

Failures are counted and left out; everything else is in every percentage, abstentions as misses. Where a truth is only
known to a radius, a hit lies below the larger of threshold and radius.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tts.domain.geo import Floats, distance_km
from tts.domain.usage import Usage
from tts.domain.value import Value
from tts.eval.metrics.accuracy import (
    CLASSIC_KM,
    PAPER_KM,
    accuracy_percent,
    coverage_percent,
    geoscores,
    hits,
    mean_km,
    median_km,
)
from tts.eval.metrics.calibration_error import brier_skill, cover_percent, expected_calibration_error
from tts.eval.metrics.intervals import Interval, share_interval
from tts.eval.metrics.name_agreement import PlaceNames
from tts.eval.metrics.sampling import best_of_n_km, pass_at_k_percent
from tts.eval.metrics.shared_calls import shared_calls
from tts.eval.runs.record import Record


class Figures(Value):
    """Percentages of all answered requests (`n`), unless a unit is named. None where nothing is known.

    `acc` is at 0.5, 2, 10, 25, 200, 750 km, `acc_classic` at 1, 25, 200, 750, 2500 km. `pass_at` and `best_of_n` are
    over single rollouts, at the thresholds of `acc`. `country` and `city` are of the photos whose truth names one.
    `shared_first_calls` is the share of tool calls of the first two turns that a sibling makes there too. `ece` and
    `brier_skill` judge the stated confidence.
    """

    n: int
    failures: int
    coverage: float
    abstained: float
    acc: tuple[float, ...]
    acc_classic: tuple[float, ...]
    acc_intervals: tuple[Interval, ...] = ()
    median_km: float | None = None
    mean_km: float | None = None
    geoscore: float = 0.0
    country: float | None = None
    city: float | None = None
    radius90_cover: float | None = None
    radius90_median_km: float | None = None
    ece: float | None = None
    brier_skill: float | None = None
    best_of_n: tuple[float, ...] = ()
    pass_at_25km: dict[int, float] = {}
    rollouts: float = 0.0
    tool_calls: float = 0.0
    shared_first_calls: float | None = None
    tokens: float = 0.0
    cost_usd: float = 0.0
    p50_s: float = 0.0


@dataclass(frozen=True, slots=True)
class RecordColumns:
    """Records without failures as columns of one length."""

    records: tuple[Record, ...]
    failures: int
    errors_km: Floats
    slack_km: Floats
    country: npt.NDArray[np.bool_]
    city: npt.NDArray[np.bool_]

    def part(self, keep: Callable[[Record], bool]) -> RecordColumns:
        """The records that `keep` likes; failures stay with the whole."""
        chosen = np.array([keep(record) for record in self.records], dtype=bool)
        records = tuple(record for record, kept in zip(self.records, chosen, strict=True) if kept)
        columns = (self.errors_km[chosen], self.slack_km[chosen], self.country[chosen], self.city[chosen])
        return RecordColumns(records, 0, *columns)


def measure(records: Sequence[Record], names: PlaceNames) -> RecordColumns:
    """Errors and names of records; failures are only counted."""
    answered = tuple(record for record in records if not record.failure)
    errors, country, city = [], [], []
    for record in answered:
        point = record.answer.point if record.answer is not None else None
        errors.append(np.nan if point is None else distance_km(point, record.truth.point))
        country.append(right_country(record, names))
        city.append(_is_city_right(record, names))
    return RecordColumns(
        answered,
        len(records) - len(answered),
        np.array(errors, dtype=np.float64),
        np.array([record.truth.slack_km for record in answered], dtype=np.float64),
        np.array(country, dtype=bool),
        np.array(city, dtype=bool),
    )


def figures(measured: RecordColumns, *, intervals: bool = False) -> Figures:
    """All figures; `intervals` adds 95 % intervals to `acc`."""
    errors, slack, n = measured.errors_km, measured.slack_km, len(measured.records)
    if not n:
        none = tuple(0.0 for _ in PAPER_KM)
        return Figures(
            n=0, failures=measured.failures, coverage=0, abstained=0, acc=none, acc_classic=none[: len(CLASSIC_KM)]
        )
    usage = [_usage(record) for record in measured.records]
    stated = {
        "median_km": median_km(errors),
        "mean_km": mean_km(errors),
        **_calibration_metrics(measured),
        **_rollout_metrics(measured),
    }
    return Figures(
        n=n,
        failures=measured.failures,
        coverage=_round(coverage_percent(errors)),
        abstained=_round(100.0 - coverage_percent(errors)),
        acc=_round_all(accuracy_percent(errors, PAPER_KM, slack)),
        acc_classic=_round_all(accuracy_percent(errors, CLASSIC_KM, slack)),
        acc_intervals=tuple(share_interval(hits(errors, t, slack)) for t in PAPER_KM) if intervals else (),
        geoscore=_round(float(geoscores(errors).mean())),
        country=_share_of(measured.country, names_country(measured.records)),
        city=_share_of(measured.city, names_city(measured.records)),
        tool_calls=_round(float(np.mean([one.tool_calls for one in usage]))),
        tokens=_round(float(np.mean([one.prompt_tokens + one.completion_tokens for one in usage]))),
        cost_usd=round(float(np.mean([one.cost_usd for one in usage])), 6),
        p50_s=round(float(np.median([record.elapsed_s for record in measured.records])), 3),
        **{name: round(v, 4) if isinstance(v, float) else v for name, v in stated.items()},
    )


def right_country(record: Record, names: PlaceNames) -> bool:
    """The answer's country, by code where both have one and by name otherwise."""
    answer, truth = record.answer, record.truth
    if answer is None:
        return False
    if answer.country_code and truth.country_code:
        return answer.country_code.upper() == truth.country_code.upper()
    return names.same_country(answer.country or answer.country_code, truth.country or truth.country_code)


def names_country(records: Sequence[Record]) -> npt.NDArray[np.bool_]:
    """Which truths name a country: only these can be compared."""
    return np.array([bool(one.truth.country or one.truth.country_code) for one in records], dtype=bool)


def names_city(records: Sequence[Record]) -> npt.NDArray[np.bool_]:
    """Which truths name a town."""
    return np.array([bool(one.truth.city) for one in records], dtype=bool)


def rollout_errors_km(record: Record) -> Floats:
    """(N,) errors of the single rollouts, in order; NaN for those without a point."""
    trajectories = record.run.trajectories if record.run is not None else ()
    points = [one.answer.point if one.answer is not None else None for one in trajectories]
    errors = [np.nan if point is None else distance_km(point, record.truth.point) for point in points]
    return np.array(errors, dtype=np.float64)


def _is_city_right(record: Record, names: PlaceNames) -> bool:
    answer, truth = record.answer, record.truth
    if answer is None or not answer.city or not truth.city:
        return False
    return names.same_city(answer.city, truth.city, truth.country_code or truth.country)


def _calibration_metrics(measured: RecordColumns) -> dict[str, float | None]:
    """Of the answers with a point: is the confidence the share of hits at the wanted radius, does the circle hold?"""
    rows = [
        (e, s, a.radius_km.p90 if a.radius_km else np.nan, a.confidence, a.target_radius_km)
        for e, s, a in zip(measured.errors_km, measured.slack_km, (r.answer for r in measured.records), strict=True)
        if a is not None and not np.isnan(e)
    ]
    if not rows:
        return {}
    errors, slack, radii, confidence, target = (
        np.array(column, dtype=np.float64) for column in zip(*rows, strict=True)
    )
    right = np.asarray(errors < np.maximum(target, slack))
    stated = radii[~np.isnan(radii)]
    return {
        "radius90_cover": cover_percent(errors, radii, slack),
        "radius90_median_km": float(np.median(stated)) if len(stated) else None,
        "ece": expected_calibration_error(confidence, right),
        "brier_skill": brier_skill(confidence, right),
    }


def _rollout_metrics(measured: RecordColumns) -> dict[str, float | tuple[float, ...] | dict[int, float] | None]:
    """best@N and pass@K. Samples with fewer rollouts than most (stopped early) count their missing ones as misses."""
    single = [rollout_errors_km(record) for record in measured.records]
    most = max((len(row) for row in single), default=0)
    if not most:
        return {}
    table = np.full((len(single), most), np.nan)
    for row, errors in zip(table, single, strict=True):
        row[: len(errors)] = errors
    ks = [k for k in (1, 2, 4, 8, 16, 32) if k <= most]
    return {
        "rollouts": float(np.mean([len(row) for row in single])),
        "shared_first_calls": _shared_percent(measured),
        "best_of_n": _round_all(accuracy_percent(best_of_n_km(table), PAPER_KM, measured.slack_km)),
        "pass_at_25km": {k: _round(pass_at_k_percent(table, k, 25.0, measured.slack_km)) for k in ks},
    }


def _shared_percent(measured: RecordColumns) -> float | None:
    """Percent of the first calls of all records with several rollouts; None if there are none."""
    runs = [record.run.trajectories for record in measured.records if record.run is not None]
    pairs = [shared_calls(trajectories) for trajectories in runs if len(trajectories) > 1]
    calls = sum(total for _, total in pairs)
    return 100.0 * sum(shared for shared, _ in pairs) / calls if calls else None


def _usage(record: Record) -> Usage:
    return record.answer.usage if record.answer is not None else Usage()


def _share_of(right: npt.NDArray[np.bool_], known: npt.NDArray[np.bool_]) -> float | None:
    return _round(100.0 * float(right[known].mean())) if known.any() else None


def _round(value: float) -> float:
    return round(value, 2)


def _round_all(values: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(round(value, 2) for value in values)
