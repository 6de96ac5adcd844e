"""Makes calibrations from recorded runs, and tests them on other runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tts.clues.belief import Belief
from tts.domain.answer import CONTINENT_KM
from tts.domain.geo import Floats, LatLon, distance_km
from tts.domain.value import Value
from tts.eval.labelled_cases import LabelledCase, thin_out_cases
from tts.eval.metrics.calibration_error import brier_skill, cover_percent, expected_calibration_error
from tts.eval.metrics.regions import KnownArea
from tts.eval.synthetic.families import DEVELOPMENT, generate
from tts.verify.consensus.answer_regions import regions_of
from tts.verify.consensus.calibration import Calibration
from tts.verify.consensus.clusters import Cluster
from tts.verify.consensus.dependence import dependence_of, of_one_model
from tts.verify.consensus.peaks import peaks_of
from tts.verify.consensus.radius_fitting import fit
from tts.verify.consensus.region_fitting import RegionCase, fit_regions
from tts.verify.consensus.reliability import Reliability
from tts.verify.consensus.spread_features import Spread
from tts.verify.evidence.world import World
from tts.verify.verifiers.consensus import judge, trust_in


@dataclass(frozen=True, slots=True)
class VerdictColumns:
    """Verdicts of cases as columns of one length; cases without any point are left out. `beliefs` are what regions are
    made of. `dependences` has ρ of two rollouts of one model; None where no two of them rest on statements."""

    spreads: tuple[Spread, ...]
    errors_km: Floats
    beliefs: tuple[KnownBelief, ...]
    dependences: tuple[float | None, ...]

    @property
    def dependence(self) -> float | None:
        """Mean ρ over the cases that have one; None where none has."""
        known = [rho for rho in self.dependences if rho is not None]
        return sum(known) / len(known) if known else None


@dataclass(frozen=True, slots=True)
class KnownBelief:
    """What regions are made of, and the true place."""

    clusters: tuple[Cluster, ...]
    lines: Belief | None
    truth: LatLon

    def region_case(self, p90_km: float) -> RegionCase:
        """Its peaks, where the 90 % radius is this one."""
        return RegionCase(tuple(peaks_of(self.clusters, self.lines, p90_km)), p90_km, self.truth)


class CalibrationQuality(Value):
    """How a calibration did on runs it was not made from.

    `radius_saved` is the share by which the mean 90 % radius lies below the one constant radius that covers as many.
    """

    cover90: float
    cover50: float
    ece: float
    brier_skill: float
    radius_saved: float
    radius90_mean_km: float


def made_up_cases(count: int, world: World, *, seed: int = 1) -> list[LabelledCase]:
    """Synthetic cases, `count` a development family, each with a random part of its rollouts.

    They tell a calibration what grounding is worth where recorded runs have no tools. Parts of scenarios are used,
    because whole ones are made so that the truth can be found.
    """
    scenarios = [
        scenario
        for family in DEVELOPMENT
        for scenario in generate(family, count, seed, world.gazetteer, world.countries)
    ]
    return thin_out_cases(
        (LabelledCase(s.key, s.truth, s.trajectories, s.readings) for s in scenarios), one_in=1, seed=seed
    )


def verdict_columns(
    cases: Iterable[LabelledCase], world: World, reliability: Reliability | None = None
) -> VerdictColumns:
    """Verdicts and their errors in km. Without `reliability` all sources count the same."""
    spreads, errors, beliefs, dependences = [], [], [], []
    for case in cases:
        verdict = judge(case.trajectories, case.readings, world, trust=trust_in(case.trajectories, reliability))
        if verdict.spread is not None:
            spreads.append(verdict.spread)
            errors.append(distance_km(verdict.clusters[0].centre, case.truth))
            beliefs.append(KnownBelief(verdict.clusters, verdict.lines, case.truth))
            dependences.append(dependence_of(verdict.ledgers, of_one_model(case.trajectories)))
    return VerdictColumns(tuple(spreads), np.array(errors, dtype=np.float64), tuple(beliefs), tuple(dependences))


def held_out_quality(
    columns: VerdictColumns, *, seed: int, target_km: float = 25.0, stated: bool = False
) -> CalibrationQuality:
    """Calibrate on a random half, measure on the other."""
    order = np.random.default_rng(seed).permutation(len(columns.spreads))
    half = len(order) // 2
    known, asked = part_of(columns, order[:half]), part_of(columns, order[half:])
    made = fit(known.spreads, known.errors_km, origin=f"split {seed}", stated=stated)
    return calibration_quality(made, asked.spreads, asked.errors_km, target_km=target_km)


def calibration_quality(
    calibration: Calibration, spreads: Sequence[Spread], errors_km: Floats, *, target_km: float
) -> CalibrationQuality:
    """What a calibration promises for verdicts, against what became of them."""
    radii = [calibration.radius(spread) for spread in spreads]
    p50, p90 = np.array([radius.p50 for radius in radii]), np.array([radius.p90 for radius in radii])
    confidence = np.array([calibration.probability_within(spread, target_km) for spread in spreads])
    right = np.asarray(errors_km < target_km)
    cover = cover_percent(errors_km, p90) or 0.0
    constant = float(np.quantile(errors_km, cover / 100.0, method="higher"))
    return CalibrationQuality(
        cover90=cover,
        cover50=cover_percent(errors_km, p50) or 0.0,
        ece=expected_calibration_error(confidence, right) or 0.0,
        brier_skill=brier_skill(confidence, right) or 0.0,
        radius_saved=1.0 - float(p90.mean()) / constant,
        radius90_mean_km=float(p90.mean()),
    )


def mean_of(rows: Sequence[CalibrationQuality]) -> CalibrationQuality:
    """Figures averaged over splits."""
    return CalibrationQuality(
        **{name: float(np.mean([getattr(row, name) for row in rows])) for name in CalibrationQuality.model_fields}
    )


def with_regions(calibration: Calibration, runs: VerdictColumns, *, origin: str = "") -> Calibration:
    """The calibration with the rule for regions that fits these verdicts; with none where few have several peaks."""
    rule = fit_regions(region_cases(calibration, runs), origin=origin or calibration.origin)
    return calibration.model_copy(update={"regions": rule})


def region_cases(calibration: Calibration, runs: VerdictColumns) -> list[RegionCase]:
    """The peaks of verdicts under a calibration, with their true places; without abstentions."""
    radii = [calibration.radius(spread) for spread in runs.spreads]
    pairs = zip(runs.beliefs, radii, strict=True)
    return [belief.region_case(radius.p90) for belief, radius in pairs if radius.p50 <= CONTINENT_KM]


def known_areas(calibration: Calibration, runs: VerdictColumns) -> list[KnownArea]:
    """The regions or circles of verdicts under a calibration, with their true places; without abstentions."""
    found = []
    for belief, spread in zip(runs.beliefs, runs.spreads, strict=True):
        radius = calibration.radius(spread)
        if radius.p50 <= CONTINENT_KM:
            case = belief.region_case(radius.p90)
            regions = regions_of(case.peaks, radius.p90, calibration.regions)
            narrow, wide = (None, None) if regions is None else (regions.region_50, regions.region_90)
            found.append(KnownArea(case.peaks[0].point, radius, narrow, wide, belief.truth))
    return found


def part_of(whole: VerdictColumns, index: np.ndarray) -> VerdictColumns:
    """Some of the verdicts."""
    at = [int(i) for i in index]
    return VerdictColumns(
        tuple(whole.spreads[i] for i in at),
        whole.errors_km[index],
        tuple(whole.beliefs[i] for i in at),
        tuple(whole.dependences[i] for i in at),
    )
