"""What the doctor says: one thing that was looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "missing", "problem", "off"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `cost` says what is lost without it, `mend` what to do about it."""

    what: str
    state: State
    detail: str = ""
    cost: str = ""
    mend: str = ""


BUILD = "run `geotts data build`; `geotts locate` and `geotts serve` build it by themselves"
"""How missing data comes to be there."""
