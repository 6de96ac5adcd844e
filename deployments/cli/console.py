"""What all commands share: where to print, how to report progress, how to fail, which options name a configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click
import yaml
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from tts.config import AppArgs, load_config
from tts.profiles import Profile, load_profile, profile_names

STDERR = Console(stderr=True, highlight=False)
_OVERRIDES = "geotts.overrides"
_PROFILE = "geotts.profile"
F = TypeVar("F", bound=Callable[..., Any])


def fail(message: str, code: int) -> int:
    """One red line (more when the message has more), and the exit code to use."""
    STDERR.print(f"[bold red]geotts:[/] {escape(message)}", soft_wrap=True)
    return code


def config_option(command: F) -> F:
    """`--config FILE` and `--set key.path=value`, handed over as `args: AppArgs`."""

    def resolve(context: click.Context, _: click.Parameter, path: Path | None) -> AppArgs:
        overrides: dict[str, Any] = {}
        for assignment in context.meta.get(_OVERRIDES, ()):
            _assign(overrides, assignment)
        return load_config(path, overrides, profile=_profile_tree(context))

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


_PROFILE_OPTIONS = (
    ("endpoint", "URL", "OpenAI-compatible endpoint that has the model, e.g. http://127.0.0.1:8001/v1."),
    ("model", "NAME", "Model: a folder, a published name, or what the endpoint calls it."),
    ("profile", "NAME", "Serve a published model as it was trained, e.g. reverse (see ray_configs/profiles)."),
)


def profile_options(command: F, *, to_run: bool = True) -> F:
    """`--profile`, `--model` and `--endpoint`, on top of `config_option`: they change what it hands over.

    Unless it is `to_run`, a profile needs no model: it can be explained without.
    """
    for name, metavar, text in _PROFILE_OPTIONS:
        command = click.option(
            f"--{name}",
            metavar=metavar,
            is_eager=True,
            expose_value=False,
            callback=partial(_remember, to_run),
            help=text,
        )(command)
    return command


def _remember(to_run: bool, context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    context.meta.setdefault(_PROFILE, {"to_run": to_run})[parameter.name] = value or ""


def profile_in_use() -> tuple[str, Profile] | None:
    """The profile the running command was given, with its name."""
    name = click.get_current_context().meta.get(_PROFILE, {}).get("profile", "")
    return (name, load_profile(name)) if name else None


def _profile_tree(context: click.Context) -> dict[str, Any] | None:
    """What the profile options say; an endpoint alone is served as `generic`, a model alone needs to be told how."""
    given = context.meta.get(_PROFILE, {})
    name, model, endpoint = (given.get(key, "") for key in ("profile", "model", "endpoint"))
    if not name and model and not endpoint:
        raise click.UsageError(f"--model needs --profile or --endpoint; profiles: {', '.join(profile_names())}")
    if not name and not endpoint:
        return None
    profile = load_profile(name or "generic")
    if given["to_run"] and not endpoint and not model and not profile.model:
        raise click.UsageError(f"profile {name} has no published name: say --model PATH_OR_NAME or --endpoint URL")
    return profile.tree(model=model, endpoint=endpoint)


def _assign(tree: dict[str, Any], assignment: str) -> None:
    path, equals, raw = assignment.partition("=")
    if not equals or not path:
        raise click.BadParameter(f"{assignment!r} is not KEY.PATH=VALUE", param_hint="--set")
    *parents, leaf = path.split(".")
    for name in parents:
        tree = tree.setdefault(name, {})
        if not isinstance(tree, dict):
            raise click.BadParameter(f"{assignment!r}: {name} was given a value before", param_hint="--set")
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
