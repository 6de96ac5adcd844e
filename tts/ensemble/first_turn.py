"""Decides whether the first turn of a rollout is sure: whether it names the place and an explicit cue."""

from __future__ import annotations

from tts.decision_weights import weights
from tts.domain.answer import StopReason
from tts.domain.hypothesis import Level
from tts.domain.trajectory import Trajectory

LEADER = 0
SIBLING = 1
REGION_KM = weights("watch")["region_km"]
TOWN_KM = weights("watch")["town_km"]
UNTRUSTED = (StopReason.FAILED, StopReason.CANCELLED)


def wanted_level(radius_km: float) -> Level:
    """The coarsest statement that can be right within a radius."""
    if radius_km <= TOWN_KM:
        return Level.CITY
    return Level.REGION if radius_km <= REGION_KM else Level.COUNTRY


def is_clear(trajectory: Trajectory, radius_km: float) -> bool:
    """Whether its first turn names an explicit cue and a place at the wanted level. A model that says itself how much
    reasoning the photo needs is believed."""
    cues = trajectory.turns[0].cues if trajectory.turns else None
    if cues is None or cues.wants_depth == "deep" or trajectory.stop_reason in UNTRUSTED:
        return False
    explicit = bool(cues.explicit) or cues.wants_depth == "short"
    return explicit and cues.level.rank >= wanted_level(radius_km).rank
