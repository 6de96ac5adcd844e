"""What all commands share: where to print, how to report progress, how to fail, which options name a configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click
import yaml
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from tts.config import AppArgs, load_config

STDERR = Console(stderr=True, highlight=False)
_OVERRIDES = "geotts.overrides"
F = TypeVar("F", bound=Callable[..., Any])


def fail(message: str, code: int) -> int:
    """One red line (more when the message has more), and the exit code to use."""
    STDERR.print(f"[bold red]geotts:[/] {message}", soft_wrap=True, markup=True)
    return code


def config_option(command: F) -> F:
    """`--config FILE` and `--set key.path=value`, handed over as `args: AppArgs`."""

    def resolve(context: click.Context, _: click.Parameter, path: Path | None) -> AppArgs:
        overrides: dict[str, Any] = {}
        for assignment in context.meta.get(_OVERRIDES, ()):
            _assign(overrides, assignment)
        return load_config(path, overrides)

    command = click.option(
        "--config",
        "-c",
        "args",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        callback=resolve,
        help="YAML file with the configuration; the built-in defaults otherwise.",
    )(command)
    return click.option(
        "--set",
        "overrides",
        multiple=True,
        metavar="KEY.PATH=VALUE",
        is_eager=True,
        expose_value=False,
        callback=lambda context, _, value: context.meta.__setitem__(_OVERRIDES, value),
        help="Override one value, e.g. --set gateway.port=8080. Repeatable.",
    )(command)


def _assign(tree: dict[str, Any], assignment: str) -> None:
    path, equals, raw = assignment.partition("=")
    if not equals or not path:
        raise click.BadParameter(f"{assignment!r} is not KEY.PATH=VALUE", param_hint="--set")
    *parents, leaf = path.split(".")
    for name in parents:
        tree = tree.setdefault(name, {})
    try:
        tree[leaf] = _yaml_scalar(raw)
    except ValueError as error:
        raise click.BadParameter(f"{assignment!r}: {error}", param_hint="--set") from error


def _yaml_scalar(raw: str) -> Any:
    try:
        return yaml.safe_load(raw)
    except yaml.YAMLError as error:
        raise ValueError("the value is not YAML") from error


@contextmanager
def progress_bar() -> Iterator[Callable[[str, float], None]]:
    """A bar on a terminal, a line a stage otherwise; call with (stage, share in 0..1)."""
    if not STDERR.is_terminal:
        seen: set[str] = set()

        def line(stage: str, share: float) -> None:
            if stage not in seen:
                seen.add(stage)
                STDERR.print(f"  {stage}")

        yield line
        return
    columns = (TextColumn("  {task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=STDERR, transient=True) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda stage, share: bar.update(task, description=f"{stage:<20}", completed=share)
