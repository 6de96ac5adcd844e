"""Thinking with Map: what its scorer reads out of an output, and the reward."""

from __future__ import annotations

from geotts_benchmarks.released_rows.corpus import Corpus, Row
from geotts_benchmarks.released_rows.corpus_spelling import spelled
from geotts_benchmarks.released_rows.row_result import RowResult, compared
from tts.rewards.released.thinking_with_map_reward import read_answer, score


async def judge(row: Row, corpus: Corpus) -> RowResult:
    """Compare what is read in the solution, the reward, and the accuracy within each distance."""
    scored = score(read_answer(row["solution"]), row["ground_truth"])
    return compared(
        parsed=(row["parsed"], spelled(scored.reading._asdict())),
        reward=(row["reward"], scored.score),
        acc=(row["acc"], dict(scored.within)),
    )
