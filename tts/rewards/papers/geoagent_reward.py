"""GeoAgent (arXiv:2602.12617): similarity on the ground, similarity of names at three levels, and consistency.

Total = 1.5·spatial + 1.0·semantic + 0.5·consistency. Semantic similarity is a cosine of name embeddings that the caller
computes; names are aliases, so a caller without embeddings passes 1 for the same place and 0 otherwise. λ and μ of the
length damping are not published and therefore settings.
"""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import Field

from tts.domain.value import Value

_SCALE_KM = 200.0
_WEIGHTS = (0.1, 0.6, 0.3)
_MIN_COUNTRY_SIMILARITY = 0.7
_MIN_REGION_SIMILARITY = 0.5

Cosine = Annotated[float, Field(ge=-1, le=1)]


class Levels(Value):
    """One figure each for country, region and precise place."""

    country: Cosine
    region: Cosine
    place: Cosine


class LengthDamping(Value):
    """1 / (1 + exp(−λ(length − μ))): reasoning that is too short earns less. `length` is in the unit of `mu`."""

    steepness: Annotated[float, Field(gt=0)] = 0.05
    mu: float = 60.0

    def factor(self, length: float) -> float:
        """From 0 to 1, growing with the length; 0.5 at a length of `mu`."""
        exponent = -self.steepness * (length - self.mu)
        return 1.0 / (1.0 + math.exp(min(700.0, exponent)))


def spatial_reward(distance_km: float | None) -> float:
    """exp(−d / 200 km), 0 without a point."""
    return 0.0 if distance_km is None else math.exp(-distance_km / _SCALE_KM)


def semantic_reward(similarity: Levels) -> float:
    """0.1·country + 0.6·region + 0.3·place; a level counts only when the ones above it are not wrong.

    A country is wrong below 0.7, a region below 0.5. Negative similarity earns nothing.
    """
    country, region, place = (max(0.0, s) for s in (similarity.country, similarity.region, similarity.place))
    if country < _MIN_COUNTRY_SIMILARITY:
        region = place = 0.0
    elif region < _MIN_REGION_SIMILARITY:
        place = 0.0
    return _WEIGHTS[0] * country + _WEIGHTS[1] * region + _WEIGHTS[2] * place


def consistency_reward(agreement: Levels, reasoning_length: float, damping: LengthDamping | None = None) -> float:
    """How far a second reader, who sees only the reasoning, reaches the same conclusions; damped when it is short."""
    levels = (agreement.country, agreement.region, agreement.place)
    agreed = sum(weight * max(0.0, level) for weight, level in zip(_WEIGHTS, levels, strict=True))
    return agreed * (damping or LengthDamping()).factor(reasoning_length)


def total_reward(
    distance_km: float | None,
    similarity: Levels,
    agreement: Levels,
    reasoning_length: float,
    damping: LengthDamping | None = None,
) -> float:
    """In [0, 3]."""
    consistency = consistency_reward(agreement, reasoning_length, damping)
    return 1.5 * spatial_reward(distance_km) + semantic_reward(similarity) + 0.5 * consistency
