"""Recorded rollouts for benchmarks: the answers of several systems to the same photos, one rollout for each system."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import click

from tts.dialects import DIALECTS
from tts.domain.answer import StopReason
from tts.domain.cues import Cues
from tts.domain.geo import LatLon, distance_km
from tts.domain.hypothesis import Hypothesis, Level
from tts.domain.kind_of_n import KindOfN
from tts.domain.trajectory import Trajectory, Turn
from tts.eval.fields import answer_of, truth_of
from tts.eval.rows import read_rows
from tts.eval.score import place_of_answer
from tts.verify.evidence.world import World
from tts.verify.verifiers.consensus import judge

KIND_OF_LOGS = f"{KindOfN.MIXTURE}, recorded without tools, one answer of each"


@dataclass(slots=True)
class RecordedPhoto:
    """What each rollout answered, and the truth. Verdicts of sets of rollouts are worked out once."""

    truth: LatLon
    answers: tuple[Hypothesis | None, ...]
    cues: tuple[Cues, ...]
    _errors: dict[frozenset[int], float | None] = field(default_factory=dict)

    def trajectory(self, i: int) -> Trajectory:
        """Rollout `i` as a trajectory of one finished turn without tool calls."""
        first = Turn(index=0, finished=True, cues=self.cues[i])
        return Trajectory(rollout_id=i, answer=self.answers[i], stop_reason=StopReason.ANSWERED, turns=(first,))

    def error_km(self, rollouts: frozenset[int], world: World) -> float | None:
        """Error of the consensus over these rollouts; None when it has no point."""
        if rollouts not in self._errors:
            judgement = judge([self.trajectory(i) for i in sorted(rollouts)], [], world)
            centre = judgement.clusters[0].centre if judgement.clusters else None
            self._errors[rollouts] = None if centre is None else distance_km(centre, self.truth)
        return self._errors[rollouts]


def recorded_photos(folder: Path) -> list[RecordedPhoto]:
    """Photos that every log of the folder has, read with the parser of the published tables."""
    files = sorted(folder.glob("*.jsonl"))
    if len(files) < 2:
        raise click.BadParameter(f"{folder} has no two logs (*.jsonl)", param_hint="--logs")
    tables = [{row["index"]: row for row in read_rows(file)} for file in files]
    shared = sorted(set.intersection(*(set(table) for table in tables)))
    photos = []
    for index in shared:
        truth = truth_of(tables[0][index], f"{files[0]}, {index}").point
        answers = tuple(
            _stated_answer(table[index], f"{file}, {index}") for file, table in zip(files, tables, strict=True)
        )
        if truth is not None:
            cues = (_read_cues(table[index], answer) for table, answer in zip(tables, answers, strict=True))
            photos.append(RecordedPhoto(truth, answers, tuple(cues)))
    return photos


def _read_cues(row: dict[str, object], answer: Hypothesis | None) -> Cues:
    """What the text says it goes by, as the `generic` dialect reads it; a recorded answer is one turn."""
    level = Level.NONE if answer is None else Level.CITY
    return DIALECTS["generic"].cues(str(row.get("solution_str", ""))).model_copy(update={"level": level})


def _stated_answer(row: dict[str, object], where: str) -> Hypothesis | None:
    place = place_of_answer(answer_of(row, where), "paper")
    if place is None or place.point is None:
        return None
    return Hypothesis(point=place.point, city=place.city, country=place.country)
