"""Profiles: all that is needed to serve one published model as it was trained, in one file.

`geotts serve --profile reverse --endpoint URL` puts a profile over the configuration: engine, dialect, limits. What a
command line says wins over the profile, the profile over the configuration file.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, JsonValue, ValidationError

from tts.dialects.settings import DialectSettings
from tts.domain.plan import Limits
from tts.domain.value import Value
from tts.errors import ConfigError

PROFILES = Path(__file__).resolve().parents[1] / "ray_configs" / "profiles"


class Profile(Value):
    """One published model. `licence` is that of the weights; `licence_note` what a user has to know about it."""

    profile_version: Literal[1] = 1
    summary: str
    model: str = Field(default="", description="where the weights are published; empty when any model will do")
    base: str = Field(default="", description="the model it was trained from")
    licence: str
    licence_note: str = ""
    dialect: str
    dialect_settings: DialectSettings = DialectSettings()
    limits: Limits
    chat_template: str = Field(default="engine", description="engine: the checkpoint's own; else a file")
    tools: Literal["native", "template", "text"] = Field(description="how an endpoint is told about tools")
    serve: tuple[str, ...] = Field(default=(), description="arguments of `vllm serve` for an endpoint of one's own")
    vllm: dict[str, JsonValue] = Field(default={}, description="settings of the vllm engine in this process")

    def tree(self, *, model: str, endpoint: str) -> dict[str, Any]:
        """The part of the configuration this profile decides. Without an endpoint the model runs in this process."""
        engine: dict[str, Any]
        if endpoint:
            engine = {"name": "openai", "base_url": endpoint, "model": model, "tools": self.tools}
        else:
            engine = {"name": "vllm", "model": model or self.model, **self.vllm}
            if self.chat_template != "engine":
                engine["chat_template"] = self.chat_template
        return {
            "engine": engine,
            "dialect": self.dialect,
            "dialect_settings": self.dialect_settings.model_dump(mode="json", exclude_defaults=True),
            "limits": self.limits.model_dump(),
        }

    def serve_command(self, model: str = "") -> str:
        """How to serve the model with vLLM, to be used as `--endpoint`."""
        template = [] if self.chat_template == "engine" else ["--chat-template", self.chat_template]
        return shlex.join(["vllm", "serve", model or self.model or "MODEL", *self.serve, *template])


def profile_names() -> list[str]:
    """The profiles that ship with the project."""
    return sorted(path.stem for path in PROFILES.glob("*.yaml"))


def load_profile(name: str) -> Profile:
    """A shipped profile by name, or any by its path.

    Raises:
        ConfigError: naming the known profiles, or what is wrong in the file.
    """
    path = Path(name) if name.endswith((".yaml", ".yml")) else PROFILES / f"{name}.yaml"
    try:
        return Profile.model_validate(yaml.safe_load(path.read_text()))
    except OSError as error:
        raise ConfigError(f"there is no profile {name!r}; there are: {', '.join(profile_names())}") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{path} is not YAML: {error}") from error
    except ValidationError as error:
        lines = [f"  {'.'.join(str(p) for p in e['loc']) or '(top)'}: {e['msg']}" for e in error.errors()]
        raise ConfigError("\n".join([f"{path} is no profile:", *lines])) from error
