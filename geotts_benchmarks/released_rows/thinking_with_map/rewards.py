"""Thinking with Map: what its scorer reads out of an output, and the reward."""

from __future__ import annotations

from geotts_benchmarks.released_rows.corpus import Corpus, Row
from geotts_benchmarks.released_rows.corpus_spelling import to_corpus_spelling
from geotts_benchmarks.released_rows.row_result import RowResult, compare_pairs
from tts.rewards.released.thinking_with_map_reward import read_answer, score


async def judge(row: Row, corpus: Corpus) -> RowResult:
    """Compare what is read in the solution, the reward, and the accuracy within each distance."""
    scored = score(read_answer(row["solution"]), row["ground_truth"])
    return compare_pairs(
        parsed=(row["parsed"], to_corpus_spelling(scored.reading._asdict())),
        reward=(row["reward"], scored.score),
        acc=(row["acc"], dict(scored.within)),
    )
