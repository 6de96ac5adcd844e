"""The state of a request whose gateway was lost: its events, and the checkpoints of its open rollouts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tts.domain.events import Escalated, Event
from tts.domain.plan import Plan
from tts.domain.trajectory import Run, fold
from tts.ports.rollout_groups import Checkpoint

TESTS_CLAIM = "the claim is tested"


@dataclass(frozen=True, slots=True)
class ResumedRequest:
    """`elapsed_s`: seconds from the start of the request to its last event. `files`: pictures that tools made."""

    run: Run
    elapsed_s: float = 0.0
    checkpoints: Mapping[int, Checkpoint] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)

    @classmethod
    def from_log(
        cls, events: Iterable[Event], checkpoints: Iterable[Checkpoint], files: Mapping[str, bytes]
    ) -> ResumedRequest:
        """From an ordered log. An open rollout gets its latest checkpoint of a turn that the log has as finished."""
        logged = tuple(events)
        run = fold(logged)
        in_order = sorted(checkpoints, key=lambda saved: saved.turn)
        usable = {saved.rollout_id: saved for saved in in_order if _is_usable(saved, run)}
        return cls(run, logged[-1].t_s if logged else 0.0, usable, files)

    @property
    def plan(self) -> Plan | None:
        """The plan that was followed last, by rollouts that were not told of a claim; None when none was made."""
        if self._escalations:
            return self._escalations[-1].plan
        return None if self.run.routed is None else self.run.routed.plan

    @property
    def tests(self) -> Escalated | None:
        """The rollouts that test a claim, which are the last; None when there are none."""
        return next((added for added in self.run.escalations if added.reason == TESTS_CLAIM), None)

    def n_planned(self, plan: Plan) -> int:
        """How many rollouts there are to be, escalations included and those left out that test a claim: at least those
        that were started.
        """
        first = plan.n_planned if self.run.routed is None else self.run.routed.plan.n_planned
        total = first + sum(escalation.added for escalation in self._escalations)
        return total if self.tests is not None else max(total, 1 + max(self.run.rollouts, default=-1))

    @property
    def _escalations(self) -> tuple[Escalated, ...]:
        return tuple(added for added in self.run.escalations if added.reason != TESTS_CLAIM)


def _is_usable(saved: Checkpoint, run: Run) -> bool:
    trajectory = run.rollouts.get(saved.rollout_id)
    if trajectory is None or trajectory.stop_reason is not None:
        return False
    return any(turn.index == saved.turn and turn.finished for turn in trajectory.turns)
