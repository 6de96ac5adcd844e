"""Published results, as their papers print them (`tts/data/published.json`): percent at thresholds in km."""

from __future__ import annotations

import importlib.resources
from functools import lru_cache

import orjson
from pydantic import Field

from tts.domain.value import Value


class PublishedRow(Value):
    """One system on one benchmark. `comparable` is false where the protocol saw the truth; `why` says how."""

    system: str
    benchmark: str
    thresholds_km: tuple[float, ...]
    acc_percent: tuple[float, ...]
    source: str = Field(description="paper and table")
    geoscore: float | None = None
    comparable: bool = True
    why: str = ""


@lru_cache(maxsize=1)
def published_rows() -> tuple[PublishedRow, ...]:
    """All rows, in the order of their papers."""
    text = importlib.resources.files("tts").joinpath("data/published.json").read_bytes()
    tree = orjson.loads(text)
    sources, scales = tree["sources"], tree["thresholds_km"]
    return tuple(
        PublishedRow(**{**row, "source": sources[row["source"]], "thresholds_km": scales[row["thresholds_km"]]})
        for row in tree["rows"]
    )


def published_for(benchmark: str) -> tuple[PublishedRow, ...]:
    """The rows of one benchmark; empty when nothing was published for it."""
    return tuple(row for row in published_rows() if row.benchmark == benchmark)
