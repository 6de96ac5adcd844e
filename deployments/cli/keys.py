"""`geotts keys`."""

from __future__ import annotations

import click

from deployments.access import fingerprint, new_key
from deployments.cli.console import STDERR


@click.group()
def command() -> None:
    """Make keys for the service."""


@command.command()
@click.argument("name")
@click.option("--per-minute", type=click.FloatRange(0, min_open=True), help="Requests a minute.")
@click.option("--concurrent", type=click.IntRange(1), help="Requests at once.")
def new(name: str, per_minute: float | None, concurrent: int | None) -> None:
    """Make a key for NAME: the key on stderr, once; the line for the keys file on stdout.

    \b
    geotts keys new newsdesk --per-minute 60 >> keys.txt
    """
    if not name.isprintable() or set(name) & set("# ;"):
        raise click.BadParameter("use letters without blanks, # and ;")
    if concurrent is not None and per_minute is None:
        raise click.BadParameter("--concurrent needs --per-minute")
    key = new_key()
    limits = [str(limit) for limit in (per_minute, concurrent) if limit is not None]
    STDERR.print(f"{key}\nis the key of {name}. It is not stored anywhere: copy it now.", highlight=False)
    click.echo(" ".join([name, fingerprint(key), *limits]))
