"""Profiles: all that is needed to serve one published model as it was trained, in one file.

`geotts serve --profile reverse --endpoint URL` puts a profile over the configuration: engine, dialect, limits. What a
command line says wins over the profile, the profile over the configuration file.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field, JsonValue, ValidationError

from tts.config.request_defaults import RequestDefaults
from tts.config.routing import RoutingConfig
from tts.config.verifier import VerifierConfig
from tts.dialects.released.imported_texts import imported_settings
from tts.dialects.settings import DialectSettings
from tts.domain.plan import Limits
from tts.domain.value import Value
from tts.errors import ConfigError
from tts.package_files import PROFILES, profile_files

_DEFAULT_PORT = 8001  # GeoTTS itself takes 8000, which is also vLLM's default


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
    verifier: VerifierConfig = Field(default=VerifierConfig(), description="the published one, where there is one")
    routing: RoutingConfig = Field(default=RoutingConfig(), description="how many rollouts wait for the first one")
    request_defaults: RequestDefaults = RequestDefaults()
    deadline_s: Annotated[float, Field(gt=0, le=3600)] | None = Field(
        default=None, description="of a request that states none"
    )
    needs_endpoint: bool = Field(default=False, description="no model of it runs in this process: say --endpoint")
    chat_template: str = Field(default="engine", description="engine: the checkpoint's own; else a file")
    tools: Literal["native", "template", "text"] = Field(description="how tools are described to an endpoint")
    serve: tuple[str, ...] = Field(default=(), description="arguments of `vllm serve` for an endpoint of one's own")
    vllm: dict[str, JsonValue] = Field(default={}, description="settings of the vllm engine in this process")

    def tree(self, *, model: str, endpoint: str) -> dict[str, Any]:
        """The part of the configuration this profile decides. Without an endpoint the model runs in this process."""
        engine: dict[str, Any]
        if endpoint:
            first, *others = (url.strip() for url in endpoint.split(","))
            engine = {"name": "openai", "base_url": first, "model": model, "tools": self.tools}
            if others:
                engine["base_urls"] = others
        else:
            engine = {"name": "vllm", "model": model or self.model, **self.vllm}
            if self.chat_template != "engine":
                engine["chat_template"] = self.chat_template
        tree: dict[str, Any] = {
            "engine": engine,
            "dialect": self.dialect,
            "dialect_settings": self.dialect_settings.model_dump(mode="json", exclude_defaults=True),
            "limits": self.limits.model_dump(exclude_unset=True),
            "verifier": self.verifier.model_dump(mode="json", exclude_unset=True),
            "routing": self.routing.model_dump(mode="json", exclude_unset=True),
            "request_defaults": self.request_defaults.model_dump(exclude_unset=True),
        }
        if self.deadline_s is not None:
            tree["gateway"] = {"default_deadline_s": self.deadline_s}
        if not endpoint:
            tree["deployments"] = {"rollout": {"replicas": 1}}
        return tree

    def serve_command(self, model: str = "") -> str:
        """How to serve the model with vLLM, to be used as `--endpoint http://127.0.0.1:8001/v1`."""
        template = [] if self.chat_template == "engine" else ["--chat-template", self.chat_template]
        return shlex.join(
            ["vllm", "serve", model or self.model or "MODEL", "--port", str(_DEFAULT_PORT), *self.serve, *template]
        )


def with_imported(profile: Profile) -> Profile:
    """The profile with the texts that `geotts profile import` wrote, as far as it names none itself."""
    settings = profile.dialect_settings
    found = imported_settings(profile.dialect, settings.behaviour, settings.released_path)
    absent = {name: Path(file) for name, file in found.items() if getattr(settings, name) is None}
    return profile.model_copy(update={"dialect_settings": settings.model_copy(update=absent)})


def profile_names() -> list[str]:
    """The profiles that ship with the project."""
    return list(profile_files())


def load_profile(name: str) -> Profile:
    """A shipped profile by name, with the authors' texts where the user has imported them; or any by its path.

    Raises:
        ConfigError: naming the known profiles, or what is wrong in the file.
    """
    shipped = not name.endswith((".yaml", ".yml"))
    path = PROFILES / f"{name.replace('-', '_')}.yaml" if shipped else Path(name)
    try:
        profile = Profile.model_validate(yaml.safe_load(path.read_text()))
        return with_imported(profile) if shipped else profile
    except OSError as error:
        raise ConfigError(f"there is no profile {name!r}; there are: {', '.join(profile_names())}") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{path} is not YAML: {error}") from error
    except ValidationError as error:
        lines = [f"  {'.'.join(str(p) for p in e['loc']) or '(top)'}: {e['msg']}" for e in error.errors()]
        raise ConfigError("\n".join([f"{path} is no profile:", *lines])) from error
