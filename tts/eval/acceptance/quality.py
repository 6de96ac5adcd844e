"""The quality of the answers: pass@n, verifier@n, abstentions, and the cover of the radii."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from tts.domain.geo import CITY_KM, EARTH_RADIUS_KM, REGION_KM, TABLE_KM, Floats, unit_vector
from tts.domain.value import Value
from tts.eval.acceptance.rate import Rate
from tts.eval.metrics.accuracy import hits, median_km
from tts.eval.metrics.intervals import Interval, bootstrap_mean, share_interval
from tts.eval.metrics.sampling import best_of_n_km
from tts.eval.runs.kind_of_n import kind_of_records
from tts.eval.runs.run_metrics import RecordColumns, rollout_errors_km

_FAR_KM = REGION_KM
_ONE_PLACE_KM = CITY_KM
_MIN_PHOTOS_FOR_GAIN = 10


class AtDistance(Value):
    """Percent of photos within `threshold_km`.

    `verifier` is for the answers, `pass_n` for the best of the n rollouts, `pass_1` for one rollout drawn by chance.
    `gain` is `verifier` minus `pass_1`, photo by photo, in points.
    """

    threshold_km: float
    verifier: Rate
    pass_n: Rate
    pass_1: Interval
    gain: Interval


class Cover(Value):
    """How many stated radii hold the true place, by what they rest on."""

    calibration: Literal["fitted", "transferred", "unstated"]
    radius90: Rate
    radius50: Rate
    radius90_median_km: float


class Quality(Value):
    """Of `photos` that the engine worked on; abstentions are misses. `rollouts` is the n of pass@n, and
    `kind_of_n` says whether they are samples of one policy or of a mixture of models.

    `same_place` counts photos whose answer is far off and lies where most such answers lie: a model that is not shown
    the photo answers so.
    """

    photos: int
    rollouts: int
    kind_of_n: str
    abstained: Rate
    same_place: Rate
    median_km: float | None
    at: tuple[AtDistance, ...]
    covers: tuple[Cover, ...]


def quality(measured: RecordColumns, rollouts: int) -> Quality:
    """Of the records that are no failures. A photo with fewer than `rollouts` rollouts counts the others as misses."""
    table = np.full((len(measured.records), rollouts), np.nan)
    for row, record in zip(table, measured.records, strict=True):
        single = rollout_errors_km(record)[:rollouts]
        row[: len(single)] = single
    return Quality(
        photos=len(measured.records),
        rollouts=rollouts,
        kind_of_n=kind_of_records(measured.records),
        abstained=Rate.from_cases(np.isnan(measured.errors_km)),
        same_place=Rate.from_cases(_one_place_mask(measured)),
        median_km=median_km(measured.errors_km),
        at=tuple(_quality_at(threshold, measured, table) for threshold in TABLE_KM) if len(table) else (),
        covers=_covers_by_state(measured),
    )


def _quality_at(threshold_km: float, measured: RecordColumns, table: Floats) -> AtDistance:
    slack = measured.slack_km
    right = hits(measured.errors_km, threshold_km, slack)
    single = hits(table, threshold_km, slack[:, None]).mean(axis=1)
    return AtDistance(
        threshold_km=threshold_km,
        verifier=Rate.from_cases(right),
        pass_n=Rate.from_cases(hits(best_of_n_km(table), threshold_km, slack)),
        pass_1=share_interval(single),
        gain=_gain(100.0 * (right.astype(np.float64) - single)),
    )


def _gain(points: Floats) -> Interval:
    """The mean, open to both sides for so few photos that the bootstrap would call chance certain."""
    if len(points) < _MIN_PHOTOS_FOR_GAIN:
        return Interval(value=float(points.mean()), low=-100.0, high=100.0)
    return bootstrap_mean(points)


def _one_place_mask(measured: RecordColumns) -> npt.NDArray[np.bool_]:
    """(n,) whether an answer lies far off, and within 25 km of the point around which most such answers lie."""
    found = np.zeros(len(measured.records), dtype=bool)
    far = np.flatnonzero(measured.errors_km > _FAR_KM)
    points = [record.answer.point for record in (measured.records[i] for i in far) if record.answer is not None]
    vectors = np.array([unit_vector(point) for point in points if point is not None])
    if len(vectors):
        near = vectors @ vectors.T > np.cos(_ONE_PLACE_KM / EARTH_RADIUS_KM)
        found[far] = near[near.sum(axis=1).argmax()]
    return found


def _covers_by_state(measured: RecordColumns) -> tuple[Cover, ...]:
    """One for each state of calibration among the answers: an earlier run may have installed one."""
    rows: dict[str, list[tuple[float, float, float]]] = {}
    for error, slack, record in zip(measured.errors_km, measured.slack_km, measured.records, strict=True):
        answer = record.answer
        if answer is None or answer.radius_km is None or np.isnan(error):
            continue
        state = answer.calibration.state if answer.calibration is not None else "unstated"
        rows.setdefault(state, []).append((error - slack, answer.radius_km.p90, answer.radius_km.p50))
    return tuple(_cover(state, found) for state, found in sorted(rows.items()))


def _cover(state: str, rows: Sequence[tuple[float, float, float]]) -> Cover:
    error, p90, p50 = np.array(rows, dtype=np.float64).T
    return Cover.model_validate(
        {
            "calibration": state,
            "radius90": Rate.from_cases(error <= p90),
            "radius50": Rate.from_cases(error <= p50),
            "radius90_median_km": float(np.median(p90)),
        }
    )
