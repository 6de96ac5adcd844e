"""`geotts data build | status | clean`."""

from __future__ import annotations

import time

import click

from deployments.cli.console import STDERR, config_option, progress_bar
from tts.config import AppArgs
from tts.geodata.store import DataStore


@click.group()
def command() -> None:
    """Build, inspect or remove the embedded data (gazetteer, lexicon and maps, about 145 MB)."""


@command.command()
@click.option("--force", is_flag=True, help="Build again even when everything is there.")
@config_option
def build(args: AppArgs, force: bool) -> None:
    """Build what is missing, outdated or corrupt. Takes about a minute, once."""
    store = DataStore(args.data_dir)
    started = time.perf_counter()
    with progress_bar() as progress:
        found = store.ensure(progress, force=force)
    took = time.perf_counter() - started
    size = sum(status.size_bytes for status in found)
    STDERR.print(f"data ready in {took:.1f} s: {size / 1e6:.0f} MB in {store.root}")


@command.command()
@config_option
def status(args: AppArgs) -> None:
    """Say whether the data is there, intact and up to date. Exit code 1 when it is not."""
    found = DataStore(args.data_dir).status()
    for status in found:
        versions = ", ".join(f"{name} {version}" for name, version in sorted(status.versions.items()))
        click.echo(f"{status.name}: {status.state}{f' ({status.detail})' if status.detail else ''}")
        click.echo(f"  path     {status.path}\n  size     {status.size_bytes / 1e6:.1f} MB")
        click.echo(f"  made of  {versions or '-'}")
    if any(status.state != "ready" for status in found):
        click.echo("run `geotts data build`")
        raise click.exceptions.Exit(1)


@command.command()
@config_option
def clean(args: AppArgs) -> None:
    """Remove all built data."""
    click.echo(f"freed {DataStore(args.data_dir).clean() / 1e6:.1f} MB")
