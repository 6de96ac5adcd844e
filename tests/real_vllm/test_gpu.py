"""On a CUDA device: `pytest -m gpu tests/real_vllm`. The shape of Qwen3-VL-4B with random weights, without Ray."""

import pytest

from geotts_benchmarks.real_vllm.engine_runs import engine
from geotts_benchmarks.real_vllm.gpu import measure
from geotts_benchmarks.real_vllm.prefix import compare
from geotts_benchmarks.real_vllm.random_weights import Shape
from tts.inference.vllm.seam import has_cuda

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not has_cuda(), reason="there is no CUDA device, or vLLM is not installed"),
]


def test_rollouts_share_prefix_and_pictures_and_come_near_a_plain_batch():
    by_n = measure([1, 4], turns=3, tokens=64, shape=Shape.QWEN3_VL_4B)["by_n"]
    assert set(by_n) == {"1", "4"}
    assert by_n["4"]["prefix_hit"] > by_n["1"]["prefix_hit"] > 0.3
    assert by_n["4"]["encoder_hit"] > 0.5
    assert by_n["4"]["tokens_per_s"] > by_n["1"]["tokens_per_s"]


async def test_nearly_all_tokens_that_could_be_cached_are_cached():
    with engine(Shape.TINY_QWEN3_VL, max_model_len=8192, max_running=16, gpu_memory=0.3) as model:
        found = await compare(model, n=4, turns=4, tokens=48, repeats=1)
    assert found["cached_share_of_ideal"] >= 0.95
