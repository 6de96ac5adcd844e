"""GeoReasoner: locatability from area shares, with the weights that serve."""

from __future__ import annotations

import numpy as np

from deployments.conformance.corpus import Corpus, Row
from deployments.conformance.judged import Judged, compared
from tts.rewards.geo_adapt import visual_locatability
from tts.routing.segmentation import class_weights


async def judge(row: Row, corpus: Corpus) -> Judged:
    _, weights = class_weights()
    shares = np.zeros(len(weights))
    for number, share in row["input"].items():
        shares[int(number)] = share
    return compared(value=(row["value"], float(visual_locatability(shares.tolist(), weights.tolist()))))
