"""One output to reward: what a model wrote in one rollout, and the truth of its photo.

The outputs come from a run file (one for each rollout) or from a file of rows (one for each row, as in
`geotts eval score`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tts.domain.geo import LatLon
from tts.domain.trajectory import Trajectory, Turn
from tts.errors import DataError
from tts.eval.fields import answer_of, names_of, truth_of
from tts.eval.rows import Row, read_rows
from tts.eval.runs.record import Record, read_records

_RECORD_KEYS = frozenset({"schema_version", "sample", "truth", "options"})


@dataclass(frozen=True, slots=True)
class RewardedOutput:
    """`text` is the whole response, tool results included, as the released trainers decode it; `turns` has its parts.

    `names` holds the true `country`, `state` and `city`, those that are known. `given` is the row of a file of rows.
    """

    sample: str
    rollout: int
    text: str
    truth: LatLon | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    turns: tuple[Turn, ...] = ()
    photos: tuple[str, ...] = ()
    given: Mapping[str, Any] = field(default_factory=dict)

    def with_given(self, more: Mapping[str, Any]) -> RewardedOutput:
        """With further fields of a row; what its own row states stays."""
        return replace(self, given={**more, **self.given})

    @property
    def solution(self) -> str:
        """The true names between semicolons, as GeoAgent's data writes them."""
        stated = self.given.get("solution")
        if isinstance(stated, str):
            return stated
        return "; ".join(name for level in ("country", "state", "city") if (name := self.names.get(level)))


def outputs_of(path: Path) -> Iterator[RewardedOutput]:
    """The outputs of a run file or of a file of rows, told apart by the keys of the first row.

    Raises:
        DataError: when the file cannot be read or a row has no truth or no answer.
    """
    first = next(iter(read_rows(path)), None)
    if first is None:
        raise DataError(f"{path} has no rows")
    if first.keys() >= _RECORD_KEYS:
        for record in read_records(path):
            yield from _outputs_of_record(record)
        return
    for number, row in enumerate(read_rows(path)):
        yield _output_of_row(row, number, f"{path}, row {number + 1}")


def whole_text(trajectory: Trajectory) -> str:
    """Turns of one rollout and results that it got, in the form of a decoded training response."""
    pieces = []
    for turn in trajectory.turns:
        responses = "\n".join(f"<tool_response>\n{result.text}\n</tool_response>" for result in turn.results)
        pieces.append(f"{turn.text}user\n{responses}\nassistant\n" if responses else turn.text)
    return "".join(pieces)


def _outputs_of_record(record: Record) -> Iterator[RewardedOutput]:
    if record.run is None:
        return
    truth = record.truth
    names = {level: name for level, name in (("country", truth.country), ("city", truth.city)) if name}
    accepted = record.run.accepted
    photos = tuple(photo.sha256 for photo in accepted.photos) if accepted is not None else ()
    for trajectory in record.run.trajectories:
        text, turns = whole_text(trajectory), trajectory.turns
        yield RewardedOutput(record.sample, trajectory.rollout_id, text, truth.point, names, turns, photos)


def _output_of_row(row: Row, number: int, where: str) -> RewardedOutput:
    sample = str(row.get("id", row.get("index", number)))
    if "shares" in row:
        return RewardedOutput(sample, 0, "", given=row)
    answer = answer_of(row, where)
    if answer.text is None:
        raise DataError(f"{where} has a position and no text; rewards are given to what a model wrote")
    return RewardedOutput(sample, 0, answer.text, truth_of(row, where).point, names_of(row), given=row)
