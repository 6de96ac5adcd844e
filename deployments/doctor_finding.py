"""A finding of the doctor: the result of one check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "missing", "problem", "off"]


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check. `cost` says what does not work without the part, `mend` says what to do."""

    what: str
    state: State
    detail: str = ""
    cost: str = ""
    mend: str = ""


BUILD = "run `geotts data build`; `geotts locate` and `geotts serve` build it by themselves"
"""How missing data comes to be there."""
