"""A stop policy: two rollouts that ended, on different evidence, name places within a tenth of the wanted radius.

A ballot's `share` is below 1 when its rollout rests on the same statements as another.
"""

from __future__ import annotations

from itertools import combinations

from tts.domain.geo import distance_km
from tts.domain.stop_policy import StopView


def should_stop(view: StopView) -> bool:
    """Asked each time a rollout ends; True stops those that still run."""
    independent = [vote for vote in view.votes if vote.share == 1.0]
    reach_km = view.radius_km / 10
    return any(distance_km(one.point, other.point) <= reach_km for one, other in combinations(independent, 2))
