"""Fits a calibration to verdicts with known errors: two regressions, an error table, a radius rule.

The rule is chosen on scores that each run got from fits without it, so that it holds on runs it has not seen. Levels
are smoothed over neighbouring ranks: a rule that was picked because it just reached 90 % would fall short elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tts.decision_weights import weights
from tts.domain.geo import HALF_CIRCUMFERENCE_KM, Floats
from tts.errors import DataError
from tts.verify.consensus.calibrated_radii import FLOOR_KM, LEVELS, ErrorTable, TailRule
from tts.verify.consensus.calibration import Calibration, Ordering, expand
from tts.verify.consensus.spread_features import Spread

_STATED_RADIUS_FEATURE = "stated_radius_log_km"
_W = weights("fitting")
MIN_RUNS = int(_W["least_runs"])
_MIN_CROSSED_RUNS = int(_W["crossed_runs"])
_TABLE_KNOTS = int(_W["knots"])
_NEIGHBOUR_SHARE = _W["neighbours"]
_RIDGE_PENALTY = _W["ridge"]
_MIN_TAIL_ERROR_KM = _W["tail_floor_km"]
_TAIL_LEVELS = (0.75, 0.85, 0.92)
_MAX_ITERATIONS = 15
_FOLDS = 5
_REPEATS = 2
_BETAS = (0.4, 0.6, 0.7, 0.8, 0.9, 1.0, 1.3, 1.6)
_CAPS_KM = (300.0, 1000.0, 1800.0, 2200.0, 2600.0, 3200.0, 5000.0, 9000.0, HALF_CIRCUMFERENCE_KM)
_STATED_BETAS_AND_CAPS = ((1.0,), (HALF_CIRCUMFERENCE_KM,))
_WANTED_COVER_90 = _W["cover_90"]
_SMOOTHING_SHARE = _W["smooth"]


def fit(
    spreads: Sequence[Spread], errors_km: Sequence[float] | Floats, *, origin: str, stated: bool = False
) -> Calibration:
    """Fit on verdicts with known errors. Deterministic.

    `stated` is for an engine whose own radius is worth more than how its rollouts agree: the 90 % radius is then the
    stated one times a constant.

    Raises:
        DataError: with fewer than 40 runs, which would not hold what they promise.
    """
    if len(spreads) < MIN_RUNS:
        raise DataError(f"{len(spreads)} runs with an answer are too few to calibrate: record at least {MIN_RUNS}")
    raw = np.stack([spread.vector() for spread in spreads])
    km = np.maximum(np.array(errors_km, dtype=np.float64), FLOOR_KM)
    known = np.where(np.isnan(raw).all(axis=0), 0.0, raw)  # of what is known of no run nothing is learned
    mean, scale = np.nanmean(known, axis=0), np.maximum(np.nanstd(known, axis=0), 1e-3)
    crossed = len(km) >= _MIN_CROSSED_RUNS and not stated
    x = expand(raw, mean, scale, crossed=crossed)
    typical = _make_ordering(_ridge_regression(x, np.log(km), np.ones(len(km))))
    tail = _stated_ordering(scale) if stated else _tail_ordering(x, km)
    scores = np.tile(tail.scores_of(x), _REPEATS) if stated else _held_out_scores(x, km)
    return Calibration(
        origin=origin,
        runs=len(km),
        features=tuple(Spread.model_fields),
        crossed=crossed,
        mean=tuple(mean.tolist()),
        scale=tuple(scale.tolist()),
        typical=typical,
        table=_tabulate_errors(typical.scores_of(x), km),
        tail=tail,
        rule=_fit_tail_rule(scores, np.tile(km, _REPEATS), *(_STATED_BETAS_AND_CAPS if stated else (_BETAS, _CAPS_KM))),
    )


def _stated_ordering(scale: Floats) -> Ordering:
    """The logarithm of the stated radius (less its mean) as it is: nothing is fitted, so nothing has to be held out."""
    own = np.array([float(name == _STATED_RADIUS_FEATURE) for name in Spread.model_fields])
    return Ordering(coefficients=tuple((scale * own).tolist()), intercept=0.0)


def _tail_ordering(x: Floats, km: Floats) -> Ordering:
    """Mean of quantile regressions at a few far levels: less variance than any one of them."""
    y = np.log(np.maximum(km, _MIN_TAIL_ERROR_KM))
    return _make_ordering(np.mean([_quantile_regression(x, y, level) for level in _TAIL_LEVELS], axis=0))


def _held_out_scores(x: Floats, km: Floats) -> Floats:
    """(repeats · n,) tail scores of each run from fits on the other folds."""
    rng = np.random.default_rng(0)
    scores = np.zeros((_REPEATS, len(km)))
    for row in scores:
        folds = rng.permutation(len(km)) % _FOLDS
        for fold in range(_FOLDS):
            row[folds == fold] = _tail_ordering(x[folds != fold], km[folds != fold]).scores_of(x[folds == fold])
    return scores.ravel()


def _fit_tail_rule(scores: Floats, km: Floats, betas: Sequence[float], caps_km: Sequence[float]) -> TailRule:
    """The rule that holds 90 % of held-out runs with the least mean radius.

    A verdict is given more than 90 % where a little more radius buys much probability, and less where even a continent
    would not be enough; the average over verdicts is 90 %.
    """
    share = _WANTED_COVER_90 * (1.0 + _REPEATS / len(km))
    best: tuple[float, TailRule] | None = None
    for beta in betas:
        for cap in caps_km:
            rule = _solve_alpha(scores, km, beta, cap, share)
            if rule is not None and (best is None or rule.radius_km(scores).mean() < best[0]):
                best = (float(rule.radius_km(scores).mean()), rule)
    assert best is not None  # the largest cap holds everything
    return best[1]


def _solve_alpha(scores: Floats, km: Floats, beta: float, cap_km: float, share: float) -> TailRule | None:
    """The least alpha that covers `share`, smoothed over the ranks around it; None when the cap is too low for that."""
    needed = np.sort(np.where(km <= cap_km, np.log(km) - beta * scores, np.inf))
    ranks = np.ceil(np.linspace(share - _SMOOTHING_SHARE, share + _SMOOTHING_SHARE, 9) * len(km)).astype(int) - 1
    alpha = float(needed[np.minimum(ranks, len(km) - 1)].mean())
    return TailRule(alpha=alpha, beta=beta, cap_km=cap_km) if math.isfinite(alpha) else None


def _tabulate_errors(scores: Floats, km: Floats) -> ErrorTable:
    knots = np.unique(np.round(np.quantile(scores, np.linspace(0.03, 0.97, _TABLE_KNOTS)), 4))
    near = min(len(km), max(25, round(_NEIGHBOUR_SHARE * len(km))))
    rows = [_conformal_quantiles(km[np.argsort(np.abs(scores - knot), kind="stable")[:near]]) for knot in knots]
    table = np.maximum.accumulate(np.stack(rows), axis=0)  # a more uncertain verdict is never given a smaller radius
    return ErrorTable(knots=tuple(knots.tolist()), quantiles_km=tuple(tuple(row) for row in table.tolist()))


def _conformal_quantiles(errors: Floats) -> Floats:
    """Conformal quantiles: the smallest value that n + 1 exchangeable draws stay below with each probability."""
    ordered = np.sort(errors)
    ranks = np.clip(np.array(LEVELS) * (len(ordered) + 1) - 1, 0, len(ordered) - 1)
    return np.asarray(np.exp(np.interp(ranks, np.arange(len(ordered)), np.log(ordered))))


def _ridge_regression(x: Floats, y: Floats, weight: Floats) -> Floats:
    """Weighted ridge regression: coefficients, then the intercept."""
    total = float(weight.sum())
    centre_x, centre_y = (weight @ x) / total, float(weight @ y) / total
    centred = x - centre_x
    weighted = centred * weight[:, None]
    normal = weighted.T @ centred
    normal[np.diag_indices_from(normal)] += _RIDGE_PENALTY * total / len(y)
    coefficients = np.linalg.solve(normal, weighted.T @ (y - centre_y))
    return np.append(coefficients, centre_y - float(centre_x @ coefficients))


def _quantile_regression(x: Floats, y: Floats, level: float) -> Floats:
    """Linear quantile regression by iteratively reweighted least squares (pinball loss, smoothed near zero)."""
    fitted = _ridge_regression(x, y, np.ones(len(y)))
    for _ in range(_MAX_ITERATIONS):
        residual = y - x @ fitted[:-1] - fitted[-1]
        weight = np.where(residual >= 0, level, 1.0 - level) / np.maximum(np.abs(residual), 0.05)
        fitted = _ridge_regression(x, y, weight / weight.mean())
    return fitted


def _make_ordering(fitted: Floats) -> Ordering:
    return Ordering(coefficients=tuple(fitted[:-1].tolist()), intercept=float(fitted[-1]))
