"""Panels: the answers of several systems to one photo, in the form of the rollouts of one request.

Published logs hold one answer a photo and system. Joined on `index` over the photos that all files have, and shuffled
per photo with a fixed seed, they are what a verifier sees of N rollouts without tools: positions and names, no system,
no style, no order that says anything.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tts.domain.answer import StopReason
from tts.domain.geo import LatLon
from tts.domain.hypothesis import Hypothesis
from tts.domain.trajectory import Trajectory
from tts.errors import DataError
from tts.eval.answer_parsers import ParserName
from tts.eval.fields import StatedPlace, answer_of, truth_of
from tts.eval.rows import Row, read_rows
from tts.eval.score import place_of_answer


@dataclass(frozen=True, slots=True)
class Panel:
    """One photo's true place and the rollouts about it. `guesses` holds the same answers in the order of the files,
    `sources` the number of the file that each rollout comes from (only `--sources named` may look at it)."""

    key: str
    truth: LatLon
    trajectories: tuple[Trajectory, ...]
    guesses: tuple[LatLon | None, ...]
    sources: tuple[int, ...]


def panels_from_logs(folder: Path, *, parser: ParserName = "paper", seed: int = 0) -> tuple[list[str], list[Panel]]:
    """The names of the files, and a panel for every photo that is in all of them, ordered by index.

    Raises:
        DataError: when the folder holds fewer than two logs, or they have no photo in common.
    """
    files = sorted(folder.glob("*.jsonl"))
    if len(files) < 2:
        raise DataError(f"{folder} holds {len(files)} logs; a panel needs two or more *.jsonl files")
    logs = [{str(row["index"]): row for row in read_rows(path) if "index" in row} for path in files]
    shared = sorted(set(logs[0]).intersection(*logs[1:]), key=lambda index: (len(index), index))
    if not shared:
        raise DataError(f"the logs in {folder} have no `index` in common")
    return [path.stem for path in files], [
        _panel(index, [log[index] for log in logs], parser, seed) for index in shared
    ]


def _panel(index: str, rows: Sequence[Row], parser: ParserName, seed: int) -> Panel:
    truth = truth_of(rows[0], f"photo {index}").point
    assert truth is not None  # truth_of refuses rows without a position
    guesses = [place_of_answer(answer_of(row, f"photo {index}"), parser) for row in rows]
    order = list(range(len(guesses)))
    random.Random(f"{seed}/{index}").shuffle(order)
    trajectories = tuple(_trajectory(number, guesses[source]) for number, source in enumerate(order))
    points = tuple(place.point if place is not None else None for place in guesses)
    return Panel(index, truth, trajectories, points, tuple(order))


def _trajectory(number: int, place: StatedPlace | None) -> Trajectory:
    answer = None
    if place is not None and place.point is not None:
        answer = Hypothesis(point=place.point, country=place.country, city=place.city)
    return Trajectory(rollout_id=number, stop_reason=StopReason.ANSWERED, answer=answer)
