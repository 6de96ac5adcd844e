"""`geotts calibrate-stop`: fits, on recorded runs, what stopping rollouts early loses."""

from __future__ import annotations

from pathlib import Path

import click

from deployments.cli.console import STDERR, config_option
from deployments.config import AppArgs
from deployments.wiring.parts import make_world
from tts.ensemble.guesses import TownCentres
from tts.eval.labelled_cases import cases_of, kind_of_cases
from tts.eval.stop_fitting import fit_stop


@click.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), default=Path("stop.yaml"), show_default=True,
              help="File to write.")  # fmt: skip
@click.option("--origin", help="What the runs are, in one line; it is kept in the file.")
@config_option
def command(args: AppArgs, runs: tuple[Path, ...], out: Path, origin: str | None) -> None:
    """Fit the table of the stop policy `loss` to recorded RUNS: run files or folders of published logs.

    Each run stands for one family of models; the table has the largest loss of any family. Name the file in the
    configuration: `routing.stop_calibration`. Record the runs with `--stop none`, because rollouts that were stopped
    cannot show what they would have found.
    """
    world = make_world(args.data_dir)
    families = {source.name or str(source): cases_of(source) for source in runs}
    for name, cases in families.items():
        STDERR.print(f"{name}: kind of N: {kind_of_cases(cases)}", soft_wrap=True, markup=False)
    command_line = f"geotts calibrate-stop {' '.join(families)}"
    table = fit_stop(families, world, TownCentres(world.gazetteer), command=command_line)
    table = table.model_copy(update={"origin": origin or table.origin})
    table.write(out)
    STDERR.print(f"{out}: {table.origin} (kind of N: {table.kind_of_n})", soft_wrap=True, markup=False)
