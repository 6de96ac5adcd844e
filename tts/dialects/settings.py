"""What a profile may change about a dialect: its texts, its limits, its boxes, its sampling."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from tts.domain.picture_rules import PictureRules
from tts.domain.plan import Limits
from tts.domain.tooling import Datum
from tts.domain.value import Value
from tts.errors import ConfigError
from tts.ports.toolbox import ToolSchema

Coords = Literal["fraction", "thousand", "pixels"]


class SamplingSettings(Value):
    """How tokens are drawn; temperature 0 is greedy."""

    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    top_k: int = -1
    min_p: Annotated[float, Field(ge=0, lt=1)] = 0.0
    presence_penalty: Annotated[float, Field(ge=-2, le=2)] = 0.0
    repetition_penalty: Annotated[float, Field(gt=0, le=2)] = 1.0


class DialectSettings(Value):
    """None means the dialect's own. Files are read when the dialect is made, so that a typo fails at start."""

    behaviour: Literal["released", "served"] = Field(
        default="served", description="released: what the authors' loop does, to the character; served: tolerant"
    )
    released_path: str | None = Field(
        default=None, description="which released loop, where there are several: verl or demo, eval or rl"
    )
    tool_set: str | None = Field(
        default=None, description="of a released dialect: the set of tools, or `place` to choose it by the place"
    )
    depth_tag: bool = Field(
        default=False, description="of geo_adapt: ask for <depth>short|deep</depth>, which its prompt does not have"
    )
    tools_in: Literal["template", "system_text"] | None = Field(
        default=None, description="who lists the tools: the engine's chat template, or the system text"
    )
    prompt_file: Path | None = Field(default=None, description="system text; {tools} is replaced by the tool list")
    task_file: Path | None = Field(
        default=None, description="text beside the photo; {hint} is replaced, of geo_adapt {similar} too"
    )
    tool_schema_file: Path | None = Field(
        default=None, description="JSON list of {name, description, parameters}, OpenAI's wrapping allowed"
    )
    texts_file: Path | None = Field(
        default=None, description="of a released dialect: JSON object of the longer texts of the authors' loop, by name"
    )
    coords: Coords | None = Field(
        default=None, description="boxes: fractions, 0 to 1000, or pixels of the sent picture"
    )
    datum: Datum | None = Field(default=None, description="of the points the model states and reads")
    limits: Limits | None = None
    pictures: PictureRules | None = None
    alone: SamplingSettings | None = Field(default=None, description="sampling of a single rollout")
    together: SamplingSettings | None = Field(default=None, description="sampling in a fan-out")
    turn_tokens: Annotated[int, Field(ge=16)] | None = Field(default=None, description="tokens a turn may have")
    paper_mode: bool = Field(default=False, description="as in the papers: no forced final turn, no corrections")


_TEXTS = TypeAdapter(dict[str, str])
_SCHEMAS = TypeAdapter(tuple[ToolSchema, ...])


def read_text(path: Path) -> str:
    """Raises ConfigError naming the file."""
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {path}: {error}") from error


def read_texts(path: Path) -> dict[str, str]:
    """Raises ConfigError naming the file and what is wrong with it."""
    try:
        return _TEXTS.validate_json(read_text(path))
    except ValidationError as error:
        raise ConfigError(f"{path} is no JSON object of texts: {error.errors()[0]['msg']}") from error


def read_schemas(path: Path) -> tuple[ToolSchema, ...]:
    """Raises ConfigError naming the file and what is wrong with it."""
    try:
        listed = json.loads(read_text(path))
        plain = [item.get("function", item) if isinstance(item, dict) else item for item in listed]
        return _SCHEMAS.validate_python(plain)
    except (json.JSONDecodeError, TypeError) as error:
        raise ConfigError(f"{path} is no JSON list: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        raise ConfigError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
