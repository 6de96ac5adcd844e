"""Settings of the verifier, which weighs the trajectories."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from tts.config.engines import Engine
from tts.config.units import Seconds
from tts.domain.picture_rules import ResizeRule
from tts.domain.request import MAX_QUESTIONS
from tts.domain.value import Value
from tts.extensions import Registry

WHO_MAY_ASK = "verifier.kind consensus, or kind model with another mode than trajectories"
_ADDED: Registry[object] = Registry("geotts.verifiers")


def _verifier_kind(name: str) -> str:
    if name not in (kinds := ("consensus", "model", *_ADDED)):
        raise ValueError(f"there is no verifier {name!r}; there are: {', '.join(kinds)}")
    return name


class ConsistencyConfig(Value):
    """A second reader of the reasoning (GeoAgent). λ and μ of its length damping are unpublished, hence settings."""

    engine: Engine | None = Field(default=None, description="of the second reader; the rollouts' when absent")
    weight: Annotated[float, Field(ge=0, le=1)] = Field(default=0.3, description="confidence at stake")
    steepness: Annotated[float, Field(gt=0)] = Field(default=0.05, description="λ, per word")
    mu_words: Annotated[float, Field(ge=0)] = Field(default=60.0, description="μ: words at which half counts")
    max_rollouts: Annotated[int, Field(ge=1, le=32)] = 4
    timeout_s: Seconds = 10.0


class VerifierConfig(Value):
    """consensus: ledgers and weighted votes. model: a model weighs the evidence first, the ledgers check it.

    Mode `trajectories` is the published verifier: the task, the photo and whole trajectories, a free answer. No rollout
    is stopped early for it.
    """

    kind: Annotated[str, AfterValidator(_verifier_kind)] = Field(
        default="consensus", description="consensus, model, or a verifier of another package"
    )
    mode: Literal["select", "synthesise", "self_verify", "trajectories"] = "select"
    veto: bool = Field(default=True, description="of mode trajectories: the ledgers may set the answer aside")
    trajectory_tokens: Annotated[int, Field(ge=500)] = Field(
        default=24000, description="of mode trajectories: beyond this the oldest tool results are cut"
    )
    thinks: bool | None = Field(
        default=None, description="the model thinks before it answers, so no grammar binds it; by its name when absent"
    )
    engine: Engine | None = Field(default=None, description="of the verifier model; the rollouts' when absent")
    lora: str | None = Field(default=None, description="adapter of the verifier model")
    evidence_tokens: Annotated[int, Field(ge=200)] = 3000
    max_tokens: Annotated[int, Field(ge=64)] = 1024
    tournament_above: Annotated[int, Field(ge=2, le=32)] = Field(
        default=8, description="more branches than this are judged in heats"
    )
    show_photo: bool = True
    photo_rule: ResizeRule | None = Field(
        default=None, description="of mode trajectories: how the photo is scaled; as published when absent"
    )
    sources: Path | None = Field(
        default=None,
        description="of several engines: a file of `geotts calibrate --sources` that says how reliable each is; all "
        "count the same when absent",
    )
    questions: Annotated[int, Field(ge=0, le=MAX_QUESTIONS)] = Field(
        default=0,
        description="tool calls that the verifier may make itself to tell the leading places apart, of a request that "
        "does not say; 0: none",
    )
    max_questions: Annotated[int, Field(ge=0, le=MAX_QUESTIONS)] = Field(
        default=8, description="the most that a request may ask for"
    )
    consistency: ConsistencyConfig | None = Field(
        default=None, description="a second model reads the reasoning alone; where it disagrees, confidence is lowered"
    )
    calibration: Path | None = Field(
        default=None,
        description="a file of `geotts calibrate`; when absent the one that `geotts accept` installed, else what ships",
    )

    @model_validator(mode="after")
    def _questions_can_be_asked(self) -> VerifierConfig:
        if self.questions > self.max_questions:
            raise ValueError(
                f"verifier.questions is {self.questions}, more than verifier.max_questions ({self.max_questions})"
            )
        if self.questions and not self.may_ask:
            raise ValueError(f"verifier.questions needs {WHO_MAY_ASK}")
        return self

    @property
    def may_ask(self) -> bool:
        """Whether this verifier can make tool calls of its own before it decides."""
        return self.kind in ("consensus", "model") and self.mode != "trajectories"
