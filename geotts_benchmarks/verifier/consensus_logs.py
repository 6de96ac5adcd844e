"""The consensus on published logs, anonymous and with named sources, against the plain medoid and the best source.

Every figure is that of a mixture of models without tools (samples of one policy: `consensus_policies`). Differences are
paired over photos, with 95 % bootstrap intervals. Calibration and reliability come from photos that are not measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from geotts_benchmarks.harness import Result
from tts.domain.geo import Floats, LatLon, distance_km
from tts.eval.answer_parsers import ParserName
from tts.eval.calibration_fitting import (
    VerdictColumns,
    calibration_quality,
    known_areas,
    part_of,
    verdict_columns,
    with_regions,
)
from tts.eval.labelled_cases import LabelledCase, cases_of_panels, thin_out_cases
from tts.eval.metrics.accuracy import PAPER_KM, accuracy_percent, hits
from tts.eval.metrics.intervals import paired_difference, share_interval
from tts.eval.metrics.medoid import medoid_of
from tts.eval.metrics.regions import KnownArea, region_figures
from tts.eval.panel import Panel, panels_from_logs
from tts.eval.source_reliability import consensus_errors_km, errors_by_other_half, reliability_from
from tts.verify.consensus.radius_fitting import fit
from tts.verify.evidence.world import World

_N_SHUFFLES = 5  # shuffles of the medoid's ties


@dataclass(frozen=True, slots=True)
class LogSet:
    """Panels of one folder with the errors in km of each source, (n photos, m sources)."""

    names: list[str]
    panels: list[Panel]
    single: Floats

    @classmethod
    def read(cls, folder: Path, parser: ParserName, seed: int) -> LogSet:
        """Raises DataError when the folder holds no two logs of the same photos."""
        names, panels = panels_from_logs(folder, parser=parser, seed=seed)
        single = [errors_km([panel.guesses[i] for panel in panels], panels) for i in range(len(names))]
        return cls(names, panels, np.stack(single, axis=1))

    def verdict_columns(self, world: World) -> VerdictColumns:
        """Verdicts of all photos."""
        return verdict_columns(self._cases(), world)

    def thinned_verdict_columns(self, world: World) -> VerdictColumns:
        """Verdicts to calibrate on: one photo in four with only some of its rollouts."""
        return verdict_columns(thin_out_cases(self._cases()), world)

    def named_cases(self) -> list[LabelledCase]:
        """All photos; each rollout names its source."""
        return cases_of_panels(self.names, self.panels)

    def _cases(self) -> list[LabelledCase]:
        return [LabelledCase(panel.key, panel.truth, panel.trajectories) for panel in self.panels]


def compare_reliabilities(log_set: LogSet, world: World) -> Result:
    """Anonymous consensus, medoid, and both kinds of reliability, each with its differences."""
    cases = log_set.named_cases()
    anonymous = consensus_errors_km(cases, world, None)
    best = log_set.single[:, int(np.argmax([accuracy_percent(row)[-1] for row in log_set.single.T]))]
    labelled = errors_by_other_half(cases, world)
    agreed = consensus_errors_km(cases, world, reliability_from(cases, labels=False))
    return {
        "medoid": np.round(_medoid_hits(log_set).mean(axis=0), 2).tolist(),
        "minus_medoid": minus_medoid(log_set, anonymous),
        "named_labels": [round(share, 2) for share in accuracy_percent(labelled)],
        "named_labels_minus_best_single": _differences(_best_hits(log_set.single), _hits(labelled)),
        "named_agreement": [round(share, 2) for share in accuracy_percent(agreed)],
        "named_agreement_minus_best_source": _differences(_hits(best), _hits(agreed)),
    }


def minus_medoid(log_set: LogSet, errors_km: Floats) -> list[list[float]]:
    """[difference, low, high] in points at each threshold, of (n,) errors in km of the same photos."""
    return _differences(_medoid_hits(log_set), _hits(errors_km))


def cover_elsewhere(log_set: LogSet, other: LogSet, world: World) -> Result:
    """How radii that were fitted on another set hold here; Wilson 95 % interval of the cover."""
    there, here = other.thinned_verdict_columns(world), log_set.verdict_columns(world)
    made = with_regions(fit(there.spreads, there.errors_km, origin="another set of logs"), there)
    held = calibration_quality(made, here.spreads, here.errors_km, target_km=25.0)
    radii = np.array([made.radius(spread).p90 for spread in here.spreads])
    interval = share_interval(here.errors_km <= radii)
    return {
        "cover90": round(held.cover90, 2),
        "cover90_interval": [round(interval.low, 2), round(interval.high, 2)],
        "radius90_mean_km": round(held.radius90_mean_km, 1),
        "ece": round(held.ece, 4),
        "regions": region_figures(known_areas(made, here)).model_dump(),
    }


def regions_in_halves(log_set: LogSet, world: World) -> Result:
    """How regions hold that were fitted to the half of the photos that each photo is not in."""
    whole = log_set.verdict_columns(world)
    half = np.random.default_rng(0).permutation(len(whole.spreads)) % 2
    areas: list[KnownArea] = []
    for side in (0, 1):
        there, here = part_of(whole, np.flatnonzero(half != side)), part_of(whole, np.flatnonzero(half == side))
        made = with_regions(fit(there.spreads, there.errors_km, origin="the other half"), there)
        areas += known_areas(made, here)
    return region_figures(areas).model_dump()


def errors_km(points: Sequence[LatLon | None], panels: Sequence[Panel]) -> Floats:
    """(n,) errors in km, NaN for no point."""
    pairs = zip(points, panels, strict=True)
    return np.array([np.nan if p is None else distance_km(p, panel.truth) for p, panel in pairs], dtype=np.float64)


def _medoid_hits(log_set: LogSet) -> Floats:
    """(n, thresholds) hits of the medoid, the mean over orders of the sources."""
    found: Floats = np.mean([_hits(_medoid_errors_km(log_set.panels, order)) for order in range(_N_SHUFFLES)], axis=0)
    return found


def _medoid_errors_km(panels: Sequence[Panel], order: int) -> Floats:
    points: list[LatLon | None] = []
    for panel in panels:
        turned = np.random.default_rng([order, len(points)]).permutation(len(panel.guesses))
        points.append(medoid_of([panel.guesses[i] for i in turned]))
    return errors_km(points, panels)


def _hits(errors: Floats) -> Floats:
    """(n, thresholds) 100 for a hit, 0 for a miss."""
    return np.stack([100.0 * hits(errors, km) for km in PAPER_KM], axis=1)


def _best_hits(single: Floats) -> Floats:
    """(n, thresholds) hits of the source that is best at each threshold."""
    by_source = np.stack([_hits(row) for row in single.T])
    best = by_source.mean(axis=1).argmax(axis=0)
    return np.stack([by_source[source, :, at] for at, source in enumerate(best)], axis=1)


def _differences(before: Floats, after: Floats) -> list[list[float]]:
    """[difference, low, high] in points at each threshold."""
    rows = [paired_difference(a, b) for a, b in zip(before.T, after.T, strict=True)]
    return [[round(row.value, 2), round(row.low, 2), round(row.high, 2)] for row in rows]
