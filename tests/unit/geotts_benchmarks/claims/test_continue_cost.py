"""A continued run gives the answer of a fresh one that gets the same additions, with at most 60 % of its tool calls."""

import pytest

from deployments.config import AppArgs
from geotts_benchmarks.claims.continue_cost import SCRIPTED, compare_scenes
from tts.eval.scenes.generate import SceneMaker

pytestmark = pytest.mark.slow
MOST = 0.6


@pytest.mark.parametrize("args", [AppArgs(), AppArgs(engine=SCRIPTED)], ids=["embedded", "scripted"])
async def test_a_continued_request_gives_the_same_answer_with_fewer_calls(args, data_store):
    rows = await compare_scenes(args, SceneMaker(seed=0, split="held_out"), scenes=2, n=2)
    assert rows
    assert all(row.same for row in rows)
    assert sum(row.fresh for row in rows) > 0
    assert sum(row.continued for row in rows) <= MOST * sum(row.fresh for row in rows)
