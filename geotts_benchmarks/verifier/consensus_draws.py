"""What answers drawn again from the same conversation are worth: samples of one scripted policy, with and without them.

A calibration belongs to an engine, so it is fitted to other photos of the same policy, once with the draws and once
without. The stated probability should then be better where draws differ (ρ below 1), and the radii no worse where they
cannot (ρ = 1).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from geotts_benchmarks.harness import Result, print_progress
from tts.domain.geo import Floats
from tts.eval.calibration_fitting import verdict_columns
from tts.eval.labelled_cases import LabelledCase, thin_out_cases
from tts.eval.metrics.intervals import Interval, paired_difference, share_interval
from tts.eval.synthetic.atlas import Atlas
from tts.eval.synthetic.policies import RHOS, policy_cases
from tts.verify.consensus.radius_fitting import fit
from tts.verify.evidence.world import World

_N = 2
_DRAWS = 3
_TARGET_KM = 25.0
_FIT_FACTOR = 4  # times as many photos
_SEED_OFFSET = 1_000_003  # added to the seed of the photos that the calibration is fitted on


def measure_answer_draws(world: World, count: int, seed: int) -> Result:
    """Brier scores, and 90 % radii, with and without draws at each ρ over `count` photos; nothing for 0."""
    if not count:
        return {}
    atlas = Atlas(world.gazetteer, world.countries)
    found = {str(rho): _measure_at(atlas, rho, count, seed, world) for rho in (*RHOS, 1.0)}
    about = {"kind_of_n": "samples of one policy, with tools", "n": _N, "draws": _DRAWS, "photos": count}
    return {"answer_draws": {**about, "by_rho": found}}


def _measure_at(atlas: Atlas, rho: float, count: int, seed: int, world: World) -> Result:
    there = list(policy_cases(atlas, rho, _FIT_FACTOR * count, _N, seed + _SEED_OFFSET, _DRAWS))
    here = list(policy_cases(atlas, rho, count, _N, seed, _DRAWS))
    brier, radius, held, right = zip(
        *(_measure_cases(fitted_on, measured_on, world) for fitted_on, measured_on in (
            (_without_draws(there), _without_draws(here)), (there, here)
        )), strict=True
    )  # fmt: skip
    cover = [share_interval(row) for row in held]
    result: Result = {
        "acc25_change": _round_interval(paired_difference(*(100.0 * row for row in right)), 2),
        "brier": [round(float(row.mean()), 4) for row in brier],
        "brier_change": _round_interval(paired_difference(*brier), 4),
        "radius90_km": [round(float(row.mean())) for row in radius],
        "radius90_change_km": _round_interval(paired_difference(*radius), 0),
        "cover90": [round(share.value, 2) for share in cover],
        "cover90_change": _round_interval(paired_difference(*(100.0 * row for row in held)), 2),
    }
    print_progress(f"draws at ρ = {rho}: {result}")
    return result


def _measure_cases(there: list[LabelledCase], here: list[LabelledCase], world: World) -> tuple[Floats, ...]:
    """(n,) on the photos here: squared errors of the stated probability, 90 % radii in km, whether they hold (0 or 1),
    whether the answer is within 25 km.
    """
    known = verdict_columns(thin_out_cases(there), world)
    made = fit(known.spreads, known.errors_km, origin="samples of a scripted policy")
    found = verdict_columns(here, world)
    stated = np.array([made.probability_within(spread, _TARGET_KM) for spread in found.spreads])
    radii = np.array([made.radius(spread).p90 for spread in found.spreads])
    held = (found.errors_km <= radii).astype(np.float64)
    right = (found.errors_km < _TARGET_KM).astype(np.float64)
    return (stated - right) ** 2, radii, held, right


def _without_draws(cases: list[LabelledCase]) -> list[LabelledCase]:
    return [
        replace(case, trajectories=tuple(run.model_copy(update={"answer_draws": ()}) for run in case.trajectories))
        for case in cases
    ]


def _round_interval(interval: Interval, digits: int) -> list[float]:
    return [round(value, digits) for value in (interval.value, interval.low, interval.high)]
