"""`geotts config show`."""

from __future__ import annotations

import click
import yaml

from deployments.cli.console import config_option, profile_options
from tts.config import AppArgs


@click.group()
def command() -> None:
    """Show the effective configuration."""


@command.command()
@config_option
@profile_options
def show(args: AppArgs) -> None:
    """Print the effective configuration tree as YAML. Secrets are never in it: they come from the environment."""
    click.echo(yaml.safe_dump(args.model_dump(mode="json"), sort_keys=False, allow_unicode=True), nl=False)
