"""The part of a profile for one loop of its authors: its limits, and the texts that a user has imported.

A profile states them for the loop it names. Where the configuration chooses another one of the same model
(`released_path`, `behaviour`), these are that loop's.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from tts.dialects import DIALECTS
from tts.dialects.released.imported_texts import imported_settings, user_profiles
from tts.dialects.released.tool_name import released_system
from tts.dialects.settings import DialectSettings
from tts.errors import ConfigError


def with_chosen_loop(profile: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """The profile's tree as it is right for the tree that comes out. What cannot be read is left to its own check."""
    own, chosen = _settings_of(profile), _settings_of(wanted)
    dialect = str(profile["dialect"])
    if (
        own is None
        or chosen is None
        or wanted.get("dialect") != dialect
        or _loop(dialect, own) == _loop(dialect, chosen)
    ):
        return dict(profile)
    bare = DialectSettings(behaviour=chosen.behaviour, released_path=chosen.released_path)
    try:
        limits = DIALECTS[dialect].with_settings(bare).limits
    except ConfigError:
        return dict(profile)
    changed = {**profile, "limits": {**profile["limits"], **limits.model_dump(exclude_none=True)}}
    if chosen.behaviour == own.behaviour == "released":
        changed["dialect_settings"] = _settings_with_texts(profile["dialect_settings"], dialect, chosen)
    return changed


def _settings_of(tree: Mapping[str, Any]) -> DialectSettings | None:
    try:
        return DialectSettings.model_validate(tree.get("dialect_settings") or {})
    except ValidationError:
        return None


def _loop(dialect: str, settings: DialectSettings) -> tuple[str, str]:
    path = settings.released_path
    return settings.behaviour, released_system(dialect, path) if settings.behaviour == "released" else ""


def _settings_with_texts(settings: Mapping[str, Any], dialect: str, chosen: DialectSettings) -> dict[str, Any]:
    """Imported files of the profile's own loop give way to those of the chosen one; files of the user's stay."""
    folder = user_profiles()
    kept = {
        name: value
        for name, value in settings.items()
        if not (name.endswith("_file") and Path(str(value)).is_relative_to(folder))
    }
    return {**imported_settings(dialect, chosen.behaviour, chosen.released_path), **kept}
