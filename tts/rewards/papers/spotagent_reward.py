"""SpotAgent (arXiv:2602.09463): a piecewise linear reward, and which trajectories and photos are worth training on."""

from __future__ import annotations

from collections.abc import Sequence

_LEARNABLE_KM = (1.0, 25.0, 200.0, 750.0)
_MAX_KEPT_KM = 5.0


def distance_reward(distance_km: float | None) -> float:
    """In [0, 1]: 1 below 1 km, 1 to 0.75 up to 25 km, 0.75 to 0.2 up to 200 km, 0 from there, or without a point."""
    if distance_km is None or distance_km >= 200.0:
        return 0.0
    if distance_km < 1.0:
        return 1.0
    if distance_km < 25.0:
        return 1.0 - 0.25 / 24.0 * (distance_km - 1.0)
    return 0.75 - 0.55 / 175.0 * (distance_km - 25.0)


def keep_trajectory(distance_km: float | None, *, all_calls_valid: bool) -> bool:
    """Curation: every call was valid and the error is below 5 km."""
    return all_calls_valid and distance_km is not None and distance_km < _MAX_KEPT_KM


def learnable_at_km(distances_km: Sequence[float | None]) -> tuple[float, ...]:
    """Thresholds at which some but not all rollouts hit (0 < pass@8 < 8 for eight rollouts); () for none."""
    found = []
    for threshold in _LEARNABLE_KM:
        right = sum(distance is not None and distance < threshold for distance in distances_km)
        if 0 < right < len(distances_km):
            found.append(threshold)
    return tuple(found)
