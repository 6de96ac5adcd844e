"""Reliability of the models of a mixture, from recorded runs: with the true places, or from agreement alone.

Also what each kind is worth: the accuracy of the consensus with it, on photos that it was not learned from.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tts.domain.geo import Floats, LatLon, distance_km, distance_matrix_km
from tts.domain.value import Value
from tts.errors import DataError
from tts.eval.labelled_cases import LabelledCase
from tts.eval.metrics.accuracy import PAPER_KM, accuracy_percent
from tts.eval.metrics.medoid import medoid_of
from tts.verify.consensus.reliability import Reliability, from_agreement, from_labels
from tts.verify.evidence.world import World
from tts.verify.verifiers.consensus import judge, trust_in


class AccuracyBySources(Value):
    """Percent of photos within each of `thresholds_km`, by what the consensus knows of the sources.

    `named` is with reliability from the true places of the other half of the photos, `agreement` with reliability from
    agreement, which needs no true place, and `equal` with the same weight for each source, as if nobody knew which
    source gave an answer.
    """

    photos: int
    thresholds_km: tuple[float, ...] = PAPER_KM
    named: tuple[float, ...]
    agreement: tuple[float, ...]
    equal: tuple[float, ...]


def accuracy_by_sources(cases: Sequence[LabelledCase], world: World) -> AccuracyBySources:
    """The consensus over cases of several sources, three times; a photo without a point is a miss.

    Raises:
        DataError: as `reliability_from`, also for a half of the cases.
    """
    agreed = consensus_errors_km(cases, world, reliability_from(cases, labels=False))
    return AccuracyBySources(
        photos=len(cases),
        named=_percent(errors_by_other_half(cases, world)),
        agreement=_percent(agreed),
        equal=_percent(consensus_errors_km(cases, world, None)),
    )


def consensus_errors_km(cases: Sequence[LabelledCase], world: World, reliability: Reliability | None) -> Floats:
    """(n,) errors of the consensus, NaN without a point; sources are looked at only where a reliability is given."""
    found = []
    for case in cases:
        trust = trust_in(case.trajectories, reliability)
        clusters = judge(case.trajectories, case.readings, world, trust=trust).clusters
        found.append(_error_km(clusters[0].centre if clusters else None, case.truth))
    return np.array(found, dtype=np.float64)


def errors_by_other_half(cases: Sequence[LabelledCase], world: World) -> Floats:
    """(n,) errors; each photo is judged with a reliability from the true places of the half that it is not in."""
    half = np.random.default_rng(0).permutation(len(cases)) % 2
    found = np.full(len(half), np.nan)
    for side in (0, 1):
        known, asked = np.flatnonzero(half != side), np.flatnonzero(half == side)
        made = reliability_from([cases[int(i)] for i in known], labels=True)
        found[asked] = consensus_errors_km([cases[int(i)] for i in asked], world, made)
    return found


def _percent(errors_km: Floats) -> tuple[float, ...]:
    return tuple(round(share, 2) for share in accuracy_percent(errors_km, PAPER_KM))


def reliability_from(cases: Sequence[LabelledCase], *, labels: bool) -> Reliability:
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


def _answer(case: LabelledCase, source: str) -> LatLon | None:
    best = [one.best for one in case.trajectories if one.source == source]
    return medoid_of([hypothesis.point if hypothesis is not None else None for hypothesis in best])


def _error_km(point: LatLon | None, truth: LatLon) -> float:
    return float("nan") if point is None else distance_km(point, truth)
