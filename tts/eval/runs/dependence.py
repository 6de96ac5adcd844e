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
from tts.verify.evidence.world import World
from tts.verify.verifiers.consensus import judge


class RunDependence(Value):
    """`rho` from 0 (no two rollouts share a statement) to 1: the mean over `photos`, those with rollouts to compare."""

    rho: float
    photos: int


def run_dependence(records: Sequence[Record], world: World) -> RunDependence | None:
    """That of two rollouts of one model; None if no record has two that rest on statements of tools."""
    return _mean_over(records, world, of_one_model=True)


def dependence_between_models(records: Sequence[Record], world: World) -> RunDependence | None:
    """That of two rollouts of different models, as a mixture has them; None if no record has two to compare."""
    return _mean_over(records, world, of_one_model=False)


def _mean_over(records: Sequence[Record], world: World, *, of_one_model: bool) -> RunDependence | None:
    runs = [record.run.trajectories for record in records if record.run is not None]
    found = [_of(trajectories, world, of_one_model=of_one_model) for trajectories in runs if len(trajectories) > 1]
    known = [rho for rho in found if rho is not None]
    return RunDependence(rho=round(sum(known) / len(known), 3), photos=len(known)) if known else None


def _of(trajectories: Sequence[Trajectory], world: World, *, of_one_model: bool) -> float | None:
    sources = {one.rollout_id: one.source for one in trajectories}
    if not of_one_model and len(set(sources.values())) == 1:
        return None
    return dependence_of(
        judge(trajectories, (), world).ledgers,
        lambda a, b: (sources[a.rollout_id] == sources[b.rollout_id]) == of_one_model,
    )
