"""Settings of the verifier, which weighs the trajectories."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from tts.config.engines import Engine
from tts.config.units import Seconds
from tts.domain.picture_rules import ResizeRule
from tts.domain.request import MAX_QUESTIONS
from tts.domain.value import Value
from tts.extensions import Registry
from tts.ports.verification import Verifier

WHO_MAY_ASK = "verifier.kind consensus, or kind model with a mode other than trajectories"
# Verifiers of other packages. The second argument is the `PipelineConfig`, which contains the settings below.
VERIFIERS: Registry[Callable[[Verifier, Any], Verifier]] = Registry("geotts.verifiers")


def _check_verifier_kind(name: str) -> str:
    if name not in (kinds := ("consensus", "model", *VERIFIERS)):
        raise ValueError(f"there is no verifier {name!r}; there are: {', '.join(kinds)}")
    return name


class ConsistencyConfig(Value):
    """A second reader of the reasoning (GeoAgent). λ and μ of its length damping are unpublished, hence settings."""

    engine: Engine | None = Field(
        default=None, description="engine of the second reader. Default: that of the rollouts"
    )
    weight: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.3, description="share of the confidence that is lost if the second reader does not agree at all"
    )
    steepness: Annotated[float, Field(gt=0)] = Field(default=0.05, description="λ of the length damping, per word")
    mu_words: Annotated[float, Field(ge=0)] = Field(
        default=60.0, description="μ of the length damping: number of words at which the agreement counts half"
    )
    max_rollouts: Annotated[int, Field(ge=1, le=32)] = Field(
        default=4, description="most rollouts of one request whose reasoning is read"
    )
    timeout_s: Seconds = Field(
        default=10.0,
        description="seconds for the second reader in one request, and at most half of the time that is left",
    )


class VerifierConfig(Value):
    """consensus: ledgers and weighted votes. model: a model weighs the evidence first, the ledgers check it.

    Mode `trajectories` is the published verifier: the task, the photo and whole trajectories, a free answer. No rollout
    is stopped early for it.
    """

    kind: Annotated[str, AfterValidator(_check_verifier_kind)] = Field(
        default="consensus",
        description="consensus: ledgers and weighted votes; model: a model weighs the evidence, and the ledgers check "
        "it; or the name of a verifier of another package",
    )
    mode: Literal["select", "synthesise", "self_verify", "trajectories"] = Field(
        default="select",
        description="what the verifier model is asked. select: which candidate is best; synthesise: the same, and it "
        "may improve the point; self_verify: for each candidate, whether its evidence is enough; trajectories: a free "
        "answer about whole trajectories",
    )
    veto: bool = Field(
        default=True, description="whether the ledgers may reject the model's answer, in mode trajectories"
    )
    trajectory_tokens: Annotated[int, Field(ge=500)] = Field(
        default=24000,
        description="most tokens of all trajectories together, in mode trajectories; above this number, the oldest "
        "tool results are cut",
    )
    thinks: bool | None = Field(
        default=None,
        description="whether the model thinks before it answers; no grammar constrains its output then. Default: "
        "`thinks` of its engine, or else decided by the name of the model",
    )
    engine: Engine | None = Field(
        default=None, description="engine of the verifier model. Default: that of the rollouts"
    )
    lora: str | None = Field(default=None, description="LoRA adapter of the verifier model")
    evidence_tokens: Annotated[int, Field(ge=200)] = Field(
        default=3000, description="most tokens of evidence in one prompt of the verifier model"
    )
    max_tokens: Annotated[int, Field(ge=64)] = Field(
        default=1024, description="most tokens in one reply of the verifier model"
    )
    tournament_above: Annotated[int, Field(ge=2, le=32)] = Field(
        default=8, description="most candidates in one prompt; if there are more, groups of four are judged first"
    )
    show_photo: bool = Field(default=True, description="whether the verifier model gets the photo")
    photo_rule: ResizeRule | None = Field(
        default=None, description="how the photo is scaled in mode trajectories. Default: as in the published verifier"
    )
    sources: Path | None = Field(
        default=None,
        description="with several engines: file that `geotts calibrate --sources` wrote, with the reliability of each. "
        "Default: all count the same",
    )
    questions: Annotated[int, Field(ge=0, le=MAX_QUESTIONS)] = Field(
        default=0,
        description="tool calls that the verifier may make to decide between the leading places, if the request does "
        "not say; 0: none",
    )
    max_questions: Annotated[int, Field(ge=0, le=MAX_QUESTIONS)] = Field(
        default=8, description="most tool calls of the verifier that a request may ask for"
    )
    consistency: ConsistencyConfig | None = Field(
        default=None,
        description="second reader, a model that reads only the reasoning; if it disagrees, the confidence is lowered. "
        "Default: no second reader",
    )
    calibration: Path | None = Field(
        default=None,
        description="file that `geotts calibrate` wrote. Default: the one that `geotts accept` installed, else the "
        "shipped one",
    )

    @model_validator(mode="after")
    def _check_questions(self) -> VerifierConfig:
        if self.questions > self.max_questions:
            raise ValueError(
                f"verifier.questions is {self.questions}, more than verifier.max_questions ({self.max_questions})"
            )
        if self.questions and not self.may_ask:
            raise ValueError(f"verifier.questions needs {WHO_MAY_ASK}")
        return self

    @property
    def reads_trajectories(self) -> bool:
        """Whether this verifier reads the trajectories of all rollouts, so that none should be stopped early."""
        return self.kind == "model" and self.mode == "trajectories"

    @property
    def may_ask(self) -> bool:
        """Whether this verifier can make tool calls of its own before it decides."""
        return self.kind in ("consensus", "model") and self.mode != "trajectories"
