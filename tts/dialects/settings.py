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
    """How tokens are drawn."""

    temperature: Annotated[float, Field(ge=0, le=2)] = Field(
        default=0.0, description="temperature of the draws; 0: the most probable token"
    )
    top_p: Annotated[float, Field(gt=0, le=1)] = Field(
        default=1.0,
        description="tokens are drawn from the most probable ones that together have this probability; 1: from all",
    )
    top_k: int = Field(
        default=-1, description="tokens are drawn from this many of the most probable ones; -1: from all"
    )
    min_p: Annotated[float, Field(ge=0, lt=1)] = Field(
        default=0.0,
        description="lowest probability of a token, as a fraction of that of the most probable token; 0: no limit",
    )
    presence_penalty: Annotated[float, Field(ge=-2, le=2)] = Field(
        default=0.0, description="lowers the logits of tokens that the text already has by this much; 0: off"
    )
    repetition_penalty: Annotated[float, Field(gt=0, le=2)] = Field(
        default=1.0, description="makes tokens that prompt or text already have less probable, if above 1; 1: off"
    )


class DialectSettings(Value):
    """None means the dialect's own. Files are read when the dialect is made, so that a typo fails at start."""

    behaviour: Literal["released", "served"] = Field(
        default="served",
        description="released: the loop of the authors, exact to the character; served: a loop that tolerates mistakes "
        "of the model",
    )
    released_path: str | None = Field(
        default=None, description="name of the released loop, if the authors have several: verl or demo, eval or rl"
    )
    tool_set: str | None = Field(
        default=None,
        description="for a released dialect: name of the set of tools, or `place`, which chooses it by the place of "
        "the photo",
    )
    depth_tag: bool = Field(
        default=False,
        description="for geo_adapt: whether the model is asked for the tag <depth>short|deep</depth>, which its own "
        "prompt does not have",
    )
    tools_in: Literal["template", "system_text"] | None = Field(
        default=None,
        description="where the tools are listed. template: in the chat template of the engine; system_text: in the "
        "system text",
    )
    prompt_file: Path | None = Field(
        default=None, description="file with the system text; {tools} in it is replaced by the list of tools"
    )
    task_file: Path | None = Field(
        default=None,
        description="file with the text beside the photo; {hint} in it is replaced by the hint, and for geo_adapt "
        "{similar} by the list of similar photos",
    )
    tool_schema_file: Path | None = Field(
        default=None,
        description="JSON file with a list of {name, description, parameters}; OpenAI's form of it is accepted too",
    )
    texts_file: Path | None = Field(
        default=None,
        description="for a released dialect: JSON file with one object, which holds the longer texts of the authors' "
        "loop by name",
    )
    coords: Coords | None = Field(
        default=None,
        description="unit of the boxes that the model writes. fraction: 0 to 1; thousand: 0 to 1000; pixels: pixels of "
        "the picture that was sent",
    )
    datum: Datum | None = Field(
        default=None, description="coordinate system of the points that the model writes and reads"
    )
    limits: Limits | None = Field(default=None, description="limits of one rollout")
    pictures: PictureRules | None = Field(default=None, description="sizes of the pictures that the model sees")
    alone: SamplingSettings | None = Field(
        default=None,
        description="sampling of a single rollout; if its temperature is 0, also of the first of several rollouts",
    )
    together: SamplingSettings | None = Field(default=None, description="sampling of several rollouts of one request")
    turn_tokens: Annotated[int, Field(ge=16)] | None = Field(default=None, description="most tokens of one turn")
    paper_mode: bool = Field(
        default=False, description="whether the loop works as in the papers: no forced last turn, no corrections"
    )


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
