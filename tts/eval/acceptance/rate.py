"""A rate: a count out of a total, with its interval."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import numpy.typing as npt
from pydantic import Field

from tts.domain.value import Value
from tts.eval.metrics.intervals import Interval, share_interval


class Rate(Value):
    """`found` of `of`. `percent` has the Wilson 95 % interval; None where nothing was counted."""

    found: Annotated[int, Field(ge=0)]
    of: Annotated[int, Field(ge=0)]
    percent: Interval | None

    @classmethod
    def from_cases(cls, cases: npt.NDArray[np.bool_] | list[bool]) -> Rate:
        """The rate of true cases."""
        column = np.asarray(cases, dtype=bool)
        percent = share_interval(column) if len(column) else None
        return cls(found=int(column.sum()), of=len(column), percent=percent)

    def is_above(self, percent: float) -> bool:
        """Whether the whole interval lies above `percent`."""
        return self.percent is not None and self.percent.low > percent

    def is_below(self, percent: float) -> bool:
        """Whether the whole interval lies below `percent`."""
        return self.percent is not None and self.percent.high < percent
