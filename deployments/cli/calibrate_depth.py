"""`geotts calibrate-depth`: fits, on recorded runs, how locatable a photo is and whether it needs depth."""

from __future__ import annotations

from pathlib import Path

import click

from deployments.cli.console import STDERR
from tts.domain.geo import HALF_CIRCUMFERENCE_KM, distance_km
from tts.eval.runs.record import Record, read_records
from tts.rewards.geo_adapt import needs_depth, optimal_locatability, reasoning_locatability
from tts.routing.predictor import fit


@click.command()
@click.option("--direct", type=click.Path(path_type=Path, exists=True), required=True, help="Run without tools.")
@click.option("--deep", type=click.Path(path_type=Path, exists=True), required=True, help="Run with tools.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("depth.yaml"), show_default=True)
def command(direct: Path, deep: Path, out: Path) -> None:
    """Fit predictors of L_opt and of the deep label on two runs of the same photos, and write them to a small file.

    Name the file in the configuration: `routing.depth_calibration`. Without a visual rating L_opt builds on the score.
    """
    without = {record.sample: record for record in read_records(direct)}
    pairs = [(without[record.sample], record) for record in read_records(deep) if record.sample in without]
    parts, targets, labels = [], [], []
    for plain, searched in pairs:
        route = plain.answer.route if plain.answer else None
        if route is None or searched.answer is None:
            continue
        reason_km, retrieval_km = _error_km(plain), _error_km(searched)
        visual = route.locatability.parts.get("visual", route.locatability.score)
        parts.append(route.locatability.parts)
        targets.append(optimal_locatability(visual, reasoning_locatability(reason_km, retrieval_km)))
        labels.append(needs_depth(reason_km, retrieval_km))
    predictor = fit(parts, targets, labels, origin=f"{direct.name} and {deep.name}")
    predictor.write(out)
    STDERR.print(f"{out}: fitted on {predictor.runs} photos, {sum(labels)} of which needed depth")


def _error_km(record: Record) -> float:
    """An abstention is as far off as can be."""
    point = record.answer.point if record.answer is not None else None
    return HALF_CIRCUMFERENCE_KM if point is None else distance_km(point, record.truth.point)
