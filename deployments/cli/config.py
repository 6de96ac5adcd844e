"""`geotts config show` and `geotts config path`."""

from __future__ import annotations

import click
import yaml

from deployments.cli.console import config_option, profile_options
from deployments.config import AppArgs
from tts.net.url_secrets import mask_secrets
from tts.package_files import config_files, operations_files


@click.group()
def command() -> None:
    """Show the effective configuration, or the paths of the shipped ones."""


@command.command()
@config_option
@profile_options
def show(args: AppArgs) -> None:
    """Print the effective configuration as YAML. It shows no secrets: keys in URLs appear as stars."""
    click.echo(
        mask_secrets(yaml.safe_dump(args.model_dump(mode="json"), sort_keys=False, allow_unicode=True)), nl=False
    )


@command.command()
@click.argument("name", type=click.Choice([*config_files(), *operations_files()]), required=False, metavar="[NAME]")
def path(name: str | None) -> None:
    """Print the path of a shipped file: a configuration, a Kubernetes manifest, or a file for monitoring.

    Use it with `serve run` or `kubectl apply -f`. Without NAME, it prints all names and paths.
    """
    known = config_files() | operations_files()
    if name is not None:
        click.echo(known[name])
        return
    width = max(map(len, known))
    for each, file in known.items():
        click.echo(f"{each:<{width}}  {file}")
