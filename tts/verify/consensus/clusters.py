"""Clusters the votes at several scales, and finds a robust centre.

Every candidate point collects from every vote a heavy-tailed share (Cauchy) at four scales: street, town, region,
country. A wrong vote far away then costs nothing, two votes 300 km apart still speak for the same region, and the
centre is never the mean of two continents. Candidates are the votes themselves, and means of neighbouring votes that
no tool has tied to a place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tts.decision_weights import weights
from tts.domain.geo import (
    Floats,
    LatLon,
    direction_of,
    distance_km,
    distance_rows_km,
    distances_km,
    from_unit_vector,
)
from tts.verify.consensus.votes import Vote
from tts.verify.evidence.world import World

_W = weights("clusters")
# scale in km, share of the vote
SCALES: tuple[tuple[float, float], ...] = (
    (_W["street_km"], _W["street_share"]),
    (_W["town_km"], _W["town_share"]),
    (_W["region_km"], _W["region_share"]),
    (_W["country_km"], _W["country_share"]),
)
_SCALES_KM, _SCALE_SHARES = (np.array(column)[:, np.newaxis] for column in zip(*SCALES, strict=True))
_FULL_TRUST = (1.0,) * len(SCALES)
MEMBER_KM = _W["member_km"]
_MAX_MEAN_WIDTH_KM = _W["mean_within_km"]
_MAX_MEAN_GROUNDING = weights("verdict")["mean_below"]


@dataclass(frozen=True, slots=True)
class Cluster:
    """Votes that speak for one place. `support` in [0, 1] is their share of all weight."""

    centre: LatLon
    members: tuple[Vote, ...]
    support: float
    utility: float

    @property
    def rollouts(self) -> tuple[int, ...]:
        """The rollouts among the members that answer the place."""
        return tuple(sorted(vote.ledger.rollout_id for vote in self.members if vote.ledger.is_answer))

    @property
    def anchor(self) -> Vote:
        """The member that stands closest to the centre, the weightiest of equals."""
        return min(self.members, key=lambda vote: (round(distance_km(vote.point, self.centre), 3), -vote.weight))


def clusters_of(votes: Sequence[Vote], world: World, *, most: int = 5) -> list[Cluster]:
    """Clusters by falling utility; the first is the answer. Deterministic and indifferent to the order of votes."""
    total = sum(vote.weight for vote in votes)
    remaining = list(votes)
    clusters: list[Cluster] = []
    while remaining and len(clusters) < most:
        centre, utility = _best_point(remaining, votes, world)
        members = [vote for vote in remaining if _is_member(vote, centre)]
        if not members:
            members = [min(remaining, key=lambda vote: distance_km(vote.point, centre))]
        support = sum(vote.weight for vote in members) / total
        clusters.append(Cluster(centre, tuple(members), support, utility))
        remaining = [vote for vote in remaining if vote not in members]
    return clusters


def utility_of(lat: Floats, lon: Floats, votes: Sequence[Vote]) -> Floats:
    """What candidates collect from all votes, elementwise. A vote is shared among the draws of its answer."""
    weighted_points = [
        (vote, point, 1.0 / (1 + len(vote.draws))) for vote in votes for point in (vote.point, *vote.draws) if point
    ]
    n = len(weighted_points)
    vote_lat = np.array([point.lat for _, point, _ in weighted_points])
    vote_lon = np.array([point.lon for _, point, _ in weighted_points])
    km = distances_km(lat.repeat(n), lon.repeat(n), np.tile(vote_lat, len(lat)), np.tile(vote_lon, len(lat)))
    weight = np.array([vote.weight * share for vote, _, share in weighted_points])
    trust = np.array([vote.trust or _FULL_TRUST for vote, _, _ in weighted_points]).T
    reach = np.maximum(_SCALES_KM, [vote.reach_km for vote, _, _ in weighted_points])
    most = weight * trust * _SCALE_SHARES * (_SCALES_KM / reach)  # (scales, votes): of a candidate at the vote itself
    relative_km = km.reshape(len(lat), n) / reach[:, np.newaxis]
    collected: Floats = (most[:, np.newaxis] / (1.0 + relative_km**2)).sum(axis=2).sum(axis=0)
    return collected


def _is_member(vote: Vote, centre: LatLon) -> bool:
    return distance_km(vote.point, centre) <= max(MEMBER_KM, vote.reach_km)


def _best_point(remaining: Sequence[Vote], votes: Sequence[Vote], world: World) -> tuple[LatLon, float]:
    """What collects most. Of the means only those on land, which is asked of those that would be chosen."""
    vote_points = [vote.point for vote in remaining]
    candidates = vote_points + _mean_points([vote for vote in remaining if vote.ledger.grounding < _MAX_MEAN_GROUNDING])
    lat = np.array([point.lat for point in candidates])
    lon = np.array([point.lon for point in candidates])
    collected = np.round(utility_of(lat, lon, votes), 9).tolist()
    ranked = sorted(range(len(candidates)), key=lambda i: (-collected[i], candidates[i].lat, candidates[i].lon))
    best = next(i for i in ranked if i < len(vote_points) or not world.at_sea(candidates[i]))
    return candidates[best], collected[best]


def _mean_points(votes: Sequence[Vote]) -> list[LatLon]:
    """Weighted means of pairs and of neighbourhoods."""
    if len(votes) < 2:
        return []
    vectors = [[axis * vote.weight for axis in direction_of(vote.point)] for vote in votes]
    km = distance_rows_km([vote.point for vote in votes])
    n = len(votes)
    groups = {tuple(pair) for pair in combinations(range(n), 2)}
    groups |= {tuple([j for j in range(n) if row[j] <= reach]) for row in km for reach, _ in SCALES[1:]}
    near = [g for g in sorted(groups) if len(g) > 1 and _width_km(km, g) <= _MAX_MEAN_WIDTH_KM]
    return [from_unit_vector([sum(axis) for axis in zip(*(vectors[i] for i in g), strict=True)]) for g in near]


def _width_km(km: Sequence[Sequence[float]], group: tuple[int, ...]) -> float:
    return max(km[i][j] for i, j in combinations(group, 2))
