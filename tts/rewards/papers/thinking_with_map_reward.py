"""Thinking with Map (arXiv:2601.05432): a staircase over the distance of the answer."""

from __future__ import annotations

_REWARD_BY_KM = ((0.5, 1.0), (2.0, 0.8), (10.0, 0.6), (25.0, 0.4), (200.0, 0.2), (750.0, 0.1))


def distance_reward(distance_km: float | None) -> float:
    """In [0, 1]: 1 below 0.5 km, then 0.8, 0.6, 0.4, 0.2, 0.1 below 2, 10, 25, 200, 750 km; 0 beyond, or unparsed."""
    if distance_km is None:
        return 0.0
    return next((reward for limit, reward in _REWARD_BY_KM if distance_km < limit), 0.0)
