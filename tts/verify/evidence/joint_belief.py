"""Joint beliefs about several places, of which each pair lies within a given distance.

Each photo has a belief of its own, from its own lettering. Together, every combination of places counts in proportion
to what each photo says of its place, as far as no pair is farther apart than it can be. The combinations are sampled:
one photo after the other, each within reach of those before, and weighted by how much of its belief lies there against
how many photos are taken there anyway (importance sampling; the draws are the same for the same beliefs).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tts.decision_weights import weights
from tts.domain.geo import EARTH_RADIUS_KM, Floats, unit_vectors

_SAMPLE_COUNT = 4000
_MAX_POINTS = 250  # of one belief, the likeliest
_MIN_PRIOR = 1e-7
_COSINE_TOLERANCE = 1e-14  # a point is at no distance from itself
Mask = npt.NDArray[np.bool_]
APART_BELOW = weights("photos")["walk_apart"]


@dataclass(frozen=True, slots=True)
class Points:
    """(n,) degrees, and (n,) shares that add up to 1."""

    lat: Floats
    lon: Floats
    share: Floats

    @classmethod
    def likeliest(cls, lat: Floats, lon: Floats, share: Floats) -> Points:
        """The likeliest points, with shares that add up to 1."""
        top = np.argsort(-share, kind="stable")[:_MAX_POINTS]
        kept = share[top]
        return cls(lat[top], lon[top], kept / (float(kept.sum()) or 1.0))

    def near_mask(self, other: Points, limit_km: float) -> Mask:
        """(n, m) whether each point is at most so far from each of the other's."""
        cosines = unit_vectors(self.lat, self.lon) @ unit_vectors(other.lat, other.lon).T
        return np.asarray(cosines >= math.cos(min(math.pi, limit_km / EARTH_RADIUS_KM)) - _COSINE_TOLERANCE)


@dataclass(frozen=True, slots=True)
class JointBelief:
    """`marginals`: for each photo, its belief given the others; `possible` is false when no combination is left."""

    marginals: tuple[Points, ...]
    possible: bool


def joint_belief(beliefs: Sequence[Points], prior: Points, limits_km: Floats) -> JointBelief:
    """The beliefs of photos whose pairs are at most `limits_km` (n, n) apart. `prior`: where photos are taken."""
    rng = np.random.default_rng(0)
    order = sorted(range(len(beliefs)), key=lambda i: (-float(beliefs[i].share.max()), i))
    samples: dict[int, npt.NDArray[np.int64]] = {}
    weight = np.ones(_SAMPLE_COUNT)
    for photo in order:
        allowed = np.ones((_SAMPLE_COUNT, len(beliefs[photo].share)), dtype=bool)
        for other, at in samples.items():
            near = beliefs[other].near_mask(beliefs[photo], float(limits_km[other, photo]))
            allowed &= near[at]
        shares = np.cumsum(allowed * beliefs[photo].share, axis=1)
        mass = shares[:, -1]
        if samples:
            first = order[0]
            usual = _prior_shares(beliefs[first], prior, float(limits_km[first, photo]))[samples[first]]
            weight *= mass / usual
        target = rng.random(_SAMPLE_COUNT) * mass
        samples[photo] = np.minimum((shares <= target[:, None]).sum(axis=1), shares.shape[1] - 1)
    total = float(weight.sum())
    if total <= 0.0:
        return JointBelief(tuple(beliefs), possible=False)
    marginals = []
    for photo, belief in enumerate(beliefs):
        counted = np.bincount(samples[photo], weights=weight, minlength=len(belief.share)) / total
        marginals.append(Points(belief.lat, belief.lon, counted))
    return JointBelief(tuple(marginals), possible=True)


def within_reach(one: Points, other: Points, prior: Points, limit_km: float) -> float:
    """How much likelier two beliefs lie within a distance of each other than two places drawn by chance."""
    near = one.near_mask(other, limit_km) @ other.share
    return float((one.share * near / _prior_shares(one, prior, limit_km)).sum())


def _prior_shares(points: Points, prior: Points, limit_km: float) -> Floats:
    """(n,) the share of all photos that are taken within a distance of each point."""
    return np.asarray(np.maximum(_MIN_PRIOR, points.near_mask(prior, limit_km) @ prior.share))
