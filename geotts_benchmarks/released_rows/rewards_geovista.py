"""GeoVista: levels by rule and by judge, and the sizes of its pictures."""

from __future__ import annotations

from pydantic import JsonValue

from geotts_benchmarks.released_rows.corpus import Corpus, Row
from geotts_benchmarks.released_rows.judged import Judged, compared, differ
from tts.rewards.released.geovista import Levels, names_by_judge, names_by_rule
from tts.rewards.released.pixels import smart_resize
from tts.rewards.released.sphere import haversine_km


async def judge(row: Row, corpus: Corpus) -> Judged:
    """Compare what the row's `kind` names: levels, picture size or distance in km; an unknown kind differs."""
    given = row["input"]
    match row["kind"]:
        case "names_by_rule":
            return compared(value=(row["value"], levels(names_by_rule(given["text"], given["gold"]))))
        case "names_by_judge":
            return compared(value=(row["value"], levels(names_by_judge(given["judge_says"]))))
        case "smart_resize":
            return compared(value=(row["value"], list(smart_resize(given["height"], given["width"]))))
        case "distance":
            places = (float(given[key]) for key in ("lat1", "lon1", "lat2", "lon2"))
            return compared(value=(row["value"], haversine_km(*places)))
    return differ(f"unknown kind {row['kind']}")


def levels(found: Levels) -> dict[str, JsonValue]:
    """The three answers under the names of the released scorer."""
    return {f"{name}_correct": right for name, right in found._asdict().items()}
