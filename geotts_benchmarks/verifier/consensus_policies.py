"""N samples of one policy with a known posterior: what N gains, what stopping loses, and whether radii hold, at each ρ.

The radii are fitted on other photos, with all ρ mixed, so that nothing tells the calibration which ρ it looks at.
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
from tts.eval.calibration_fitting import calibration_quality, verdict_columns
from tts.eval.labelled_cases import LabelledCase, thin_out_cases
from tts.eval.metrics.intervals import paired_difference, share_interval
from tts.eval.synthetic.atlas import Atlas
from tts.eval.synthetic.policies import RHOS, policy_cases
from tts.verify.consensus.calibration import Calibration
from tts.verify.consensus.dependence import dependence_of
from tts.verify.consensus.radius_fitting import fit
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
    there = [case for rho in RHOS for case in policy_cases(atlas, rho, count, _N, seed + _SEED_OFFSET)]
    known = verdict_columns(thin_out_cases(there), world)
    made = fit(known.spreads, known.errors_km, origin="samples of scripted policies")
    found = {str(rho): _measure_at(rho, list(policy_cases(atlas, rho, count, _N, seed)), made, world) for rho in RHOS}
    return {"policies": {"kind_of_n": "samples of one policy, with tools", "n": _N, "photos": count, "by_rho": found}}


def _measure_at(rho: float, cases: Sequence[LabelledCase], made: Calibration, world: World) -> Result:
    here = verdict_columns(cases, world)
    held = calibration_quality(made, here.spreads, here.errors_km, target_km=_TARGET_KM)
    radii = np.array([made.radius(spread).p90 for spread in here.spreads])
    cover = share_interval(here.errors_km <= radii)
    seen = [dependence_of(judge(case.trajectories, (), world).ledgers) for case in cases]
    experience = StopExperience()
    used = [_count_used(case.trajectories, experience) for case in cases]
    one, every, stopped = (
        _hits(cases, widths, world) for widths in ([1] * len(cases), [_N] * len(cases), used)
    )  # fmt: skip
    gain, loss = paired_difference(one, every), paired_difference(stopped, every)
    result: Result = {
        "rho_estimated": round(float(np.mean([rho for rho in seen if rho is not None])), 3),
        "cover90": round(held.cover90, 2),
        "cover90_interval": [round(cover.low, 2), round(cover.high, 2)],
        "gain_of_n": [round(gain.value, 2), round(gain.low, 2), round(gain.high, 2)],
        "stopping_loss": [round(loss.value, 2), round(loss.low, 2), round(loss.high, 2)],
        "stopping_saved": round(100.0 * (1.0 - float(np.mean(used)) / _N), 1),
    }
    print_progress(f"ρ = {rho}: {result}")
    return result


def _hits(cases: Sequence[LabelledCase], widths: Sequence[int], world: World) -> Floats:
    """100 where the consensus over the first so many samples is within 25 km, else 0."""
    return np.array([_hit(case, width, world) for case, width in zip(cases, widths, strict=True)])


def _hit(case: LabelledCase, width: int, world: World) -> float:
    clusters = judge(case.trajectories[:width], (), world).clusters
    return 100.0 * bool(clusters and distance_km(clusters[0].centre, case.truth) < _TARGET_KM)


def _count_used(samples: Sequence[Trajectory], experience: StopExperience) -> int:
    """How many samples end, one after the other, before the stop policy is content; it learns from case to case."""
    watch = ConsensusWatch(StopPolicy.parse(_STOP), _TARGET_KM, experience=experience)
    for width in range(1, len(samples) + 1):
        if watch.look(samples[:width], len(samples)).decided:
            return width
    return len(samples)
