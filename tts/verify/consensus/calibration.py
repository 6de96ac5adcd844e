"""A fitted calibration: it turns the features of a verdict into radii and probabilities that hold on other runs.

`calibrated_radii` has its parts; `radius_fitting` fits it.

Two regressions on the features of `Spread` put verdicts in order: one by how far off they typically are, one by how far
off the worst of them are (agreement within 25 km tells the first, agreement within 750 km the second). Along the first
the errors themselves are tabulated: conformal quantiles of the errors of the nearest runs, from which medians and
probabilities are read. Along the second a radius rule is chosen so that it holds 90 % of the runs it was not fitted on
with the least mean radius.

The result is a small YAML file with a version and its origin; it ships for the embedded engine.
"""

from __future__ import annotations

import importlib.resources
from datetime import date
from functools import lru_cache
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Final, Literal

import numpy as np
import yaml
from pydantic import Field, ValidationError, model_validator

from tts.decision_weights import weights
from tts.domain.answer import Radius
from tts.domain.geo import HALF_CIRCUMFERENCE_KM, Floats
from tts.domain.kind_of_n import FittedKind
from tts.domain.value import Value
from tts.errors import DataError
from tts.verify.consensus.answer_regions import RegionRule
from tts.verify.consensus.calibrated_radii import LEVELS, ErrorDistribution, ErrorTable, TailRule
from tts.verify.consensus.spread_features import Spread

SCHEMA_VERSION: Final = 1
_CROSSED_FEATURES = (
    "mean_log_km", "second_log_km", "farthest_log_km", "share_750", "share_1500", "town_log", "largest_town_log",
    "people_log", "division_people_log", "division_reach_log_km",
)  # fmt: skip
_CROSSED_FEATURE_INDICES = [list(Spread.model_fields).index(name) for name in _CROSSED_FEATURES]
_FIRST_OF_PAIR, _SECOND_OF_PAIR = np.triu_indices(len(_CROSSED_FEATURES))
_ALL_FEATURES = tuple(Spread.model_fields)
_KNOWN_FEATURE_SETS = (_ALL_FEATURES, _ALL_FEATURES[:-1])  # those of before the draws, too: nothing of them has changed
_W = weights("radii")
_MAX_ABSOLUTE_Z = _W["clip"]
_MAX_CONSTANT_SCALE = 2e-3  # scale of a feature that was the same in all runs; `fit` writes 0.001 for it


class Ordering(Value):
    """A linear score of the (crossed) features: verdicts with a higher score are farther off."""

    coefficients: tuple[float, ...]
    intercept: float

    def scores_of(self, x: Floats) -> Floats:
        """(n,) scores of (n, k) features."""
        return np.asarray(x @ _as_array(self.coefficients) + self.intercept)


class Calibration(Value):
    """A fitted calibration: `typical` and `table` give medians and probabilities, `tail` and `rule` the 90 % radius.

    `regions` gives the regions of answers with several peaks; without it, such answers have circles only. `origin`,
    `command` and `fitted_on` say from which runs it was made, how and when; `kind_of_n`, whether the rollouts of these
    runs were samples of one policy or of a mixture of models. `dependence` is ρ of two rollouts of one model in these
    runs, None where no two rest on statements of tools. The radii hold for engines with about this ρ.
    """

    schema_version: Literal[1] = 1
    origin: str
    command: str = ""
    fitted_on: date | None = None
    kind_of_n: FittedKind = FittedKind.NOT_STATED
    dependence: Annotated[float, Field(ge=0, le=1)] | None = None
    runs: int
    features: tuple[str, ...]
    crossed: bool
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    typical: Ordering
    table: ErrorTable
    tail: Ordering
    rule: TailRule
    regions: RegionRule | None = None

    @model_validator(mode="after")
    def _check_consistency(self) -> Calibration:
        if self.features not in _KNOWN_FEATURE_SETS:
            raise ValueError("made for other features")
        if any(len(row) != len(LEVELS) for row in self.table.quantiles_km):
            raise ValueError("the table does not match its levels")
        return self

    def error_distribution(self, spread: Spread) -> ErrorDistribution:
        """What the features say about the error."""
        x = expand(
            spread.vector()[None, : len(self.features)],
            _as_array(self.mean),
            _as_array(self.scale),
            crossed=self.crossed,
        )
        row = self.table.row(float(self.typical.scores_of(x)[0]))
        p50 = row[LEVELS.index(0.5)]
        p90 = min(HALF_CIRCUMFERENCE_KM, float(self.rule.radius_km(self.tail.scores_of(x))[0]))
        return ErrorDistribution(Radius(p50=round(p50, 2), p90=round(max(p50, p90), 2)), row)

    @property
    def knows_tools(self) -> bool:
        """Whether it was fitted on rollouts that rest on what tools returned."""
        return self._is_varied("grounding")

    @property
    def knows_draws(self) -> bool:
        """Whether it was fitted on rollouts whose answers were drawn again."""
        return self._is_varied("draws_log_km")

    def _is_varied(self, feature: str) -> bool:
        """Whether a feature was known, and not the same in all runs."""
        return feature in self.features and self.scale[self.features.index(feature)] > _MAX_CONSTANT_SCALE

    def radius(self, spread: Spread) -> Radius:
        """50 % and 90 % radii in km."""
        return self.error_distribution(spread).radius

    def probability_within(self, spread: Spread, km: float) -> float:
        """See `ErrorDistribution.probability_within`."""
        return self.error_distribution(spread).probability_within(km)

    def write(self, path: Path) -> None:
        """Write it as YAML with rounded figures; replaces a file that is there."""
        tree = self.model_dump(mode="json", exclude_none=True)
        path.write_text(yaml.safe_dump(_round_numbers(tree), sort_keys=False, default_flow_style=None, width=118))


def is_shipped(name: str) -> bool:
    """Whether a calibration ships that was fitted to this engine."""
    return _shipped_file(name).is_file()


def shipped_calibration(name: str) -> Calibration:
    """The calibration that ships for an engine, or the general one.

    Raises:
        DataError: when the file is of another version or does not match this release.
    """
    file = _shipped_file(name if is_shipped(name) else "default")
    return _parse_calibration(file.read_text(), f"{name}.yaml")


def _shipped_file(name: str) -> Traversable:
    return importlib.resources.files("tts").joinpath("data/calibration", f"{name}.yaml")


def load(path: Path) -> Calibration:
    """Raises DataError when the file cannot be read or belongs to another release."""
    try:
        return _parse_calibration(path.read_text(), str(path))
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from error


def _parse_calibration(text: str, name: str) -> Calibration:
    try:
        tree = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise DataError(f"calibration {name} is not YAML: {error}") from error
    stated = tree.get("schema_version") if isinstance(tree, dict) else None
    if stated != SCHEMA_VERSION:
        raise DataError(
            f"calibration {name} has schema version {stated}, this release reads {SCHEMA_VERSION}; "
            "make it again with `geotts calibrate`"
        )
    try:
        return Calibration.model_validate(tree)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "calibration"
        message = f"calibration {name} does not fit this release ({where}: {first['msg']})"
        raise DataError(f"{message}; make it again with `geotts calibrate`") from error


@lru_cache(maxsize=64)
def _as_array(numbers: tuple[float, ...]) -> Floats:
    """Numbers of a calibration, which every verdict needs again."""
    array = np.array(numbers)
    array.flags.writeable = False
    return array


def expand(raw: Floats, mean: Floats, scale: Floats, *, crossed: bool) -> Floats:
    """(n, k) standardised, clipped features of raw ones; with products of some where runs are enough for that. What is
    not known (NaN) counts as usual.
    """
    z = np.clip((raw - mean) / scale, -_MAX_ABSOLUTE_Z, _MAX_ABSOLUTE_Z)
    z[np.isnan(z)] = 0.0
    if not crossed:
        return z
    main = z[:, _CROSSED_FEATURE_INDICES]
    return np.concatenate([z, main[:, _FIRST_OF_PAIR] * main[:, _SECOND_OF_PAIR]], axis=1)


def _round_numbers(node: object) -> object:
    if isinstance(node, dict):
        return {key: _round_numbers(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_round_numbers(value) for value in node]
    return float(f"{node:.5g}") if isinstance(node, float) else node
