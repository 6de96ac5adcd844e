"""`geotts calibrate`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import orjson

from deployments.cli.console import STDERR, config_option
from deployments.cli.shared_options import EXISTING_FILE
from deployments.cli.text_console import styled_text
from deployments.config import AppArgs
from deployments.wiring.parts import make_world
from tts.eval.calibration_fitting import held_out_quality, made_up_cases, mean_of, verdict_columns, with_regions
from tts.eval.labelled_cases import cases_of, fitted_kind_of_cases, kind_of_cases, thin_out_cases
from tts.eval.metrics.accuracy import PAPER_KM
from tts.eval.source_reliability import AccuracyBySources, accuracy_by_sources, reliability_from
from tts.verify.consensus.calibration import Calibration, load
from tts.verify.consensus.radius_fitting import MIN_RUNS, fit
from tts.verify.consensus.region_fitting import MIN_CASES


@click.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), default="calibration.yaml", show_default=True, help="File to write."
)
@click.option("--origin", help="What the runs are, in one line; it is kept in the file.")
@click.option(
    "--splits", type=click.IntRange(0, 1000), default=20, show_default=True, help="Random halves to check it on."
)
@click.option("--made-up", type=click.IntRange(0, 1000), default=0, help="Synthetic cases to add for each family.")
@click.option("--regions-of", type=EXISTING_FILE, help="Calibration to copy. Only its regions are fitted anew.")
@click.option("--stated", is_flag=True, help="Order answers by the radius that the engine states, not by agreement.")
@click.option(
    "--sources",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write the reliability of each engine to this file (for `verifier.sources`), and fit the radii to "
    "verdicts with it.",
)
@click.option(
    "--agreement",
    is_flag=True,
    help="For --sources: compute the reliability from agreement only, as if the true places were not known.",
)
@config_option
def command(
    args: AppArgs,
    runs: tuple[Path, ...],
    out: Path,
    origin: str | None,
    splits: int,
    made_up: int,
    regions_of: Path | None,
    stated: bool,
    sources: Path | None,
    agreement: bool,
) -> None:
    """Fit radii, regions and confidence to recorded RUNS: run files (JSON Lines or Parquet), or folders of published
    logs.

    Name the file in the configuration (`verifier.calibration`). To ship it with GeoTTS, store it as
    tts/data/calibration/ENGINE.yaml. Runs without tools cannot show what grounding is worth: --made-up adds synthetic
    cases for this. The last line of stdout is one JSON object: how well calibrations that were fitted to random halves
    of the runs hold on the other halves. With --sources, it also has the accuracy (`by_sources`) with named sources
    (reliability from the true places of the other half), with reliability from agreement, and with the same weight for
    each.
    """
    world = make_world(args.data_dir)
    every = [case for source in runs for case in cases_of(source)]
    kind = kind_of_cases(every)
    STDERR.print(f"kind of N: {kind}", soft_wrap=True, markup=False)
    reliability = by_sources = None
    if sources is not None:
        reliability = reliability_from(every, labels=not agreement)
        sources.write_bytes(reliability.json_bytes() + b"\n")
        STDERR.print(f"{sources}: from {len(every)} photos", soft_wrap=True)
        by_sources = accuracy_by_sources(every, world)
        for line in _accuracy_lines(by_sources):
            STDERR.print(line, soft_wrap=True)
    cases = thin_out_cases(every)
    columns = verdict_columns([*cases, *(made_up_cases(made_up, world) if made_up else ())], world, reliability)
    origin = origin or ", ".join(path.stem for path in runs)
    if regions_of is not None:
        only_regions = with_regions(load(regions_of), columns, origin=origin)
        only_regions.write(out)
        STDERR.print(f"{out}: {_regions_text(only_regions)}", soft_wrap=True)
        return
    calibration = with_regions(fit(columns.spreads, columns.errors_km.tolist(), origin=origin, stated=stated), columns)
    how = _command_text(runs, made_up=made_up, stated=stated, sources=sources, agreement=agreement)
    about = {
        "command": how,
        "fitted_on": datetime.now(UTC).date(),
        "kind_of_n": fitted_kind_of_cases(every),
        "dependence": columns.dependence,
    }
    calibration.model_copy(update=about).write(out)
    STDERR.print(f"{out}: from {calibration.runs} runs with an answer; {_regions_text(calibration)}", soft_wrap=True)
    if columns.dependence is not None:
        STDERR.print(f"dependence of rollouts of one model: ρ = {columns.dependence:.2f}", soft_wrap=True)
    summary: dict[str, Any] = {} if by_sources is None else {"by_sources": by_sources.model_dump()}
    if splits and len(columns.spreads) < 2 * MIN_RUNS:
        few = f"{calibration.runs} runs are too few to check the file on half of them: it is not checked"
        STDERR.print(styled_text((few, "yellow")))
    elif splits:
        found = mean_of([held_out_quality(columns, seed=seed, stated=stated) for seed in range(splits)])
        summary = {"kind_of_n": kind, "runs": calibration.runs, "splits": splits, **found.model_dump(), **summary}
    if summary:
        click.echo(orjson.dumps(summary).decode())


def _accuracy_lines(found: AccuracyBySources) -> list[str]:
    """A line for each of the three ways to weigh sources."""
    ways = {
        "named sources, reliability from the true places of the other half": found.named,
        "named sources, reliability from agreement": found.agreement,
        "the same weight for each source": found.equal,
    }
    thresholds = ", ".join(f"{km:g}" for km in PAPER_KM)
    head = f"percent of {found.photos} photos within {thresholds} km:"
    return [head, *(f"  {way}: {', '.join(f'{share:.1f}' for share in shares)}" for way, shares in ways.items())]


def _command_text(
    runs: Sequence[Path], *, made_up: int, stated: bool, sources: Path | None = None, agreement: bool = False
) -> str:
    options = [*([f"--made-up {made_up}"] if made_up else []), *(["--stated"] if stated else [])]
    options += [] if sources is None else [f"--sources {sources.name}", *(["--agreement"] if agreement else [])]
    return " ".join(["geotts calibrate", *(path.name for path in runs), *options])


def _regions_text(made: Calibration) -> str:
    if made.regions is None:
        return f"no regions: fewer than {MIN_CASES} runs with several peaks, or none smaller than circles"
    return f"regions from {made.regions.cases} runs with several peaks"
