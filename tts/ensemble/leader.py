"""Decides how many rollouts may run: the first rollout leads, and its first turn decides about the others.

The leader's first turn says what a separate question to the model would cost: where it believes the photo is, by what
kind of cues, and whether it wants to search. A leader that names an explicit cue and a place at the wanted level is
checked by one sibling; only where that one agrees the others stay away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tts.aio import Deadline
from tts.decision_weights import weights
from tts.domain.geo import LatLon, distance_km
from tts.domain.request import LocateOptions
from tts.domain.stop_settings import WatchSettings
from tts.domain.trajectory import Run, Trajectory
from tts.ensemble.direction_order import most_distinct
from tts.ensemble.first_turn import LEADER, REGION_KM, SIBLING, UNTRUSTED, is_clear

Width = Literal["full", "careful"]
_DIRECTIONS_WAIT_SHARE = weights("watch")["directions_wait"]  # of the time of a request


@dataclass(frozen=True, slots=True)
class LeaderRule:
    """`prefix_wait_s`: how long siblings wait for the first token, when the engine has prompt and photo at hand;
    None: they do not. `directions_wait_s`: the same for the end of the first turn, in which the leader names what
    they are to look into."""

    width: Width
    radius_km: float
    prefix_wait_s: float | None = None
    directions_wait_s: float | None = None

    @classmethod
    def for_request(
        cls, options: LocateOptions, watch: WatchSettings, n: int, deadline: Deadline, width: Width = "full"
    ) -> LeaderRule:
        """The rule for a request of `n` rollouts."""
        asks = n > 1 and watch.asks_leader and bool(decide_first_calls(options, watch).diverse_first_calls)
        wait_s = _DIRECTIONS_WAIT_SHARE * deadline.remaining_s() if asks else None
        return cls(width, options.target_radius_km, watch.prefix_wait_s, wait_s)

    def waits_until(self, started: float, now: float) -> float | None:
        """When a wait of the siblings is over, on the clock of both; None when none is still to end."""
        waits = (self.directions_wait_s, self.prefix_wait_s)
        return min((started + s for s in waits if s is not None and started + s > now), default=None)

    def n_allowed(self, run: Run, total: int, *, waited_s: float = 0.0) -> int:
        """How many of `total` rollouts may have been started, `waited_s` after the leader. Never falls in a run."""
        leader = run.rollouts.get(LEADER)
        if leader is None:
            return 0
        first_turn_is_over = leader.stop_reason is not None or _has_finished_first_turn(leader)
        if self.directions_wait_s is not None and waited_s < self.directions_wait_s and not first_turn_is_over:
            return min(total, 1)
        if self.width == "full":
            patient = self.prefix_wait_s is not None and waited_s < self.prefix_wait_s
            waits = patient and not leader.turns and leader.stop_reason is None
            return min(total, 1) if waits else total
        if not first_turn_is_over:
            return min(total, 1)
        if not is_clear(leader, self.radius_km):
            return total
        return total if self._disagrees(leader, run.rollouts.get(SIBLING)) else min(total, 2)

    def _disagrees(self, leader: Trajectory, sibling: Trajectory | None) -> bool:
        """Whether the sibling that checks the leader disagrees with it. False while one of them may still change."""
        if sibling is None:
            return False
        ended = leader.stop_reason is not None and sibling.stop_reason is not None
        mine, other = _trusted_point(leader), _trusted_point(sibling)
        if sibling.stop_reason is not None and other is None:
            return True
        if mine is None or other is None:
            return ended
        return distance_km(mine, other) > min(self.radius_km, REGION_KM)


def decide_first_calls(options: LocateOptions, watch: WatchSettings) -> LocateOptions:
    """The options with `diverse_first_calls` of the service, where the request leaves it open."""
    if options.diverse_first_calls is not None:
        return options
    return options.model_copy(update={"diverse_first_calls": watch.diverse_first_calls})


def leading_point(run: Run) -> LatLon | None:
    """Where the earliest rollout that has a place says it is, in WGS-84; None before any has."""
    points = (_trusted_point(trajectory) for _, trajectory in sorted(run.rollouts.items()))
    return next((point for point in points if point is not None), None)


def named_directions(run: Run) -> tuple[str, ...]:
    """What the leader named for itself and its siblings, the most distinct first; empty if it named nothing."""
    leader = run.rollouts.get(LEADER)
    cues = leader.turns[0].cues if leader is not None and leader.turns else None
    return most_distinct(cues.directions) if cues is not None else ()


def _has_finished_first_turn(trajectory: Trajectory) -> bool:
    return bool(trajectory.turns) and trajectory.turns[0].finished


def _trusted_point(trajectory: Trajectory) -> LatLon | None:
    best = trajectory.best
    if best is None or best.point is None or trajectory.stop_reason in UNTRUSTED:
        return None
    return best.point
