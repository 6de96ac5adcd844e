"""N samples of one policy with a known posterior: what N gains, what stopping loses, and whether radii hold, at each ρ.

The radii are fitted twice on other photos: with all ρ mixed, so that nothing tells the calibration which ρ it looks at,
and with one ρ only, as a calibration is that a user fits to runs of one engine (`own_calibration`, ADR 0061).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from geotts_benchmarks.harness import Result, print_progress
from tts.domain.geo import Floats, distance_km
from tts.domain.stop_experience import StopExperience
from tts.domain.stop_policy import StopPolicy
from tts.domain.trajectory import Trajectory
from tts.ensemble.consensus_watch import ConsensusWatch
from tts.eval.calibration_fitting import VerdictColumns, calibration_quality, verdict_columns
from tts.eval.labelled_cases import LabelledCase, thin_out_cases
from tts.eval.metrics.intervals import paired_difference, share_interval
from tts.eval.synthetic.atlas import Atlas
from tts.eval.synthetic.policies import RHOS, policy_cases
from tts.verify.consensus.calibration import Calibration
from tts.verify.consensus.radius_fitting import MIN_RUNS, fit
from tts.verify.evidence.world import World
from tts.verify.verifiers.consensus import judge

_N = 8
_TARGET_KM = 25.0
_STOP = "loss:1"
_SEED_OFFSET = 1_000_003  # added to the seed of the photos that radii are fitted on


def measure_policies(world: World, count: int, seed: int) -> Result:
    """Figures for each ρ over `count` photos; nothing for 0."""
    if not count:
        return {}
    atlas = Atlas(world.gazetteer, world.countries)
    there = {
        rho: verdict_columns(thin_out_cases(policy_cases(atlas, rho, count, _N, seed + _SEED_OFFSET)), world)
        for rho in RHOS
    }
    mixed = _fit_calibration(list(there.values()))
    found = {
        str(rho): _measure_at(rho, list(policy_cases(atlas, rho, count, _N, seed)), mixed, there[rho], world)
        for rho in RHOS
    }
    return {"policies": {"kind_of_n": "samples of one policy, with tools", "n": _N, "photos": count, "by_rho": found}}


def _fit_calibration(columns: Sequence[VerdictColumns]) -> Calibration:
    spreads = [spread for one in columns for spread in one.spreads]
    errors_km = np.concatenate([one.errors_km for one in columns])
    return fit(spreads, errors_km, origin="samples of scripted policies")


def _measure_at(
    rho: float, cases: Sequence[LabelledCase], mixed: Calibration, there: VerdictColumns, world: World
) -> Result:
    """`there` are verdicts on other photos with the same ρ."""
    here = verdict_columns(cases, world)
    experience = StopExperience()
    used = [_count_used(case.trajectories, experience) for case in cases]
    one, every, stopped = (
        _hits(cases, widths, world) for widths in ([1] * len(cases), [_N] * len(cases), used)
    )  # fmt: skip
    gain, loss = paired_difference(one, every), paired_difference(stopped, every)
    result: Result = {
        "rho_estimated": None if here.dependence is None else round(here.dependence, 3),
        **_radius_figures(mixed, here),
        "gain_of_n": [round(gain.value, 2), round(gain.low, 2), round(gain.high, 2)],
        "stopping_loss": [round(loss.value, 2), round(loss.low, 2), round(loss.high, 2)],
        "stopping_saved": round(100.0 * (1.0 - float(np.mean(used)) / _N), 1),
        "own_calibration": _compare_own_calibration(mixed, there, here),
    }
    print_progress(f"ρ = {rho}: {result}")
    return result


def _compare_own_calibration(mixed: Calibration, there: VerdictColumns, here: VerdictColumns) -> Result | None:
    """Figures of a calibration that was fitted to this ρ only, and the change of the Brier score against the mixed one;
    None where the photos are too few to fit it."""
    if len(there.spreads) < MIN_RUNS:
        return None
    own = _fit_calibration([there])
    change = paired_difference(_squared_errors(mixed, here), _squared_errors(own, here))
    return {
        **_radius_figures(own, here),
        "brier_change": [round(value, 4) for value in (change.value, change.low, change.high)],
    }


def _radius_figures(made: Calibration, here: VerdictColumns) -> Result:
    """How the 90 % radii hold, their mean, and the calibration error of the confidence."""
    held = calibration_quality(made, here.spreads, here.errors_km, target_km=_TARGET_KM)
    cover = share_interval(here.errors_km <= np.array([made.radius(spread).p90 for spread in here.spreads]))
    return {
        "cover90": round(held.cover90, 2),
        "cover90_interval": [round(cover.low, 2), round(cover.high, 2)],
        "radius90_mean_km": round(held.radius90_mean_km, 1),
        "ece": round(held.ece, 4),
    }


def _squared_errors(made: Calibration, here: VerdictColumns) -> Floats:
    """(n,) squared errors of the stated probability that the true place is within the target."""
    stated = np.array([made.probability_within(spread, _TARGET_KM) for spread in here.spreads])
    return np.asarray((stated - (here.errors_km < _TARGET_KM)) ** 2, dtype=np.float64)


def _hits(cases: Sequence[LabelledCase], widths: Sequence[int], world: World) -> Floats:
    """100 where the consensus over the first so many samples is within 25 km, else 0."""
    return np.array([_hit_percent(case, width, world) for case, width in zip(cases, widths, strict=True)])


def _hit_percent(case: LabelledCase, width: int, world: World) -> float:
    clusters = judge(case.trajectories[:width], (), world).clusters
    return 100.0 * bool(clusters and distance_km(clusters[0].centre, case.truth) < _TARGET_KM)


def _count_used(samples: Sequence[Trajectory], experience: StopExperience) -> int:
    """How many samples end, one after the other, before the stop policy is content; it learns from case to case."""
    watch = ConsensusWatch(StopPolicy.parse(_STOP), _TARGET_KM, experience=experience)
    for width in range(1, len(samples) + 1):
        if watch.look(samples[:width], len(samples)).decided:
            return width
    return len(samples)
