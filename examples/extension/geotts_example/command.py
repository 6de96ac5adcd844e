"""A command: how many answers of a run are in each country. It is used as `geotts tally RUN.jsonl`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from tts.eval.runs.located_files import read_located


@click.command()
@click.argument("run", type=click.Path(exists=True, path_type=Path))
def command(run: Path) -> None:
    """Count the answers of RUN by country: a run file, an event log, replies, or a folder with such files."""
    photos = read_located(run)
    countries = Counter(photo.answer.country or "no country" for photo in photos if photo.answer is not None)
    for country, count in countries.most_common():
        click.echo(f"{count}\t{country}")
    click.echo(f"{len(photos)}\tphotos")
