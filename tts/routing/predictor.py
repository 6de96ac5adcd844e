"""Predicts L_opt and whether a photo needs depth; the exact values need the true place (arXiv:2603.13628).

Two small logistic models over the parts of a rating (what is pictured, cues, the model's own probe), fitted by `fit` on
recorded runs of the same photos without and with tools. The visual part enters as one feature among others; a predictor
that knows nothing else is refused, because it cannot tell a hopeless photo from one that needs thought.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import yaml
from pydantic import ValidationError, model_validator

from tts.decision_weights import weights
from tts.domain.geo import Floats
from tts.domain.plan import Locatability
from tts.domain.value import Value
from tts.errors import DataError

_MIN_RUNS = int(weights("depth")["fewest_photos"])
_RIDGE = weights("depth")["ridge"]
_NEWTON_STEPS = 30
_EXCLUDED_PARTS = ("deep", "l_opt")


class DepthPredictor(Value):
    """Fitted coefficients, with what they were fitted on. Missing parts count as their mean."""

    schema_version: Literal[1] = 1
    origin: str
    runs: int
    features: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    l_opt: tuple[float, ...]
    deep: tuple[float, ...]

    @model_validator(mode="after")
    def _check_sizes(self) -> DepthPredictor:
        n = len(self.features)
        if not n == len(self.mean) == len(self.scale) == len(self.l_opt) - 1 == len(self.deep) - 1:
            raise ValueError("coefficients do not match the features")
        if set(self.features) <= {"visual"}:
            raise ValueError("what is pictured alone does not decide depth")
        return self

    def refine(self, rated: Locatability) -> Locatability:
        """The rating with its score predicted as L_opt and the probability of the deep label as part `deep`."""
        x = np.array([rated.parts.get(name, mean) for name, mean in zip(self.features, self.mean, strict=True)])
        z = np.append((x - np.array(self.mean)) / np.array(self.scale), 1.0)
        l_opt, deep = (float(_sigmoid(z @ np.array(w))) for w in (self.l_opt, self.deep))
        parts = {**rated.parts, "l_opt": round(l_opt, 3), "deep": round(deep, 3)}
        return rated.model_copy(update={"score": round(l_opt, 3), "parts": parts})

    def write(self, path: Path) -> None:
        """Write YAML that `load_predictor` reads; replaces a file that is there."""
        path.write_text(yaml.safe_dump(self.model_dump(mode="json"), sort_keys=False))


def load_predictor(path: Path) -> DepthPredictor:
    """Raises DataError when the file cannot be read or belongs to another release."""
    try:
        return DepthPredictor.model_validate(yaml.safe_load(path.read_text()))
    except (OSError, yaml.YAMLError, ValidationError) as error:
        raise DataError(f"{path} is no depth calibration of this release; run `geotts calibrate-depth`") from error


def fit(
    parts: Sequence[Mapping[str, float]], l_opt: Sequence[float], deep: Sequence[bool], *, origin: str
) -> DepthPredictor:
    """Fit on photos with known L_opt in [0, 1] and deep labels. Deterministic.

    Raises:
        DataError: with fewer than 30 photos, or when nothing but the visual part is known of them.
    """
    if len(parts) < _MIN_RUNS:
        raise DataError(f"{len(parts)} photos are too few to fit depth: record at least {_MIN_RUNS}")
    names = tuple(sorted({name for p in parts for name in p} - set(_EXCLUDED_PARTS)))
    if set(names) <= {"visual"}:
        raise DataError("the runs record nothing but what is pictured; rate them with cues or a probe as well")
    raw = np.array([[p.get(name, np.nan) for name in names] for p in parts])
    mean, scale = np.nanmean(raw, axis=0), np.maximum(np.nanstd(raw, axis=0), 1e-3)
    z = np.nan_to_num((raw - mean) / scale)
    z = np.concatenate([z, np.ones((len(z), 1))], axis=1)
    return DepthPredictor(
        origin=origin,
        runs=len(parts),
        features=names,
        mean=tuple(mean.tolist()),
        scale=tuple(scale.tolist()),
        l_opt=tuple(_fit_logistic(z, np.array(l_opt, dtype=np.float64)).tolist()),
        deep=tuple(_fit_logistic(z, np.array(deep, dtype=np.float64)).tolist()),
    )


def _fit_logistic(z: Floats, y: Floats) -> Floats:
    """Ridge-penalised logistic regression by Newton's method; `y` may be fractions. The intercept is not penalised."""
    w = np.zeros(z.shape[1])
    penalty = _RIDGE * np.eye(z.shape[1])
    penalty[-1, -1] = 1e-6
    for _ in range(_NEWTON_STEPS):
        p = _sigmoid(z @ w)
        hessian = (z * (p * (1.0 - p) + 1e-6)[:, None]).T @ z + penalty
        step = np.linalg.solve(hessian, z.T @ (p - y) + penalty @ w)
        w = w - step
        if float(np.abs(step).max()) < 1e-8:
            break
    return w


def _sigmoid(x: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(x, -30.0, 30.0))))
