"""The dependence (ρ) of the rollouts of a recorded run, as the verifier estimates it from shared statements: of two
rollouts of one model, and in a mixture also between models.

It describes a run. No radius and no vote uses it (ADR 0059).
"""

from __future__ import annotations

from collections.abc import Sequence

from tts.domain.trajectory import Trajectory
from tts.domain.value import Value
from tts.eval.runs.record import Record
from tts.verify.consensus.dependence import dependence_of
from tts.verify.evidence.ledger import RolloutLedger
from tts.verify.evidence.world import World
from tts.verify.verifiers.consensus import judge


class RunDependence(Value):
    """`rho` from 0 (no two rollouts share a statement) to 1: the mean over `photos`, those with rollouts to compare."""

    rho: float
    photos: int


def run_dependences(records: Sequence[Record], world: World) -> tuple[RunDependence | None, RunDependence | None]:
    """That of two rollouts of one model, and that of two rollouts of different models, as a mixture has them.

    None where no record has two such rollouts that rest on statements of tools.
    """
    runs = [record.run.trajectories for record in records if record.run is not None]
    found = [_dependences(trajectories, world) for trajectories in runs if len(trajectories) > 1]
    return _mean_dependence([one for one, _ in found]), _mean_dependence([between for _, between in found])


def _dependences(trajectories: Sequence[Trajectory], world: World) -> tuple[float | None, float | None]:
    sources = {one.rollout_id: one.source for one in trajectories}
    ledgers = judge(trajectories, (), world).ledgers

    def of_one_model(a: RolloutLedger, b: RolloutLedger) -> bool:
        return sources[a.rollout_id] == sources[b.rollout_id]

    return dependence_of(ledgers, of_one_model), dependence_of(ledgers, lambda a, b: not of_one_model(a, b))


def _mean_dependence(found: Sequence[float | None]) -> RunDependence | None:
    known = [rho for rho in found if rho is not None]
    return RunDependence(rho=round(sum(known) / len(known), 3), photos=len(known)) if known else None
