"""Texts of the authors that a user has imported, as files beside a profile."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from platformdirs import user_config_path

from tts.dialects.released.tool_name import FIRST_PATHS

SYSTEM_FILE: Final = "system.txt"
TASK_FILE: Final = "task.txt"
TOOLS_FILE: Final = "tools.json"
TEXTS_FILE: Final = "texts.json"
TEMPLATE_FILE: Final = "chat_template.jinja"


@dataclass(frozen=True, slots=True)
class ImportedTexts:
    """The system text, the question beside the photo, tool schemas as they reach the model, and other texts by name.

    `chat_template` is one that the authors put beside their loop; it is for who serves the model, no dialect reads it.
    What is empty was not found and stays the project's own wording.
    """

    system: str = ""
    task: str = ""
    tools: Sequence[Mapping[str, Any]] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    chat_template: str = ""

    def files(self) -> dict[str, str]:
        """Content by file name; only what there is."""
        content = {
            SYSTEM_FILE: self.system,
            TASK_FILE: self.task,
            TOOLS_FILE: _json(list(self.tools)) if self.tools else "",
            TEXTS_FILE: _json(dict(self.texts)) if self.texts else "",
            TEMPLATE_FILE: self.chat_template,
        }
        return {name: text for name, text in content.items() if text}

    def hashes(self) -> dict[str, str]:
        """SHA-256 of every text by its name; tools as compact JSON."""
        named = {
            "system": self.system,
            "task": self.task,
            "chat_template": self.chat_template,
            **{f"texts/{name}": text for name, text in self.texts.items()},
        }
        named |= {f"tools/{tool['name']}": json.dumps(tool, ensure_ascii=False) for tool in self.tools}
        return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in named.items() if text}

    def write(self, folder: Path) -> dict[str, str]:
        """Write the files; returns the dialect settings that name them."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in self.files().items():
            (folder / name).write_text(text, encoding="utf-8", newline="")
        return settings_of(folder)


def settings_of(folder: Path) -> dict[str, str]:
    """Dialect settings for the files that a folder holds."""
    named = {
        "prompt_file": SYSTEM_FILE,
        "task_file": TASK_FILE,
        "tool_schema_file": TOOLS_FILE,
        "texts_file": TEXTS_FILE,
    }
    return {setting: str(folder / name) for setting, name in named.items() if (folder / name).is_file()}


def user_profiles() -> Path:
    """Where imported texts are kept: `$GEOTTS_PROFILES`, else in the user's configuration."""
    named = os.environ.get("GEOTTS_PROFILES")
    return Path(named).expanduser() if named else user_config_path("geotts") / "profiles"


def imported_settings(dialect: str, behaviour: str, path: str | None) -> dict[str, str]:
    """Dialect settings for what `geotts profile import` wrote for a loop; `path` None is the first one."""
    named = ((path,) if path else FIRST_PATHS) if behaviour == "released" else ()
    folder = user_profiles() / dialect
    return next((found for name in (*named, "") if (found := settings_of(folder / name))), {})


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
