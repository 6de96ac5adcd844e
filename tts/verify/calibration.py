"""Radii and probabilities that hold: fitted on recorded runs, checked on others.

Two regressions on the features of `Spread` put verdicts in order: one by how far off they typically are, one by how far
off the worst of them are (agreement within 25 km tells the first, agreement within 750 km the second). Along the first
the errors themselves are tabulated: conformal quantiles of the errors of the nearest runs, from which medians and
probabilities are read. Along the second a radius rule is chosen so that it holds 90 % of the runs it was not fitted on
with the least mean radius.

The result is a small YAML file with a version and its origin; it ships for the embedded engine.
"""

from __future__ import annotations

import importlib.resources
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import yaml
from pydantic import ValidationError, model_validator

from tts.domain.answer import Radius
from tts.domain.geo import HALF_CIRCUMFERENCE_KM, Floats
from tts.domain.value import Value
from tts.errors import DataError
from tts.verify.spread import Spread

LEVELS: tuple[float, ...] = (0.02, 0.05, *(round(0.1 * k, 1) for k in range(1, 9)), 0.85, 0.9, 0.95, 0.98)
_KNOTS = 8
_NEIGHBOURS = 0.25  # share of the runs that each knot looks at
_RIDGE = 300.0
_FOLDS = 5
_MIN_RUNS = 40
_CROSSED = (
    "mean_log_km", "second_log_km", "third_log_km", "farthest_log_km", "share_200", "share_750", "share_1500",
    "town_log", "largest_town_log", "people_log", "silent_share",
)  # fmt: skip
_CROSS_FROM = 300  # runs from which products of features are told apart from noise
_FLOOR_KM = 0.05
_CLIP = 3.0
_TAIL_FLOOR_KM = 20.0
_TAIL_LEVELS = (0.75, 0.85, 0.92)
_BAGS = 4
_IRLS_STEPS = 15
_BETAS = tuple(round(0.1 * k, 1) for k in range(2, 14))
_CAPS_KM = (1000.0, 1250.0, 1500.0, 1800.0, 2200.0, 2600.0, 3200.0, 4000.0, 6000.0, HALF_CIRCUMFERENCE_KM)


class Ordering(Value):
    """A linear score of the (crossed) features: verdicts with a higher score are farther off."""

    coefficients: tuple[float, ...]
    intercept: float

    def of(self, x: Floats) -> Floats:
        """(n,) scores of (n, k) features."""
        return np.asarray(x @ np.array(self.coefficients) + self.intercept)


class ErrorTable(Value):
    """Error quantiles in km along a score: a row a knot, a column for each of `LEVELS`."""

    knots: tuple[float, ...]
    quantiles_km: tuple[tuple[float, ...], ...]

    def row(self, score: float) -> Floats:
        table = np.log(np.array(self.quantiles_km))
        log_km = np.maximum.accumulate([np.interp(score, self.knots, column) for column in table.T])
        return np.asarray(np.exp(log_km) + np.arange(len(LEVELS)) * 1e-6)


class TailRule(Value):
    """The 90 % radius as a function of the tail score: exp(alpha + beta·score), at most `cap_km`."""

    alpha: float
    beta: float
    cap_km: float

    def radius_km(self, score: Floats) -> Floats:
        return np.asarray(np.minimum(self.cap_km, np.exp(np.minimum(20.0, self.alpha + self.beta * score))))


class Calibration(Value):
    """A fitted calibration: `typical` and `table` give medians and probabilities, `tail` and `rule` the 90 % radius."""

    schema_version: Literal[1] = 1
    origin: str
    runs: int
    features: tuple[str, ...]
    crossed: bool
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    typical: Ordering
    table: ErrorTable
    tail: Ordering
    rule: TailRule

    @model_validator(mode="after")
    def _consistent(self) -> Calibration:
        known = tuple(Spread.model_fields)
        if self.features != known:
            raise ValueError(f"made for other features: {self.features}")
        if any(len(row) != len(LEVELS) for row in self.table.quantiles_km):
            raise ValueError("the table does not match its levels")
        return self

    def radius(self, spread: Spread) -> Radius:
        """50 % and 90 % radii in km."""
        x = self._features(spread)
        p50 = float(np.interp(0.5, LEVELS, self.table.row(float(self.typical.of(x)[0]))))
        p90 = min(HALF_CIRCUMFERENCE_KM, float(self.rule.radius_km(self.tail.of(x))[0]))
        return Radius(p50=round(p50, 2), p90=round(max(p50, p90), 2))

    def probability_within(self, spread: Spread, km: float) -> float:
        """Probability that the true place lies within `km` of the answer, in [0.01, 0.99]."""
        row = np.log(self.table.row(float(self.typical.of(self._features(spread))[0])))
        target = math.log(max(km, _FLOOR_KM))
        if target <= row[0]:
            inside = LEVELS[0] * math.exp(target - float(row[0]))
        else:
            inside = float(np.interp(target, row, LEVELS, right=0.99))
        return round(min(0.99, max(0.01, inside)), 4)

    def _features(self, spread: Spread) -> Floats:
        return _expand(spread.vector()[None, :], np.array(self.mean), np.array(self.scale), crossed=self.crossed)

    def write(self, path: Path) -> None:
        tree = self.model_dump(mode="json")
        path.write_text(yaml.safe_dump(_rounded(tree), sort_keys=False, default_flow_style=None, width=118))


def fit(spreads: Sequence[Spread], errors_km: Sequence[float], *, origin: str) -> Calibration:
    """Fit on verdicts with known errors. Deterministic.

    Raises:
        DataError: with fewer than 40 runs, which would not hold what they promise.
    """
    if len(spreads) < _MIN_RUNS:
        raise DataError(f"{len(spreads)} runs with an answer are too few to calibrate; {_MIN_RUNS} are needed")
    raw = np.stack([spread.vector() for spread in spreads])
    km = np.maximum(np.array(errors_km, dtype=np.float64), _FLOOR_KM)
    mean, scale = raw.mean(axis=0), np.maximum(raw.std(axis=0), 1e-3)
    crossed = len(km) >= _CROSS_FROM
    x = _expand(raw, mean, scale, crossed=crossed)
    typical = Ordering(**_named(_ridge(x, np.log(km), np.ones(len(km)))))
    tail = _tail_ordering(x, km)
    return Calibration(
        origin=origin,
        runs=len(km),
        features=tuple(Spread.model_fields),
        crossed=crossed,
        mean=tuple(mean.tolist()),
        scale=tuple(scale.tolist()),
        typical=typical,
        table=_tabulate(typical.of(x), km),
        tail=tail,
        rule=_tail_rule(tail.of(x), km, _held_out_scores(x, km)),
    )


def shipped(name: str) -> Calibration:
    """The calibration that ships for an engine, or the general one.

    Raises:
        DataError: when the file is of another version or does not match this release.
    """
    folder = importlib.resources.files("tts").joinpath("data/calibration")
    file = folder.joinpath(f"{name}.yaml")
    return _parse((file if file.is_file() else folder.joinpath("default.yaml")).read_text(), f"{name}.yaml")


def load(path: Path) -> Calibration:
    """Raises DataError when the file cannot be read or belongs to another release."""
    try:
        return _parse(path.read_text(), str(path))
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from error


def _parse(text: str, name: str) -> Calibration:
    try:
        return Calibration.model_validate(yaml.safe_load(text))
    except (yaml.YAMLError, ValidationError) as error:
        raise DataError(f"calibration {name} does not fit this release; run `geotts calibrate` again") from error


def _expand(raw: Floats, mean: Floats, scale: Floats, *, crossed: bool) -> Floats:
    """Standardised, clipped features; with their products when there are runs enough to tell them apart."""
    z = np.clip((raw - mean) / scale, -_CLIP, _CLIP)
    if not crossed:
        return z
    main = z[:, [list(Spread.model_fields).index(name) for name in _CROSSED]]
    rows, columns = np.triu_indices(len(_CROSSED))
    return np.concatenate([z, main[:, rows] * main[:, columns]], axis=1)


def _tail_ordering(x: Floats, km: Floats) -> Ordering:
    """Mean of quantile regressions at a few far levels over bootstrap samples: less variance than any one of them."""
    y = np.log(np.maximum(km, _TAIL_FLOOR_KM))
    rng = np.random.default_rng(0)
    fits = []
    for _ in range(_BAGS):
        sample = rng.integers(0, len(y), len(y))
        fits += [_quantile_regression(x[sample], y[sample], level) for level in _TAIL_LEVELS]
    return Ordering(
        coefficients=tuple(np.mean([coefficients for coefficients, _ in fits], axis=0).tolist()),
        intercept=float(np.mean([intercept for _, intercept in fits])),
    )


def _held_out_scores(x: Floats, km: Floats) -> Floats:
    """Tail scores of each run from a fit on the other folds."""
    folds = np.arange(len(km)) % _FOLDS
    scores = np.zeros(len(km))
    for fold in range(_FOLDS):
        scores[folds == fold] = _tail_ordering(x[folds != fold], km[folds != fold]).of(x[folds == fold])
    return scores


def _tail_rule(scores: Floats, km: Floats, held_out: Floats) -> TailRule:
    """The rule that holds 90 % of held-out runs with the least mean radius.

    A verdict is given more than 90 % where a little more radius buys much probability, and less where even a continent
    would not be enough; the average over verdicts is 90 %.
    """
    rank = 0.9 * (1.0 + 1.0 / len(km))
    best: tuple[float, TailRule] | None = None
    for beta in _BETAS:
        for cap in _CAPS_KM:
            rule = _solve_alpha(held_out, km, beta, cap, rank)
            if rule is not None and (best is None or rule.radius_km(held_out).mean() < best[0]):
                best = (float(rule.radius_km(held_out).mean()), rule)
    assert best is not None  # the largest cap holds everything
    return best[1]


def _solve_alpha(scores: Floats, km: Floats, beta: float, cap_km: float, cover: float) -> TailRule | None:
    """The least alpha that covers; None when the cap is too low for that."""
    if (km <= cap_km).mean() < cover:
        return None
    needed = np.where(km <= cap_km, np.log(km) - beta * scores, np.inf)
    alpha = float(np.sort(needed)[min(len(km) - 1, math.ceil(cover * len(km)) - 1)])
    return TailRule(alpha=alpha, beta=beta, cap_km=cap_km) if math.isfinite(alpha) else None


def _tabulate(scores: Floats, km: Floats) -> ErrorTable:
    knots = np.unique(np.round(np.quantile(scores, np.linspace(0.03, 0.97, _KNOTS)), 4))
    near = min(len(km), max(25, round(_NEIGHBOURS * len(km))))
    rows = [_quantiles(km[np.argsort(np.abs(scores - knot), kind="stable")[:near]]) for knot in knots]
    table = np.maximum.accumulate(np.stack(rows), axis=0)  # a more uncertain verdict is never given a smaller radius
    return ErrorTable(knots=tuple(knots.tolist()), quantiles_km=tuple(tuple(row) for row in table.tolist()))


def _quantiles(errors: Floats) -> Floats:
    """Conformal quantiles: the smallest value that n + 1 exchangeable draws stay below with each probability."""
    ordered = np.sort(errors)
    ranks = np.clip(np.array(LEVELS) * (len(ordered) + 1) - 1, 0, len(ordered) - 1)
    return np.asarray(np.exp(np.interp(ranks, np.arange(len(ordered)), np.log(ordered))))


def _ridge(z: Floats, y: Floats, weight: Floats) -> tuple[Floats, float]:
    """Weighted ridge regression: coefficients and intercept."""
    centre_z, centre_y = np.average(z, axis=0, weights=weight), float(np.average(y, weights=weight))
    zc = (z - centre_z) * weight[:, None]
    penalty = _RIDGE * weight.mean() * np.eye(z.shape[1])
    coefficients = np.linalg.solve(zc.T @ (z - centre_z) + penalty, zc.T @ (y - centre_y))
    return coefficients, centre_y - float(centre_z @ coefficients)


def _quantile_regression(z: Floats, y: Floats, level: float) -> tuple[Floats, float]:
    """Linear quantile regression by iteratively reweighted least squares (pinball loss, smoothed near zero)."""
    coefficients, intercept = _ridge(z, y, np.ones(len(y)))
    for _ in range(_IRLS_STEPS):
        residual = y - z @ coefficients - intercept
        weight = np.where(residual >= 0, level, 1.0 - level) / np.maximum(np.abs(residual), 0.05)
        coefficients, intercept = _ridge(z, y, weight / weight.mean())
    return coefficients, intercept


def _named(fitted: tuple[Floats, float]) -> dict[str, object]:
    return {"coefficients": tuple(fitted[0].tolist()), "intercept": fitted[1]}


def _rounded(node: object) -> object:
    if isinstance(node, dict):
        return {key: _rounded(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_rounded(value) for value in node]
    return float(f"{node:.5g}") if isinstance(node, float) else node
