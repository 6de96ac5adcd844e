"""How long the service keeps cases."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tts.domain.value import Value


class CasesConfig(Value):
    """A case keeps its photos and answers longer than `gateway.retention_s`, until it is erased or its time is over."""

    retention_days: Annotated[float, Field(ge=0, le=3650, allow_inf_nan=False)] = Field(
        default=30.0, description="days from the last change of a case until it is erased; 0: there are no cases"
    )

    @property
    def retention_s(self) -> float:
        """The same in seconds."""
        return self.retention_days * 86400.0
