"""How reliable each source of answers is, learned with labels or from agreement alone.

A source is a model that answers many photos. Its reliability is stated for each distance at which votes are compared
(`tts.verify.consensus.clusters.SCALES`), because a source may know countries well and streets badly. Where answers
are anonymous, every source counts the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from pydantic import ValidationError

from tts.decision_weights import weights
from tts.domain.geo import Floats
from tts.domain.value import Value
from tts.errors import DataError
from tts.verify.consensus.clusters import SCALES

_ITERATIONS = 12
_W = weights("clusters")
_ODDS_EXPONENT = _W["sharpness"]
_PRIOR_COUNT = _W["half_count"]


class Reliability(Value):
    """For each source one factor in (0, 1] for each scale: its odds of being right there, over those of the best,
    to the power of 3."""

    factors: dict[str, tuple[float, ...]]

    def factors_of(self, source: str) -> tuple[float, ...]:
        """The factors of a source; those of the least reliable one for a source that was never seen."""
        found = self.factors.get(source)
        return found if found is not None else tuple(min(row) for row in zip(*self.factors.values(), strict=True))


def load_reliability(path: Path) -> Reliability:
    """A file of `geotts calibrate --sources`. Raises DataError when it cannot be read or is none."""
    try:
        return Reliability.model_validate_json(path.read_bytes())
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        raise DataError(f"{path} is no file of `geotts calibrate --sources`") from error


def from_labels(errors_km: Mapping[str, Floats]) -> Reliability:
    """From errors in km of each source on the same photos; NaN for no answer. Needs one source and one photo."""
    hits = {name: [float((np.nan_to_num(km, nan=np.inf) < scale).sum()) for scale, _ in SCALES]
            for name, km in errors_km.items()}  # fmt: skip
    n = len(next(iter(errors_km.values())))
    return _relative_reliability({name: np.array(row) for name, row in hits.items()}, float(n))


def from_agreement(sources: Sequence[str], km: Floats) -> Reliability:
    """Without labels: who agrees with those who are agreed with (expectation maximisation as Dawid and Skene 1979).

    Args:
        sources: m names.
        km: (n photos, m, m) distances between the answers of a photo, NaN where one of the two is missing.

    Sources that make the same errors are taken for reliable: labels are better where there are any.
    """
    hits = np.zeros((len(sources), len(SCALES)))
    for at, (scale, _) in enumerate(SCALES):
        near = np.nan_to_num(km, nan=np.inf) < scale
        agreed = near.mean(axis=0) * (1.0 - np.eye(len(sources)))  # share of photos on which two agree
        share = np.full(len(sources), 0.5)
        for _ in range(_ITERATIONS):
            odds = (share + 1e-3) / (1.0 - share + 1e-3)
            others = odds.sum() - odds
            share = 0.5 * share + 0.5 * (agreed @ odds) / np.maximum(others, 1e-9)
        hits[:, at] = share * len(km)
    return _relative_reliability(dict(zip(sources, hits, strict=True)), float(len(km)))


def _relative_reliability(hits: Mapping[str, Floats], n: float) -> Reliability:
    odds = {name: (row + _PRIOR_COUNT) / (n - row + _PRIOR_COUNT) for name, row in hits.items()}
    best = np.max(np.stack(list(odds.values())), axis=0)
    return Reliability(factors={name: tuple(((row / best) ** _ODDS_EXPONENT).tolist()) for name, row in odds.items()})
