"""Loads the configuration from a file, a profile and the command line, and checks it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from deployments.config.app_args import AppArgs
from tts.dialects.released.chosen_loop import with_chosen_loop
from tts.errors import ConfigError
from tts.field_errors import field_error_text


def load_config(
    path: Path | None, overrides: dict[str, Any] | None = None, *, profile: dict[str, Any] | None = None
) -> AppArgs:
    """Read the configuration from a YAML file.

    Args:
        path: a file with either the bare tree or a Ray Serve config whose first application has `args`; None for the
            defaults.
        overrides: settings that go over file and profile.
        profile: settings of a profile (see `tts.profiles`). They go over the file and under the overrides; its engine
            replaces the file's. Where file or overrides choose another loop of its authors, its limits and texts are
            that loop's.

    Returns:
        The checked configuration. Settings that are written nowhere have their defaults.

    Raises:
        ConfigError: naming the file and every wrong key.
    """
    tree: Any = {}
    if path is not None:
        try:
            tree = yaml.safe_load(path.read_text()) or {}
        except OSError as error:
            raise ConfigError(f"cannot read {path}: {error.strerror}") from error
        except yaml.YAMLError as error:
            raise ConfigError(f"cannot read {path}: {_yaml_error_text(error)}") from None
        if isinstance(tree, dict) and tree.get("kind") == "RayService":
            tree = yaml.safe_load(str(tree.get("spec", {}).get("serveConfigV2", ""))) or {}
        if isinstance(tree, dict) and "applications" in tree:
            tree = (tree["applications"] or [{}])[0].get("args") or {}
    if not isinstance(tree, dict):
        raise ConfigError(f"{path}: the file must hold a mapping of names to values")
    if profile is not None:
        profile = with_chosen_loop(profile, _deep_merge(_deep_merge(tree, profile), overrides or {}))
        tree = {**_deep_merge(tree, profile), "engine": profile["engine"]}
    return _validate_tree(_deep_merge(tree, overrides or {}), str(path or "configuration"))


def _yaml_error_text(error: yaml.YAMLError) -> str:
    """The error and its position, without the text of the line, which may be a secret."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return f"line {error.problem_mark.line + 1}: {error.problem}"
    return "it is not YAML"


def replace_nodes(args: AppArgs, changes: dict[str, Any]) -> AppArgs:
    """Replace some nodes of a configuration, and check it again.

    Args:
        args: the configuration. It is not changed.
        changes: the new values, by the name of a top-level node.

    Returns:
        A new configuration with the new nodes.

    Raises:
        ConfigError: naming every wrong key.
    """
    return _validate_tree({**args.model_dump(), **changes}, "configuration")


def _validate_tree(tree: dict[str, Any], name: str) -> AppArgs:
    try:
        return AppArgs.model_validate(tree)
    except ValidationError as error:
        lines = [
            f"  {'.'.join(str(p) for p in e['loc']) or '(top)'}: {field_error_text(e, AppArgs, 'setting')}"
            for e in error.errors()
        ]
        raise ConfigError("\n".join([f"{name} is not valid:", *lines])) from error


def _deep_merge(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        below = merged.get(key)
        merged[key] = _deep_merge(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return merged
