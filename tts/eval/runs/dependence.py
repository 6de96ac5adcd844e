"""The dependence (ρ) of the rollouts of a recorded run, as the verifier estimates it from shared statements: of two
rollouts of one model, and in a mixture also between models.

It describes a run. No radius and no vote uses it (ADR 0059). A calibration states the ρ of the runs that it was fitted
to, and its radii hold for engines with about this ρ (ADR 0061).
"""

from __future__ import annotations

from collections.abc import Sequence

from tts.domain.trajectory import Trajectory
from tts.domain.value import Value
from tts.eval.runs.record import Record
from tts.verify.consensus.dependence import dependence_of, of_one_model
from tts.verify.evidence.world import World
from tts.verify.verifiers.consensus import judge

_MAX_RHO_DIFFERENCE = (
    0.3  # at this difference, the 90 % radius holds 87 % or more on samples of a scripted policy (ADR 0061)
)
_MIN_PHOTOS = 10  # hand-set on 2026-11-29: the mean ρ of fewer photos is no reason for a warning


class RunDependence(Value):
    """`rho` from 0 (no two rollouts share a statement) to 1: the mean over `photos`, those with rollouts to compare."""

    rho: float
    photos: int


def run_dependences(records: Sequence[Record], world: World) -> tuple[RunDependence | None, RunDependence | None]:
    """That of two rollouts of one model, and that of two rollouts of different models, as a mixture has them.

    None where no record has two such rollouts that rest on statements of tools.
    """
    runs = [record.run.trajectories for record in records if record.run is not None]
    found = [_measure_dependence(trajectories, world) for trajectories in runs if len(trajectories) > 1]
    return _mean_dependence([one for one, _ in found]), _mean_dependence([between for _, between in found])


def note_on_calibration(run: RunDependence | None, fitted_rho: float | None) -> str | None:
    """A sentence where a run is much more or less dependent than the runs of a calibration; None where it is not, or
    where one of the two is not known from enough photos."""
    if (
        run is None
        or run.photos < _MIN_PHOTOS
        or fitted_rho is None
        or abs(run.rho - fitted_rho) <= _MAX_RHO_DIFFERENCE + 1e-9
    ):
        return None
    size = "small" if run.rho > fitted_rho else "large"
    return (
        f"The configured calibration was fitted to rollouts with ρ = {fitted_rho:.2f}: its radii may be too {size} for "
        "rollouts such as these. Fit a calibration to their engine with `geotts calibrate` or `geotts accept`."
    )


def _measure_dependence(trajectories: Sequence[Trajectory], world: World) -> tuple[float | None, float | None]:
    ledgers, are_one_model = judge(trajectories, (), world).ledgers, of_one_model(trajectories)
    return dependence_of(ledgers, are_one_model), dependence_of(ledgers, lambda a, b: not are_one_model(a, b))


def _mean_dependence(found: Sequence[float | None]) -> RunDependence | None:
    known = [rho for rho in found if rho is not None]
    return RunDependence(rho=round(sum(known) / len(known), 3), photos=len(known)) if known else None
