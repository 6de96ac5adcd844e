"""Reliability of the models of a mixture, from recorded runs: with the true places, or from agreement alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tts.domain.geo import LatLon, distance_km, distance_matrix_km
from tts.errors import DataError
from tts.eval.calibration_fitting import Case
from tts.eval.metrics.medoid import medoid_of
from tts.verify.consensus.reliability import Reliability, from_agreement, from_labels


def reliability_from(cases: Sequence[Case], *, labels: bool) -> Reliability:
    """The reliability of each source. A source with several rollouts on a photo counts by their medoid.

    Raises:
        DataError: the rollouts do not say which model they are of, or all are of one.
    """
    names = sorted({one.source for case in cases for one in case.trajectories if one.source})
    if len(names) < 2:
        raise DataError("the runs are not of several models: a reliability needs two sources (`engines`)")
    points = [[_answer(case, name) for name in names] for case in cases]
    if labels:
        rows = [[_error_km(point, case.truth) for point in row] for case, row in zip(cases, points, strict=True)]
        errors = np.array(rows, dtype=np.float64)
        return from_labels({name: errors[:, i] for i, name in enumerate(names)})
    km = np.full((len(cases), len(names), len(names)), np.nan)
    for row, found in zip(km, points, strict=True):
        at = [i for i, point in enumerate(found) if point is not None]
        row[np.ix_(at, at)] = distance_matrix_km([point for point in found if point is not None])
    return from_agreement(names, km)


def _answer(case: Case, source: str) -> LatLon | None:
    best = [one.best for one in case.trajectories if one.source == source]
    return medoid_of([hypothesis.point if hypothesis is not None else None for hypothesis in best])


def _error_km(point: LatLon | None, truth: LatLon) -> float:
    return float("nan") if point is None else distance_km(point, truth)
