"""Finds the size of a model: from its files, from the table of published models, or from its name."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from deployments.sizing.model_files import RESERVE_YOURSELF, downloaded_folder, shape_in
from deployments.sizing.model_shape import ModelShape
from deployments.sizing.size_from_name import shape_by_name
from tts.errors import ConfigError
from tts.profiles import Profile

_PATH_PREFIXES = ("/", "./", "../", "~")


def shape_of(model: str, profile: Profile | None = None) -> ModelShape:
    """The shape of a model in a folder, or of a published one, downloaded or not.

    Args:
        model: a folder, or a published name.
        profile: the profile it is served with, whose `base` is as large as its own model. Another model that is served
            with it has a size of its own.

    Raises:
        ConfigError: when nothing is known of it, or its config.json lacks something.
    """
    folder = Path(model).expanduser()
    if (folder / "config.json").is_file() or model.startswith(_PATH_PREFIXES):
        return shape_in(folder)
    if (cached := downloaded_folder(model)) is not None:
        return shape_in(cached)
    known = _shipped_shapes()
    found = known.get(model)
    if found is None and profile is not None and model == profile.model:
        found = known.get(profile.base)
    found = found or shape_by_name(model, known)
    if found is None and profile is not None and not profile.model and profile.base in known:
        found = known[profile.base].model_copy(
            update={"estimate": f"an estimate: that of {profile.base}, from which the profile's model was trained"}
        )
    if found is None:
        raise ConfigError(
            f"nothing is known of the size of {model or 'this model'}: "
            f"give a folder with its config.json with --model, or {RESERVE_YOURSELF}"
        )
    return found


@cache
def _shipped_shapes() -> dict[str, ModelShape]:
    raw: dict[str, Any] = yaml.safe_load((files("tts") / "data" / "model_shapes.yaml").read_text())
    return {name: ModelShape.model_validate(shape) for name, shape in raw["models"].items()}
