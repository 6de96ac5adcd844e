"""GeoReasoner: locatability from area shares, with the weights that serve."""

from __future__ import annotations

import numpy as np

from geotts_benchmarks.released_rows.corpus import Corpus, Row
from geotts_benchmarks.released_rows.row_result import RowResult, compare_pairs
from tts.rewards.papers.geo_adapt_reward import visual_locatability
from tts.routing.segmentation import class_weights


async def judge(row: Row, corpus: Corpus) -> RowResult:
    """Compare the locatability; the row gives area shares by class number, other classes have none."""
    _, weights = class_weights()
    shares = np.zeros(len(weights))
    for number, share in row["input"].items():
        shares[int(number)] = share
    return compare_pairs(value=(row["value"], float(visual_locatability(shares.tolist(), weights.tolist()))))
