"""Geo-ADAPT (arXiv:2603.13628): how locatable a photo is, whether it needed deep thought, and a hierarchical reward.

The locatability figures need the truth, so they calibrate the router; at run time it predicts them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

_GAMMA_PER_KM = 0.01
_ALPHA = 0.6
_DEEP_MARGIN_KM = 50.0
_PLACE_SCALE_KM = 100.0


def visual_locatability(area_shares: Sequence[float], class_weights: Sequence[float]) -> float:
    """Σ share × weight over segmentation classes. Raises ValueError when the two differ in length."""
    return sum(share * weight for share, weight in zip(area_shares, class_weights, strict=True))


def reasoning_locatability(reason_km: float, retrieval_km: float, *, gamma_per_km: float = _GAMMA_PER_KM) -> float:
    """exp(−γ·d_reason)·exp(−γ·max(0, d_reason − d_rag)), in (0, 1]: errors of a tool-free and of a retrieval run."""
    return math.exp(-gamma_per_km * reason_km) * math.exp(-gamma_per_km * max(0.0, reason_km - retrieval_km))


def optimal_locatability(visual: float, reasoning: float, *, alpha: float = _ALPHA) -> float:
    """L_visual·[(1 − α) + α·L_reason]."""
    return visual * ((1.0 - alpha) + alpha * reasoning)


def needs_depth(reason_km: float, retrieval_km: float) -> bool:
    """The label ℓ: retrieval was better by more than 50 km."""
    return reason_km > retrieval_km + _DEEP_MARGIN_KM


def depth_reward(*, chose_deep: bool, label_deep: bool) -> float:
    """1 when the chosen depth is that of the label ℓ, else 0."""
    return float(chose_deep == label_deep)


def grounding_reward(confidences: Sequence[float], named: Collection[str], reference: Collection[str]) -> float:
    """Mean detection confidence of the entities a chain names, times its Jaccard overlap with the reference; [0, 1]."""
    ours, theirs = set(named), set(reference)
    if not confidences or not ours | theirs:
        return 0.0
    return sum(confidences) / len(confidences) * len(ours & theirs) / len(ours | theirs)


def reasoning_reward(depth: float, grounding: float) -> float:
    """Depth and grounding with equal weights."""
    return 0.5 * depth + 0.5 * grounding


def place_reward(*, country_right: bool, city_right: bool, distance_km: float | None) -> float:
    """0 for a wrong country, 0.3·R for a wrong city, 0.3 + 0.7·R for the right one, with R = exp(−d / 100 km)."""
    if not country_right:
        return 0.0
    near = 0.0 if distance_km is None else math.exp(-distance_km / _PLACE_SCALE_KM)
    return 0.3 + 0.7 * near if city_right else 0.3 * near
