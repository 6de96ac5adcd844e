"""`geotts completion SHELL`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

_SCRIPT_FILES = {"bash": "~/.bashrc", "zsh": "~/.zshrc", "fish": "~/.config/fish/completions/geotts.fish"}


@click.command()
@click.argument("shell", type=click.Choice(sorted(_SCRIPT_FILES)))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print the shell script that completes commands and options: `geotts completion bash >> ~/.bashrc`."""
    made = get_completion_class(shell)
    assert made is not None
    click.echo(made(context.find_root().command, {}, "geotts", "_GEOTTS_COMPLETE").source())
