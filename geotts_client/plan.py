"""How much work a request gets, and why."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from geotts_client.value import Value

MAX_DRAWS = 16
"""Most answers of a rollout, its own included."""


class Depth(StrEnum):
    """What the caller may ask for. `auto` lets the router choose a `PlanDepth`."""

    AUTO = "auto"
    DIRECT = "direct"
    STANDARD = "standard"
    DEEP = "deep"


class PlanDepth(StrEnum):
    """direct: 1 rollout, no tools, 1 turn. standard: few rollouts and turns. deep: all. hopeless: 1 rollout."""

    DIRECT = "direct"
    STANDARD = "standard"
    DEEP = "deep"
    HOPELESS = "hopeless"


class Limits(Value):
    """Budgets of one rollout. Effective limits are the minimum of request, plan and dialect."""

    max_turns: Annotated[int, Field(ge=1, le=64)] = Field(
        default=8, description="most turns of a rollout: generations, and the tool calls between them"
    )
    max_tool_calls: Annotated[int, Field(ge=0, le=256)] = Field(default=16, description="most tool calls of a rollout")
    max_tokens: Annotated[int, Field(ge=16)] = Field(
        default=16384, description="most tokens that a rollout generates, all its turns together"
    )
    max_cost_usd: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = Field(
        default=None,
        description="most US dollars; a plan divides those of the configuration among the rollouts; null: no limit",
    )
    answer_draws: Annotated[int, Field(ge=1, le=MAX_DRAWS)] | None = Field(
        default=None,
        description="how many answers a rollout draws from the same conversation; null or 1: one",
    )

    def tighten(self, other: Limits) -> Limits:
        """Combine two sets of limits.

        Args:
            other: the limits that hold too, such as those of the dialect.

        Returns:
            The smaller value of each limit; None where neither has one.
        """
        pairs = {name: (getattr(self, name), getattr(other, name)) for name in Limits.model_fields}
        return Limits(**{name: min((v for v in pair if v is not None), default=None) for name, pair in pairs.items()})


class Locatability(Value):
    """How easily a photo can be located."""

    score: Annotated[float, Field(ge=0, le=1)] = Field(description="0 to 1; 1 is the easiest")
    method: str = Field(
        description="how the score was made: `cues` (what was read and seen), `visual` (segmentation), `probe` (the "
        "model was asked), `fixed` (configured), `leader` (not rated: rollouts began without it)",
    )
    parts: dict[str, float] = Field(
        default={},
        description="the parts of the rating by name, such as `text`, `content`, `visual` and `deep` (probability "
        "that tools help); most are 0 to 1",
    )
    why: str = Field(
        default="", description="the reasons, in one sentence for a person; empty with `gateway.max_precision`"
    )


class Plan(Value):
    """What the router decided about the depth and the number of rollouts."""

    depth: PlanDepth = Field(description="amount of work that was chosen")
    n_asked: Annotated[int, Field(ge=1, le=32)] = Field(
        description="number of rollouts that the caller asked for, or that followed from the budget"
    )
    n_planned: Annotated[int, Field(ge=1, le=32)] = Field(description="number of rollouts that this plan starts")
    limits: Limits = Field(default=Limits(), description="limits of each rollout")
    use_tools: bool = Field(default=True, description="false: the rollouts may call no tools")
    reason: str = Field(default="", description="why this depth was chosen, in a few words")
    summary: str = Field(default="", description="what was decided and why, in one sentence for people")
    predicted_cost: dict[str, float] = Field(
        default={},
        description="expected rollouts, turns, tool_calls, completion_tokens, and cost_usd if the model has a price; "
        "all rollouts together",
    )
