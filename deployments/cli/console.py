"""Shared by all commands: the console, progress, errors, exit codes, and the options that name a configuration."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click
import yaml
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from deployments.cli.text_console import TextConsole, styled_text
from deployments.config import AppArgs, load_config
from tts.package_files import config_files
from tts.profiles import Profile, load_profile, profile_names

STDERR = TextConsole(stderr=True)
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_FAULTS = 3
EXIT_INTERRUPTED = 130
_OVERRIDES_KEY = "geotts.overrides"
_PROFILE_KEY = "geotts.profile"
F = TypeVar("F", bound=Callable[..., Any])


def fail(message: str, code: int) -> int:
    """One red line (more when the message has more), and the exit code to use."""
    STDERR.print(styled_text(("geotts:", "bold red"), f" {message}"), soft_wrap=True)
    return code


class _ConfigFile(click.Path):
    """A file, or the name of a configuration that ships with the project; a file wins."""

    name = "file"

    def __init__(self) -> None:
        super().__init__(exists=True, dir_okay=False, path_type=Path)

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        known = config_files()
        if not Path(value).is_file() and str(value) in known:
            return known[str(value)]
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            self.fail(f"{error.message} Shipped configurations: {', '.join(known)}.", param, ctx)


def config_option(command: F) -> F:
    """`--config FILE` and `--set key.path=value`, handed over as `args: AppArgs`."""

    def resolve(context: click.Context, _: click.Parameter, path: Path | None) -> AppArgs:
        overrides: dict[str, Any] = {}
        if providers := context.meta.get(_PROFILE_KEY, {}).get("providers"):
            _assign(overrides, f"tools.providers=[{providers}]")
        for assignment in context.meta.get(_OVERRIDES_KEY, ()):
            _assign(overrides, assignment)
        return load_config(path, overrides, profile=_profile_tree(context))

    command = click.option(
        "--config",
        "-c",
        "args",
        type=_ConfigFile(),
        callback=resolve,
        help="Configuration: a YAML file, or a shipped one by its name (`geotts config path` lists them).",
    )(command)
    return click.option(
        "--set",
        "overrides",
        multiple=True,
        metavar="KEY.PATH=VALUE",
        is_eager=True,
        expose_value=False,
        callback=lambda context, _, value: context.meta.__setitem__(_OVERRIDES_KEY, value),
        help="Set one value of the configuration, such as --set gateway.port=8080. Repeatable.",
    )(command)


_PROFILE_OPTIONS = (
    ("providers", "NAMES", "Providers of the tools, in order of preference, e.g. google,amap,serper."),
    (
        "endpoint",
        "URL",
        "OpenAI-compatible endpoint that serves the model, such as http://127.0.0.1:8001/v1; several with commas.",
    ),
    ("model", "NAME", "Model: a folder with weights, a published name, or its name at the endpoint."),
    (
        "profile",
        "NAME",
        "Settings for a model: a published one, as it was trained (reverse); a preset (hosted, small); or a YAML file.",
    ),
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
            callback=partial(_remember_profile, to_run),
            help=text,
        )(command)
    return command


def _remember_profile(to_run: bool, context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    context.meta.setdefault(_PROFILE_KEY, {"to_run": to_run})[parameter.name] = value or ""


def profile_in_use() -> tuple[str, Profile] | None:
    """The profile the running command was given, with its name."""
    name = click.get_current_context().meta.get(_PROFILE_KEY, {}).get("profile", "")
    return (name, load_profile(name)) if name else None


def _profile_tree(context: click.Context) -> dict[str, Any] | None:
    """What the profile options say; an endpoint alone is served as `generic`, a model alone needs to be told how."""
    given = context.meta.get(_PROFILE_KEY, {})
    name, model, endpoint = (given.get(key, "") for key in ("profile", "model", "endpoint"))
    if not name and model and not endpoint:
        raise click.UsageError(f"--model needs --profile or --endpoint; profiles: {', '.join(profile_names())}")
    if not name and not endpoint:
        return None
    _check_endpoints(endpoint)
    profile = load_profile(name or "generic")
    if given["to_run"] and not endpoint and profile.needs_endpoint:
        raise click.UsageError(f"the profile {name} needs --endpoint URL: another server runs its model")
    if given["to_run"] and not endpoint and not model and not profile.model:
        raise click.UsageError(f"the profile {name} names no model: give --model PATH_OR_NAME or --endpoint URL")
    return profile.tree(model=model, endpoint=endpoint)


def _check_endpoints(stated: str) -> None:
    """The error message does not repeat the address, because it may hold a password."""
    if stated and not all(url.strip().startswith(("http://", "https://")) for url in stated.split(",")):
        raise click.BadParameter(
            "an endpoint is a URL that starts with http:// or https://, such as http://127.0.0.1:8001/v1",
            param_hint="--endpoint",
        )


def _assign(tree: dict[str, Any], assignment: str) -> None:
    path, equals, raw = assignment.partition("=")
    if not equals or not path:
        raise click.BadParameter(f"{assignment!r} is not KEY.PATH=VALUE", param_hint="--set")
    *parents, leaf = path.split(".")
    for name in parents:
        tree = tree.setdefault(name, {})
        if not isinstance(tree, dict):
            raise click.BadParameter(
                f"{assignment!r}: {name} has a value already, so it cannot have keys", param_hint="--set"
            )
    try:
        tree[leaf] = yaml.safe_load(raw)
    except (yaml.YAMLError, ValueError) as error:
        reason = "the value is not YAML" if isinstance(error, yaml.YAMLError) else error
        raise click.BadParameter(f"{assignment!r}: {reason}", param_hint="--set") from error


@contextmanager
def progress_bar() -> Iterator[Callable[[str, float], None]]:
    """A bar on a terminal, a line for each step otherwise; call with (step, share in 0..1)."""
    if not STDERR.is_terminal:
        seen: set[str] = set()

        def line(step: str, share: float) -> None:
            if step not in seen:
                seen.add(step)
                STDERR.print(f"  {step}")

        yield line
        return
    columns = (TextColumn("  {task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=STDERR, transient=True) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda step, share: bar.update(task, description=f"{step:<20}", completed=share)
