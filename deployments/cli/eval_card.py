"""`geotts eval card`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from deployments.cli.console import STDERR, config_option
from deployments.config import AppArgs
from deployments.wiring.parts import make_world
from tts.eval.card.card import Card, card_of
from tts.eval.card.card_page import card_markdown, curves_svg
from tts.eval.card.card_row import card_rows
from tts.verify.consensus.calibration import load, shipped_calibration
from tts.verify.evidence.world import World


@click.command()
@click.argument("runs", metavar="RUN…", nargs=-1, required=True)
@click.option("--out", "-o", type=click.Path(path_type=Path), help="Markdown file; its picture goes beside it.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object for each run instead of Markdown.")
@click.option("--note", "notes", multiple=True, help="A paragraph for the top of the page, in Markdown. Repeatable.")
@config_option
def card(args: AppArgs, runs: tuple[str, ...], out: Path | None, as_json: bool, notes: tuple[str, ...]) -> None:
    """Make the method card of RUNs: risk and coverage, errors and radii by continent, abstentions, cost per answer.

    A RUN is a run file (JSON Lines or Parquet), or a folder of published logs. With NAME=PATH it gets a name. For
    published logs, the consensus computes the answers; their radii come from the calibration of the configuration
    (`verifier.calibration`), or else from the default one.
    """
    world = make_world(args.data_dir)
    cards = [_make_card(given, world, args) for given in runs]
    if as_json:
        for found in cards:
            click.echo(found.json_bytes().decode())
        return
    names = " ".join(map(_without_folders, runs))
    made_on = datetime.now(UTC).date().isoformat()
    picture = None if out is None else out.with_suffix(".svg")
    command = f"geotts eval card {names}" + ("" if out is None else f" -o {out.name}")
    curve = None if picture is None else picture.name
    text = card_markdown(cards, command=command, made_on=made_on, curve=curve, notes=notes)
    if out is None or picture is None:
        click.echo(text, nl=False)
        return
    out.write_text(text, encoding="utf-8")
    picture.write_text(curves_svg(cards), encoding="utf-8")
    STDERR.print(f"{out} and {picture}: {len(cards)} runs", soft_wrap=True, markup=False)


def _make_card(given: str, world: World, args: AppArgs) -> Card:
    name, _, path = given.rpartition("=")
    source = Path(path)
    named = args.verifier.calibration
    calibration = shipped_calibration("default") if named is None else load(named)
    fitted = (
        f"computed here, with the calibration that was fitted on: {calibration.origin} "
        f"(kind of N: {calibration.kind_of_n})"
    )
    origin = fitted if source.is_dir() else "those of the answers of the service"
    return card_of(name or source.stem, card_rows(source, world, calibration), origin)


def _without_folders(given: str) -> str:
    """As it is written on a page that others read: without the folders of this machine."""
    name, _, path = given.rpartition("=")
    return f"'{name}={Path(path).name}'" if name else Path(path).name
