"""`geotts eval score | run | rewards | convert | compare | report | card | datasets | scenes`."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import click
import orjson
from rich.table import Table

from deployments.cli.console import STDERR, config_option
from deployments.cli.eval_card import card
from deployments.cli.eval_reread import reread_run
from deployments.cli.eval_rewards import rewards
from deployments.cli.eval_run import run
from deployments.cli.eval_score import make_place_names, parser_option, score
from deployments.cli.text_console import TextConsole, styled_text
from deployments.config import AppArgs
from deployments.wiring.parts import make_world
from tts.eval.answer_parsers import ParserName
from tts.eval.datasets import DATASETS
from tts.eval.datasets.mapbench import PARTS_FILE
from tts.eval.datasets.mapbench_parts import parts_from_logs
from tts.eval.runs.compare import compare
from tts.eval.runs.dependence import note_on_calibration
from tts.eval.runs.parquet import to_parquet
from tts.eval.runs.record import read_records
from tts.eval.runs.report import markdown, report
from tts.eval.scenes.generate import SceneMaker, write_scenes
from tts.eval.scenes.words import SPLITS, Split
from tts.verify.consensus.calibration_in_use import calibration_in_use

_STDOUT = TextConsole()


@click.group()
def command() -> None:
    """Run data sets; score, compare and report the results. See docs/evaluation.md."""


@command.command()
@click.argument("source", type=click.Path(path_type=Path))
@click.argument("target", type=click.Path(path_type=Path), required=False)
def convert(source: Path, target: Path | None) -> None:
    """Convert a run file to Parquet: a column for each figure, and one column with the complete record as JSON."""
    made = target or source.with_suffix(".parquet")
    click.echo(f"{made}: {to_parquet(source, made)} rows")


@command.command(name="compare")
@click.argument("first", type=click.Path(path_type=Path))
@click.argument("second", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of a table.")
@config_option
def compare_runs(args: AppArgs, first: Path, second: Path, as_json: bool) -> None:
    """Compare two runs on the photos that both have: differences with 95 % intervals, and two-sided p values."""
    found = compare(read_records(first), read_records(second), make_place_names(args))
    if as_json:
        click.echo(found.json_bytes().decode())
        return
    table = Table("", first.stem, second.stem, "difference", "p", box=None)
    for row in found.rows:
        table.add_row(row.name, f"{row.first:.2f}", f"{row.second:.2f}", str(row.difference), f"{row.p:.4f}")
    _STDOUT.print(table)
    _STDOUT.print(f"{found.n} photos compared; {found.left_out} left out: they are in one run only, or failed in one")
    for path, kind in zip((first, second), found.kinds_of_n, strict=True):
        _STDOUT.print(f"Kind of N in {path.stem}: {kind}", soft_wrap=True)


@command.command(name="report")
@click.argument("run_file", metavar="RUN", type=click.Path(path_type=Path))
@click.argument("others", metavar="[OTHER…]", nargs=-1, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of Markdown.")
@config_option
def report_run(args: AppArgs, run_file: Path, others: tuple[Path, ...], as_json: bool) -> None:
    """Report the figures of RUN and of its parts, beside the published figures of the same benchmark.

    OTHER runs of the same data set (such as one with --depth deep) are compared with it on the photos that all of them
    answered.
    """
    further = [read_records(other) for other in others]
    found = report(read_records(run_file), make_place_names(args), further, make_world(args.data_dir))
    click.echo(found.json_bytes().decode() if as_json else markdown(found))
    if found.dependence is None:
        return
    note = note_on_calibration(found.dependence, calibration_in_use(args).calibration.dependence)
    if note is not None:
        STDERR.print(styled_text((note, "yellow")), soft_wrap=True)


@command.command()
@click.argument("logs", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--within-km", type=click.FloatRange(min=0, min_open=True), default=10.0, show_default=True,
              help="Distance within which an answer counts.")  # fmt: skip
@click.option(
    "--hits", type=click.IntRange(min=1), help="Logs in which an easy photo is found; default: more than half."
)
@parser_option
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help=f"Default: standard output. The data set mapbench reads {PARTS_FILE}.",
)
def parts(logs: tuple[Path, ...], within_km: float, hits: int | None, parser: str, out: Path | None) -> None:
    """Divide photos into easy and hard ones, by LOGS of several models without tools. Rows are joined by `index`.

    A photo is easy if enough logs have an answer within the distance of its true position. If the file is beside the
    table of mapbench, its photos get the tags `easy` and `hard`.
    """
    found = parts_from_logs(logs, within_km=within_km, hits=hits, parser=cast(ParserName, parser))
    lines = [orjson.dumps({"index": index, "part": part}).decode() for index, part in found.items()]
    if out is None:
        click.echo("\n".join(lines))
    else:
        out.write_text("\n".join(lines) + "\n")
    easy = sum(part == "easy" for part in found.values())
    STDERR.print(f"{easy} easy, {len(found) - easy} hard")


@command.command()
def datasets() -> None:
    """List the data sets that `geotts eval run` reads, and the files that each needs."""
    for dataset in DATASETS.values():
        click.echo(f"{dataset.name}: {dataset.about}\n  needs {dataset.needs}")


@command.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--count", type=click.IntRange(min=1), default=100, show_default=True, help="Number of scenes.")
@click.option("--split", type=click.Choice([*SPLITS]), default="dev", show_default=True, help="Part of the word lists.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The same seed draws the same scenes."
)
@click.option("--near", is_flag=True, help="Draw only signs near the camera, none farther down the street.")
def scenes(folder: Path, count: int, split: str, seed: int, near: bool) -> None:
    """Draw street scenes with known positions into FOLDER, with labels.jsonl, for `geotts eval run folder FOLDER`."""
    maker = SceneMaker(seed=seed, split=cast(Split, split), street=not near)
    for script, reason in maker.shelf.missing.items():
        STDERR.print(styled_text((f"{script} cannot be drawn: {reason}", "yellow")))
    write_scenes(maker, count, folder)
    click.echo(f"{folder}: {count} scenes in {len(maker.languages)} languages")


command.add_command(score)
command.add_command(run)
command.add_command(card)
command.add_command(rewards)
command.add_command(reread_run)
