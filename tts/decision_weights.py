"""The weights of readings, depth, rollouts, the watch, beliefs, grounding and verdicts: files in `tts/data/weights`.

Every weight says where it is from, with the date: `fitted` on a data set that a command measures, or `hand-set` for a
reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from importlib.resources import files
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    value: float
    date: date


class HandSet(_Row):
    """A weight that somebody chose."""

    source: Literal["hand-set"]
    reason: Annotated[str, Field(min_length=20)]


class FittedWeight(_Row):
    """A weight that was chosen by what `command` measures on `data`."""

    source: Literal["fitted"]
    data: Annotated[str, Field(min_length=3)]
    command: Annotated[str, Field(pattern=r"^geotts \w")]
    reason: str = ""


class WeightsFile(BaseModel):
    """One file of weights."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1]
    weights: dict[str, Annotated[HandSet | FittedWeight, Field(discriminator="source")]]


def weights_file(name: str) -> WeightsFile:
    """Raises pydantic's ValidationError when the file is not in its form."""
    text = files("tts").joinpath("data", "weights", f"{name}.yaml").read_text("utf-8")
    return WeightsFile.model_validate(yaml.load(text, yaml.CSafeLoader))


@lru_cache
def weights(name: str) -> Mapping[str, float]:
    """The values of `tts/data/weights/NAME.yaml`."""
    return {key: row.value for key, row in weights_file(name).weights.items()}
