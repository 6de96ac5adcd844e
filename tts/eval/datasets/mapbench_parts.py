"""MAPBench's easy and hard parts from zero-shot outputs (Thinking with Map, section 4).

A photo is easy when models that answer without tools find it; the published parts were made so, from runs that are not
all published. Here a photo is easy when enough of the given logs come within a distance of its true position.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from tts.domain.geo import distance_km
from tts.errors import DataError
from tts.eval.answer_parsers import ParserName
from tts.eval.fields import answer_of, truth_of
from tts.eval.rows import read_rows
from tts.eval.score import place_of_answer

Part = Literal["easy", "hard"]


def parts_from_logs(
    logs: Sequence[Path], *, within_km: float = 10.0, hits: int | None = None, parser: ParserName = "paper"
) -> dict[str, Part]:
    """The part of each photo that all logs have, by `index`.

    `hits`: how many logs must come within `within_km` for a photo to be easy; None: more than half of them. Distances
    are taken as the numbers are written: truths and answers of these logs are both close to what a map of China shows.

    Raises:
        DataError: a log has no `index`, no truth or no answer, or no photo is in all of them.
    """
    needed = len(logs) // 2 + 1 if hits is None else hits
    seen: Counter[str] = Counter()
    near: Counter[str] = Counter()
    for log in logs:
        for number, row in enumerate(read_rows(log), 1):
            where = f"{log}, row {number}"
            if "index" not in row:
                raise DataError(f"{where} has no `index`, by which logs are joined")
            index = str(row["index"])
            guess, true = place_of_answer(answer_of(row, where), parser), truth_of(row, where).point
            seen[index] += 1
            if guess is not None and guess.point is not None and true is not None:
                near[index] += distance_km(guess.point, true) < within_km
    common = [index for index, count in seen.items() if count == len(logs)]
    if not common:
        raise DataError("no photo is in all of the logs; are they of one data set?")
    return {index: "easy" if near[index] >= needed else "hard" for index in common}
