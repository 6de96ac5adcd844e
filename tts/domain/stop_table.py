"""What stopping at a state of agreement loses, as recorded runs tell: a small table, fitted by `geotts calibrate-stop`.

The state of a request is a cell: how many witnesses agree, how many stand against them, whether somebody only guesses.
`loss` is the share of right answers that is lost when the others are stopped there; `worth` is what an answer gains on
average where all rollouts together name another place, by the witnesses behind that place.
"""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, NamedTuple

import yaml
from pydantic import Field

from tts.decision_weights import weights
from tts.domain.recorded_table import RecordedTable
from tts.domain.value import Value

MOST_VOTES = 3
MOST_AGAINST = 2
_UNSEEN_LOSS = 1.0
_UNSEEN_ROLLOUT = weights("watch")["stop_unseen_rollout"]
Share = Annotated[float, Field(ge=-1, le=1)]


class Band(StrEnum):
    """What is wanted: a town, a region, or a country."""

    TOWN = "town"
    REGION = "region"
    COUNTRY = "country"


def band_of(radius_km: float) -> Band:
    """What somebody wants who asks for this radius."""
    watch = weights("watch")
    if radius_km <= watch["town_km"]:
        return Band.TOWN
    return Band.REGION if radius_km < watch["region_km"] else Band.COUNTRY


class Cell(NamedTuple):
    """A state of agreement. `votes` up to 3 and `against` up to 2 stand for more; `guess` only while none agree."""

    votes: int
    against: int
    guess: bool


class CellLoss(Value):
    """What stopping in one cell lost on recorded runs, with `left` rollouts still to come, in `runs` looks at it."""

    votes: Annotated[int, Field(ge=0, le=MOST_VOTES)]
    against: Annotated[int, Field(ge=0, le=MOST_AGAINST)]
    guess: bool = False
    left: Annotated[int, Field(ge=1)]
    loss: Share
    runs: Annotated[int, Field(ge=1)]

    @property
    def cell(self) -> Cell:
        """The state it is about."""
        return Cell(self.votes, self.against, self.guess)


class BandTable(Value):
    """Everything about one band. `worth` is for one, two, and three or more witnesses; 1 where no run tells."""

    worth: tuple[Share, Share, Share]
    cells: tuple[CellLoss, ...]

    def loss(self, cell: Cell, remaining: int) -> float:
        """Share of right answers that stopping loses; of the nearest cell that recorded runs know, never of a better
        one, and more for more rollouts that are left. 1 for a state like which there is none."""
        for known in _similar_cells(cell):
            rows = [row for row in self.cells if row.cell == known]
            if rows:
                near = min(rows, key=lambda row: abs(row.left - remaining))
                more = max(0, remaining - near.left)
                return near.loss * (1.0 + more / near.left) + more * _UNSEEN_ROLLOUT
        return _UNSEEN_LOSS


class StopTable(RecordedTable):
    """The table of all bands, and where it is from."""

    bands: dict[Band, BandTable]

    def write(self, path: Path) -> None:
        """As YAML, one line for a cell."""
        lines = [self.heading("bands"), "bands:\n"]
        for band, table in self.bands.items():
            lines.append(f"  {band}:\n    worth: {list(table.worth)}\n    cells:\n")
            lines += [f"      - {_row_line(row)}\n" for row in table.cells]
        path.write_text("".join(lines), encoding="utf-8")


@lru_cache
def shipped_stop_table() -> StopTable:
    """`tts/data/stopping.yaml`."""
    text = files("tts").joinpath("data", "stopping.yaml").read_text("utf-8")
    return StopTable.model_validate(yaml.load(text, yaml.CSafeLoader))


def _similar_cells(cell: Cell) -> list[Cell]:
    """The cell, then cells with weaker agreement: fewer witnesses, or as many without the guess."""
    fewer = [Cell(votes, cell.against, False) for votes in range(cell.votes, 0, -1)]
    return [cell, *fewer]


def _row_line(row: CellLoss) -> str:
    return yaml.safe_dump(row.model_dump(), default_flow_style=True, sort_keys=False, width=200).strip()
