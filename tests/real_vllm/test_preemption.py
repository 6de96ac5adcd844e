"""A KV cache that is too small for what runs: vLLM puts turns back, and their usage says how many tokens that took."""

import pytest
from support.basics import a_context

from tts.aio import closing, run_all
from tts.config import VllmEngine
from tts.domain.messages import text_message
from tts.domain.usage import Usage
from tts.inference.vllm.engine import VllmModel
from tts.ports.model_client import ModelRequest, Sampling

pytestmark = pytest.mark.timeout(420)
BLOCKS = 12
BLOCK = 128
TOKENS = 500  # each of four generations writes so many: together more than the cache holds


async def test_preempted_turns_end_and_their_usage_counts_the_preempted_tokens(tiny_qwen25, tiny_args):
    small = {"max_model_len": 1024, "extra": {"num_gpu_blocks_override": BLOCKS}}
    model = VllmModel(VllmEngine(model=str(tiny_qwen25), **(tiny_args | small)))
    used: dict[int, Usage] = {}

    async def generate(i):
        request = ModelRequest(
            context=a_context(120),
            session_id=f"loc_small/{i}",
            messages=(text_message("user", f"{i} " * 40),),
            sampling=Sampling(temperature=0.8, seed=i, max_tokens=TOKENS),
        )
        async with closing(model.generate(request)) as deltas:
            async for delta in deltas:
                used[i] = delta.usage or used.get(i, Usage())

    try:
        assert model.kv_tokens is not None
        assert BLOCK * (BLOCKS - 1) <= model.kv_tokens <= BLOCK * BLOCKS
        await run_all([generate(i) for i in range(4)])
        assert model.stats.preempted > 0
        assert sum(used.values(), Usage()).preempted_tokens > 0
        assert model.stats.recomputed_tokens > 0
        assert all(one.completion_tokens > 0 for one in used.values())
    finally:
        model.close()
