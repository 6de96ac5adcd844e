"""`geotts config show`."""

from __future__ import annotations

import click
import yaml

from deployments.cli.console import config_option, profile_options
from tts.config import AppArgs
from tts.net.url_secrets import masked


@click.group()
def command() -> None:
    """Show the effective configuration."""


@command.command()
@config_option
@profile_options
def show(args: AppArgs) -> None:
    """Print the effective configuration tree as YAML. Secrets come from the environment; keys in URLs show as stars."""
    click.echo(masked(yaml.safe_dump(args.model_dump(mode="json"), sort_keys=False, allow_unicode=True)), nl=False)
