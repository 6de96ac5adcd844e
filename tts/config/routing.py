"""How photos are rated, and what the rating decides."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from tts.domain.stop_policy import StopPolicy
from tts.domain.value import Value


def _check_stop_policy(text: str) -> str:
    StopPolicy.parse(text)
    return text


class RoutingConfig(Value):
    """How photos are rated, and when rollouts are stopped before they end."""

    method: Literal["leader", "cues", "fixed", "visual", "probe"] | None = Field(
        default=None,
        description="how photos are rated. leader: while the first rollout, the leader, already runs; cues: by text "
        "and other features of the picture; visual: cues, and a segmentation model; probe: cues, and a question to the "
        "model; fixed: not rated. Default: leader if the engine sees pictures, else cues",
    )
    width: Literal["full", "careful"] = Field(
        default="full",
        description="when the other rollouts start, with method leader and depth auto. full: after the rating of the "
        "photo; careful: after the first turn of the leader. If the leader is sure, only one of them starts then, and "
        "the rest if that one disagrees",
    )
    segmentation_model: str | None = Field(
        default=None, description="MaskFormer weights for ADE20K; method visual needs them, method leader can use them"
    )
    depth_calibration: str | None = Field(
        default=None, description="file that `geotts calibrate-depth` wrote. Default: ratings are not calibrated"
    )
    fixed_score: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.5, description="score of every photo with method fixed: 0 (hard to locate) to 1 (easy)"
    )
    stop: Annotated[str, AfterValidator(_check_stop_policy)] = Field(
        default="loss:1.0",
        description="when rollouts are stopped, if the request names no policy. loss[:points]: at most that many "
        "percentage points of accuracy are lost; none: never; quorum[:k]: k rollouts agree; first:m: m rollouts have "
        "ended; beta[:p]: agreement has probability p; worth[:p]: as beta, and near answers agree in part; or the name "
        "of a policy of another package",
    )
    stop_calibration: str | None = Field(
        default=None, description="file that `geotts calibrate-stop` wrote, for policy loss. Default: the shipped table"
    )
    budget_table: str | None = Field(
        default=None,
        description="file that `geotts plan --runs` wrote, for requests with a budget. Default: a shipped table",
    )
    diverse_first_calls: bool | None = Field(
        default=None,
        description="whether rollouts begin with different tool calls (ADR 0049). Rollouts of engine clues divide "
        "their questions; with other engines, the leader names directions in its first turn, and its siblings wait for "
        "it. Default: true for engine clues only",
    )
    stragglers: Literal["wait", "cut", "hedge"] = Field(
        default="cut",
        description="what happens to a rollout that takes much longer than its siblings. wait: it goes on; cut: it is "
        "stopped; hedge: a new rollout starts beside it, and the first to end counts",
    )

    @model_validator(mode="after")
    def _check_weights(self) -> RoutingConfig:
        if self.method == "visual" and self.segmentation_model is None:
            raise ValueError("method visual needs segmentation_model: a folder with MaskFormer ADE20K weights")
        return self
