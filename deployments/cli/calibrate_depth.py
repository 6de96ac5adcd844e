"""`geotts calibrate-depth`: fits, on recorded runs, how locatable a photo is and whether it needs depth."""

from __future__ import annotations

from pathlib import Path

import click

from deployments.cli.console import STDERR
from tts.domain.geo import HALF_CIRCUMFERENCE_KM, distance_km
from tts.domain.plan import Locatability
from tts.errors import DataError
from tts.eval.runs.record import Record, read_records
from tts.rewards.papers.geo_adapt_reward import needs_depth, optimal_locatability, reasoning_locatability
from tts.routing.predictor import fit


@click.command()
@click.option(
    "--reason",
    "--direct",
    "reason",
    type=click.Path(path_type=Path, exists=True),
    required=True,
    help="Run without tools, such as one with --depth direct. Its errors are d_reason.",
)
@click.option(
    "--rag",
    "--deep",
    "rag",
    type=click.Path(path_type=Path, exists=True),
    required=True,
    help="Run with tools, such as one with --depth deep or of another system. Its errors are d_RAG.",
)
@click.option("--out", type=click.Path(path_type=Path), default=Path("depth.yaml"), show_default=True,
              help="File to write.")  # fmt: skip
def command(reason: Path, rag: Path, out: Path) -> None:
    """Fit the choice of depth to two runs of the same photos: how easily photos are located, and which need depth.

    Name the file that is written in the configuration: `routing.depth_calibration`. At least one of the runs must have
    rated its photos. docs/routing.md explains the quantities (d_reason, d_RAG, L_opt).
    """
    without = {record.sample: record for record in read_records(reason) if not record.failure}
    searches = [record for record in read_records(rag) if not record.failure]
    pairs = [(without[record.sample], record) for record in searches if record.sample in without]
    if not pairs:
        raise DataError("the runs share no photo with an answer: record both on the same data set with the same --seed")
    parts, targets, labels = [], [], []
    for plain, searched in pairs:
        rated = _joined_rating(plain, searched)
        if rated is None:
            continue
        reason_km, retrieval_km = _error_km(plain), _error_km(searched)
        visual = rated.parts.get("visual", rated.score)
        parts.append(rated.parts)
        targets.append(optimal_locatability(visual, reasoning_locatability(reason_km, retrieval_km)))
        labels.append(needs_depth(reason_km, retrieval_km))
    if not parts:
        raise DataError(f"none of the {len(pairs)} photos was rated: record one run with routing.method=cues")
    predictor = fit(parts, targets, labels, origin=f"{reason.name} and {rag.name}")
    predictor.write(out)
    STDERR.print(f"{out}: fitted on {predictor.runs} photos, {sum(labels)} of which needed depth")


def _joined_rating(*records: Record) -> Locatability | None:
    """The ratings of one photo as one; None where it was not rated. The first run's numbers win."""
    routes = [record.answer.route for record in records if record.answer is not None]
    ratings = [route.locatability for route in routes if route is not None and route.locatability.parts]
    if not ratings:
        return None
    return ratings[0].model_copy(update={"parts": {**ratings[-1].parts, **ratings[0].parts}})


def _error_km(record: Record) -> float:
    """An abstention is as far off as can be."""
    point = record.answer.point if record.answer is not None else None
    return HALF_CIRCUMFERENCE_KM if point is None else distance_km(point, record.truth.point)
