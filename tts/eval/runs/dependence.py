"""The dependence (ρ) of the rollouts of a recorded run, as the verifier estimates it from shared statements.

It describes a run. No radius and no vote uses it (ADR 0059).
"""

from __future__ import annotations

from collections.abc import Sequence

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
    """The mean over the records; None if no record has two rollouts that rest on statements of tools."""
    runs = [record.run.trajectories for record in records if record.run is not None]
    found = [dependence_of(judge(trajectories, (), world).ledgers) for trajectories in runs if len(trajectories) > 1]
    known = [rho for rho in found if rho is not None]
    return RunDependence(rho=round(sum(known) / len(known), 3), photos=len(known)) if known else None
