"""How photos are rated, and what the rating decides."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from tts.domain.stop_policy import StopPolicy
from tts.domain.value import Value


def _stop_policy(text: str) -> str:
    StopPolicy.parse(text)
    return text


class RoutingConfig(Value):
    """How photos are rated, and when rollouts are stopped before they end."""

    method: Literal["leader", "cues", "fixed", "visual", "probe"] | None = Field(
        default=None, description="leader for an engine that sees pictures, cues for one that reads"
    )
    width: Literal["full", "careful"] = Field(
        default="full",
        description="of method leader under depth auto; careful: the others wait for the leader's first turn, one "
        "checks a leader that is sure, and the rest start unless it agrees",
    )
    segmentation_model: str | None = Field(
        default=None, description="MaskFormer ADE20K weights for `visual`, or beside `leader`"
    )
    depth_calibration: str | None = Field(default=None, description="file that `geotts calibrate-depth` wrote")
    fixed_score: Annotated[float, Field(ge=0, le=1)] = 0.5
    stop: Annotated[str, AfterValidator(_stop_policy)] = Field(
        default="loss:1.0",
        description="loss[:points] (points of accuracy that may be lost), none, quorum[:k], first:m, beta[:p], "
        "worth[:p] or a policy of another package; a request may name another",
    )
    stop_calibration: str | None = Field(
        default=None, description="file that `geotts calibrate-stop` wrote, for the policy loss"
    )
    budget_table: str | None = Field(
        default=None, description="file that `geotts plan --runs` wrote, for requests with a budget"
    )
    diverse_first_calls: bool | None = Field(
        default=None,
        description="rollouts begin with different tool calls (ADR 0049); by default only with engine clues, where "
        "they divide them. With others the leader names lines of enquiry in its first turn, and its siblings wait",
    )
    stragglers: Literal["wait", "cut", "hedge"] = "cut"

    @model_validator(mode="after")
    def _has_weights(self) -> RoutingConfig:
        if self.method == "visual" and self.segmentation_model is None:
            raise ValueError("method visual needs segmentation_model: a folder with MaskFormer ADE20K weights")
        return self
