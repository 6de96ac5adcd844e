"""GeoVista: levels by rule and by judge, and the sizes of its pictures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from geotts_benchmarks.released_rows.corpus import Corpus, Row
from geotts_benchmarks.released_rows.row_result import RowResult, compare_pairs, differing_row
from tts.rewards.released.geovista_reward import Levels, distance_km, names_by_judge, names_by_rule
from tts.rewards.released.picture_sizes import smart_resize


async def judge(row: Row, corpus: Corpus) -> RowResult:
    """Compare what the row's `kind` names: levels, picture size or distance in km; an unknown kind differs."""
    given = row["input"]
    match row["kind"]:
        case "names_by_rule":
            return compare_pairs(value=(row["value"], levels(names_by_rule(given["text"], given["gold"]))))
        case "names_by_judge":
            return compare_pairs(value=(row["value"], levels(names_by_judge(given["judge_says"]))))
        case "smart_resize":
            return compare_pairs(value=(row["value"], list(smart_resize(given["height"], given["width"]))))
        case "distance":
            return compare_pairs(value=(row["value"], distance_km(*_points(given))))
    return differing_row(f"unknown kind {row['kind']}")


def _points(given: Row) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The two points of a row: objects, or numbers with 1 and 2 behind their names."""
    objects = [value for value in given.values() if isinstance(value, Mapping)]
    if len(objects) == 2:
        return objects[0], objects[1]
    first, second = ({key[:-1]: given[key] for key in given if key.endswith(number)} for number in "12")
    return first, second


def levels(found: Levels) -> dict[str, JsonValue]:
    """The three answers under the names of the released scorer."""
    return {f"{name}_correct": right for name, right in found._asdict().items()}
