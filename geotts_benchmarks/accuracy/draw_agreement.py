"""How well the draws of a rollout's answer say whether the answer is right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from geotts_benchmarks.harness import Result, round_figure
from tts.domain.geo import LatLon, distance_km
from tts.eval.metrics.calibration_error import auroc, brier
from tts.eval.runs.record import Record

_RIGHT_KM = 25.0


def draw_agreement(records: Iterable[Record]) -> Result:
    """Over all rollouts whose answer was drawn again: the share of draws within 25 km of the answer, taken as the
    probability that the answer lies within 25 km of the true place. Its Brier score, and its AUROC (0.5 is chance).
    Empty without draws; the AUROC is None where all answers are right, or all wrong.
    """
    found = [
        (_share_near(answer.point, trajectory.answer_draws), distance_km(answer.point, record.truth.point) < _RIGHT_KM)
        for record in records
        if record.run is not None and not record.failure
        for trajectory in record.run.trajectories
        if (answer := trajectory.answer) is not None and answer.point is not None and trajectory.answer_draws
    ]
    if not found:
        return {}
    share, right = np.array([one for one, _ in found]), np.array([hit for _, hit in found])
    figures = {"brier": round_figure(brier(share, right)), "auroc": round_figure(auroc(share, right))}
    return {"draw_agreement": {"n": len(found), **figures}}


def _share_near(point: LatLon, draws: Sequence[LatLon | None]) -> float:
    return sum(draw is not None and distance_km(point, draw) < _RIGHT_KM for draw in draws) / len(draws)
