"""One model of several that share the rollouts of a request."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tts.config.engines import Engine
from tts.domain.plan import Limits
from tts.domain.value import Value


class EngineShare(Value):
    """An engine with its part of every request. The engine's own price counts what it costs."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$")] = Field(
        description="name of this source in answers, and in the file of verifier.sources"
    )
    engine: Engine = Field(description="engine of this part")
    share: Annotated[float, Field(gt=0, le=1000, allow_inf_nan=False)] = Field(
        default=1.0, description="part of the rollouts for this engine, in proportion to the other shares"
    )
    dialect: str | None = Field(
        default=None, description="dialect of this engine. Default: `dialect` of the configuration"
    )
    limits: Limits = Field(
        default=Limits(),
        description="limits of one rollout of this engine; they can only lower the limits of the request",
    )

    def limits_within(self, limits: Limits) -> Limits:
        """The limits of a rollout, reduced to the limits of this entry.

        Args:
            limits: those of one rollout by the plan of the request.

        Returns:
            For each limit that this entry sets, the smaller value; the others are those of `limits`.
        """
        own = {name: getattr(self.limits, name) for name in self.limits.model_fields_set}
        return limits.tighten(limits.model_copy(update=own))
