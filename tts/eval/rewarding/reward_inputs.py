"""The inputs of a reward besides the output: positions of names, similarity of names, a second reading, labels.

Models and services behind these are the user's; here they are tables, so that a reward can be taken twice and give the
same number. A reward whose part is missing is null, never 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from tts.domain.geo import LatLon
from tts.errors import DataError
from tts.eval.rows import read_rows
from tts.toolkit.reverse_cache.recorded_searches import ReverseCache

PAIR_SEPARATOR = " | "


@dataclass(frozen=True, slots=True)
class RewardInputs:
    """`geocoded`: answer as written → position (None: looked for and not found).

    `similarities`: "stated | true" → cosine, None when nobody compared names.
    `conclusions`: (sample, rollout) → what a second reader concluded at each of the three stages.
    `labels`: recorded searches with their labels, for REVERSE.
    """

    geocoded: Mapping[str, LatLon | None] = field(default_factory=dict)
    similarities: Mapping[str, float] | None = None
    conclusions: Mapping[tuple[str, int], tuple[str | None, ...]] = field(default_factory=dict)
    labels: ReverseCache | None = None


def read_positions(path: Path) -> dict[str, LatLon | None]:
    """A JSON object of answers and their [lat, lon] or null. Raises DataError when it is something else."""
    found: dict[str, LatLon | None] = {}
    for name, position in _read_object(path).items():
        try:
            found[name] = None if position is None else LatLon(lat=float(position[0]), lon=float(position[1]))
        except (TypeError, ValueError, IndexError) as error:
            raise DataError(f"{path}: the position of {name!r} is no [lat, lon] in degrees: {position!r}") from error
    return found


def read_similarities(path: Path) -> dict[str, float]:
    """A JSON object of "stated | true" and a cosine. Raises DataError when it is something else."""
    try:
        return {pair: float(value) for pair, value in _read_object(path).items()}
    except (TypeError, ValueError) as error:
        raise DataError(f"{path}: a similarity is no number: {error}") from error


def read_conclusions(path: Path) -> dict[tuple[str, int], tuple[str | None, ...]]:
    """Rows with `sample`, `rollout` (0 when absent) and three `conclusions`. Raises DataError naming a wrong row."""
    found: dict[tuple[str, int], tuple[str | None, ...]] = {}
    for number, row in enumerate(read_rows(path), 1):
        conclusions = row.get("conclusions")
        if "sample" not in row or not isinstance(conclusions, list) or len(conclusions) != 3:
            raise DataError(f"{path}, row {number} needs `sample` and a list of three `conclusions`")
        found[str(row["sample"]), int(row.get("rollout", 0))] = tuple(
            None if c is None else str(c) for c in conclusions
        )
    return found


def read_table_values(path: Path) -> dict[tuple[str, int], dict[str, Any]]:
    """Fields of rows by `sample` and `rollout` (0 when absent). Raises DataError naming a row without a sample."""
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for number, row in enumerate(read_rows(path), 1):
        if "sample" not in row:
            raise DataError(f"{path}, row {number} needs `sample`")
        found[str(row["sample"]), int(row.get("rollout", 0))] = row
    return found


def _read_object(path: Path) -> dict[str, Any]:
    try:
        tree = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise DataError(f"{path} is not JSON: {error}") from error
    if not isinstance(tree, dict):
        raise DataError(f"{path} is not a JSON object")
    return tree
