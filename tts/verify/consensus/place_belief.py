"""The belief about the place of a photo, as a distribution over points: from votes, from the text that was read, or
both.

The votes give their clusters, and the calibration says how far off such answers are: the distribution around the first
cluster is that of its errors. Errors that are as large as the way to another cluster are, for the most part, errors in
which the other cluster was right; that much of the probability lies there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tts.clues.belief import Belief
from tts.decision_weights import weights
from tts.domain.geo import Floats, LatLon, destination, sphere_km_from_degrees
from tts.verify.consensus.calibrated_radii import FLOOR_KM, LEVELS, ErrorDistribution
from tts.verify.consensus.clusters import Cluster

_BEARINGS_PER_RING = 12
_W = weights("peaks")
_SHARE_AT_OTHERS = _W["at_others"]


@dataclass(frozen=True, slots=True)
class PlaceBelief:
    """(n,) degrees, and (n,) shares that add up to 1."""

    lat: Floats
    lon: Floats
    share: Floats

    def mass(self, point: LatLon, km: float) -> float:
        """The probability of the places within `km` of a point."""
        return float(self.share[sphere_km_from_degrees(point, self.lat, self.lon) <= km].sum())

    def largest(self, count: int) -> PlaceBelief:
        """The points with the largest shares; the shares stay what they are."""
        at = np.argsort(-self.share, kind="stable")[:count]
        return PlaceBelief(self.lat[at], self.lon[at], self.share[at])


def belief_of_votes(clusters: Sequence[Cluster], error_distribution: ErrorDistribution) -> PlaceBelief:
    """The distribution that clusters and the calibrated errors of their first one give. Needs at least one cluster."""
    first, others = clusters[0], clusters[1:]
    reach = min((_distance_between_km(first.centre, other.centre) for other in others), default=math.inf) / 2
    rings = [(km, share) for km, share in _error_rings(error_distribution) if km <= reach]
    far_rings = [(km, share) for km, share in _error_rings(error_distribution) if km > reach]
    mass_at_others = _SHARE_AT_OTHERS * sum(share for _, share in far_rings) if others else 0.0
    parts = [_ring_points(first.centre, rings)]
    parts.append(
        _ring_points(first.centre, [(km, (1 - _SHARE_AT_OTHERS if others else 1.0) * share) for km, share in far_rings])
    )
    support = sum(other.support for other in others) or 1.0
    near = rings or [(max(FLOOR_KM, reach), 1.0)]
    total = sum(share for _, share in near)
    for other in others:
        weight = mass_at_others * other.support / support
        parts.append(_ring_points(other.centre, [(km, weight * share / total) for km, share in near]))
    return _join_parts(parts)


def belief_of_reading(belief: Belief) -> PlaceBelief:
    """The belief from lettering as it is, over towns."""
    total = float(belief.share.sum()) or 1.0
    return PlaceBelief(belief.lat, belief.lon, belief.share / total)


def mix_beliefs(one: PlaceBelief, other: PlaceBelief, share: float) -> PlaceBelief:
    """`share` of the one, and the rest of the other."""
    return PlaceBelief(
        np.concatenate([one.lat, other.lat]),
        np.concatenate([one.lon, other.lon]),
        np.concatenate([share * one.share, (1.0 - share) * other.share]),
    )


def _error_rings(error_distribution: ErrorDistribution) -> list[tuple[float, float]]:
    """Distances in km and the share of the errors about each: between two levels their geometric mean."""
    edges = [*LEVELS, 1.0]
    widest = error_distribution.quantiles_km[-1] * _W["beyond_quantiles"]
    quantiles = [*error_distribution.quantiles_km, max(widest, error_distribution.radius.p90)]
    found = [(quantiles[0] / 2, LEVELS[0])]
    for i in range(len(LEVELS)):
        low, high = max(FLOOR_KM, quantiles[i]), max(FLOOR_KM, quantiles[i + 1])
        found.append((math.sqrt(low * high), edges[i + 1] - edges[i]))
    return found


def _ring_points(centre: LatLon, rings: Sequence[tuple[float, float]]) -> list[tuple[float, float, float]]:
    points = []
    for i, (km, share) in enumerate(rings):
        turn = 180.0 / _BEARINGS_PER_RING * (i % 2)
        for k in range(_BEARINGS_PER_RING):
            at = destination(centre, bearing_deg=turn + 360.0 * k / _BEARINGS_PER_RING, distance_km=km)
            points.append((at.lat, at.lon, share / _BEARINGS_PER_RING))
    return points


def _join_parts(parts: Sequence[Sequence[tuple[float, float, float]]]) -> PlaceBelief:
    table = np.array([row for part in parts for row in part], dtype=np.float64).reshape(-1, 3)
    return PlaceBelief(table[:, 0], table[:, 1], table[:, 2] / (table[:, 2].sum() or 1.0))


def _distance_between_km(a: LatLon, b: LatLon) -> float:
    return float(sphere_km_from_degrees(a, np.array([b.lat]), np.array([b.lon]))[0])
