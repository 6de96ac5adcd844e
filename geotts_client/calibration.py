"""The calibration on which the radii and the confidence of an answer rest."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from geotts_client.kind_of_n import FittedKind
from geotts_client.value import Value


class CalibrationState(Value):
    """Whether radii and confidence were fitted to the engine that answered.

    If they were not, the radius is an estimate; show neither it nor the confidence as a percentage.
    """

    state: Literal["fitted", "transferred"] = Field(
        description="`fitted`: the calibration was fitted to recorded answers of this engine, with its dialect and "
        "tools. `transferred`: to other answers, or to none",
    )
    origin: str = Field(default="", description="one line: the answers that it was fitted to; empty if there are none")
    photos: Annotated[int, Field(ge=0)] = Field(default=0, description="number of photos of these answers")
    kind_of_n: FittedKind = Field(
        default=FittedKind.NOT_STATED,
        description="whether the rollouts of these answers were samples of one policy or of a mixture of models",
    )

    @property
    def remark(self) -> str:
        """A note for people about the radius; empty if the radius was fitted."""
        if self.state == "fitted":
            return ""
        return "the radius is an estimate (calibration: transferred); `geotts accept` fits it to this engine"
