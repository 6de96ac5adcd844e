"""`geotts keys`."""

from __future__ import annotations

import click

from deployments.cli.console import STDERR
from deployments.gateway.auth import check_money, fingerprint, new_key


@click.group()
def command() -> None:
    """Make keys for the service."""


@command.command()
@click.argument("name")
@click.option(
    "--per-minute", type=click.FloatRange(0, min_open=True), help="Requests that the key may send in a minute."
)
@click.option("--concurrent", type=click.IntRange(1), help="Requests of the key that may run at the same time.")
@click.option(
    "--cost", type=click.FloatRange(0, min_open=True), help="US dollars that one request of the key may cost."
)
@click.option("--cost-per-day", type=click.FloatRange(0, min_open=True), help="US dollars in 24 hours. Needs --cost.")
@click.option("--operator", is_flag=True, help="The key may also take endpoints out of use (`geotts endpoints drain`).")
def new(
    name: str, per_minute: float | None, concurrent: int | None, cost: float | None, cost_per_day: float | None,
    operator: bool,
) -> None:  # fmt: skip
    """Make a key for NAME. The key goes to stderr, only this once. The line for the keys file goes to stdout.

    \b
    geotts keys new newsdesk --per-minute 60 >> keys.txt
    geotts keys new archive --concurrent 2 >> keys.txt
    """
    if not name.isprintable() or set(name) & set("# ;"):
        raise click.BadParameter("a name must consist of printable characters without blanks, # and ;")
    check_money(cost, cost_per_day, "--cost-per-day")
    key = new_key()
    money = [f"{word}={usd:g}" for word, usd in (("cost", cost), ("cost/day", cost_per_day)) if usd is not None]
    limits = [] if per_minute is None and concurrent is None else ["-" if per_minute is None else str(per_minute)]
    limits += [] if concurrent is None else [str(concurrent)]
    STDERR.print(f"{key}\nThis is the key of {name}. It is not stored anywhere: copy it now.", highlight=False)
    click.echo(" ".join([name, fingerprint(key), *(["operator"] if operator else []), *money, *limits]))
