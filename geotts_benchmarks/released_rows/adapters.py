"""Which adapter judges which file of which system.

An adapter turns a row into a call of the code that serves and compares what comes out. Adding one is one module with a
`judge` and one entry here. A system or file without an adapter differs in every row.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from geotts_benchmarks.released_rows import readers
from geotts_benchmarks.released_rows.corpus import READERS, SAMPLING, Corpus, Row
from geotts_benchmarks.released_rows.geoagent import rewards as geoagent_rewards
from geotts_benchmarks.released_rows.geoagent import tools as geoagent_tools
from geotts_benchmarks.released_rows.geoagent import turns as geoagent_turns
from geotts_benchmarks.released_rows.georeasoner import rewards as georeasoner_rewards
from geotts_benchmarks.released_rows.geovista import rewards as geovista_rewards
from geotts_benchmarks.released_rows.geovista import tools as geovista_tools
from geotts_benchmarks.released_rows.geovista import turns as geovista_turns
from geotts_benchmarks.released_rows.reverse import rewards as reverse_rewards
from geotts_benchmarks.released_rows.reverse import tools as reverse_tools
from geotts_benchmarks.released_rows.reverse import turns as reverse_turns
from geotts_benchmarks.released_rows.row_result import RowResult, differing_row
from geotts_benchmarks.released_rows.sampling import judge as sampling
from geotts_benchmarks.released_rows.thinking_with_map import rewards as thinking_with_map_rewards
from geotts_benchmarks.released_rows.thinking_with_map import tools as thinking_with_map_tools
from geotts_benchmarks.released_rows.thinking_with_map import turns as thinking_with_map_turns
from tts.errors import GeoTTSError, RolloutError, boundary

Judge = Callable[[Row, Corpus], Awaitable[RowResult]]
"""Judges one row. What it raises counts as a difference."""

ADAPTERS: Mapping[tuple[str, str], Judge] = {
    ("", READERS): readers.judge,
    ("geoagent", "rewards"): geoagent_rewards.judge,
    ("geoagent", "tools"): geoagent_tools.judge,
    ("geoagent", "turns"): geoagent_turns.judge,
    ("georeasoner", "rewards"): georeasoner_rewards.judge,
    ("geovista", "rewards"): geovista_rewards.judge,
    ("geovista", "tools"): geovista_tools.judge,
    ("geovista", "turns"): geovista_turns.judge,
    ("reverse", "rewards"): reverse_rewards.judge,
    ("reverse", "tools"): reverse_tools.judge,
    ("reverse", "turns"): reverse_turns.judge,
    **{(system, SAMPLING): sampling.judge for system in ("geoagent", "geovista", "reverse", "thinking_with_map")},
    ("thinking_with_map", "rewards"): thinking_with_map_rewards.judge,
    ("thinking_with_map", "tools"): thinking_with_map_tools.judge,
    ("thinking_with_map", "turns"): thinking_with_map_turns.judge,
}
"""(system, file) → judge; the readers of `eval.jsonl` are ("", "readers")."""


async def judge_row(system: str, file: str, row: Row, corpus: Corpus) -> RowResult:
    """What the adapter says of the row."""
    judge = ADAPTERS.get((system, file))
    if judge is None:
        return differing_row(f"there is no adapter for {system or 'eval'}/{file}")
    try:
        with boundary(RolloutError, f"{system or 'eval'}/{file} {row['id']}"):
            return await judge(row, corpus)
    except GeoTTSError as error:
        return differing_row(f"{error.code}: {error.detail}")


__all__ = ["ADAPTERS", "READERS", "Judge", "judge_row"]
