"""The output of a family before it becomes a scenario: rollouts in no particular order."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tts.domain.geo import LatLon
from tts.domain.tooling import Fact
from tts.domain.trajectory import Trajectory
from tts.eval.synthetic.atlas import Atlas


@dataclass(frozen=True, slots=True)
class Cast:
    """`clean` holds the same rollouts without an attack, when there is one. `unasked` is what tools know that nobody
    asked for, `extra_rollout` is one more rollout of the same policy."""

    truth: LatLon
    rollouts: Sequence[Trajectory]
    lines: Sequence[str] = ()
    kind: str = ""
    clean: Sequence[Trajectory] = field(default=())
    clean_lines: Sequence[str] = field(default=())
    unasked: Sequence[Fact] = field(default=())
    extra_rollout: Trajectory | None = None


class Family(Protocol):
    """Makes one cast. In an `easy` one the right rollouts are not outnumbered, so that contrariness does not pay."""

    def __call__(self, atlas: Atlas, rng: random.Random, *, easy: bool) -> Cast:
        """Draw everything with `rng`: the same state of it gives the same cast."""
        ...
