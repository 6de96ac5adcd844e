"""One synthetic request: its rollouts with their tool results, the text of the photo, and the true place."""

from __future__ import annotations

from dataclasses import dataclass

from tts.domain.geo import CITY_KM, LatLon
from tts.domain.reading import Reading
from tts.domain.tooling import Fact
from tts.domain.trajectory import Trajectory

RIGHT_KM = CITY_KM


@dataclass(frozen=True, slots=True)
class Scenario:
    """`clean` is the same request without the attack, where there is one: an attack moves nothing when both verdicts
    agree. `kind` tells the variants of a family apart. `unasked` is what tools know that nobody asked for,
    `extra_rollout` is one more rollout of the same policy."""

    key: str
    family: str
    kind: str
    truth: LatLon
    trajectories: tuple[Trajectory, ...]
    readings: tuple[Reading, ...] = ()
    clean: Scenario | None = None
    unasked: tuple[Fact, ...] = ()
    extra_rollout: Trajectory | None = None
