"""Which model fits on which GPUs: golden plans, refusals that say what would fit, and the arithmetic behind them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deployments.sizing.gpu_plan import Gpus, plan_gpus
from deployments.sizing.model_shape import ModelShape, shape_of
from deployments.sizing.serving_plan import with_gpus
from tts.config import AppArgs, OpenAIEngine, VllmEngine, load_config
from tts.errors import ConfigError
from tts.shipped import config_files

FLAGSHIP = shape_of("GD-ML/Thinking-with-Map-30B-A3B", "Qwen/Qwen3-VL-30B-A3B-Instruct")
SMALL = shape_of("Qwen/Qwen3-VL-4B-Instruct")


def plan(shape, gpus, context, **options):
    return plan_gpus(shape, Gpus.parse(gpus, None), context_tokens=context, **options).lines()


def test_golden_plans():
    assert plan(FLAGSHIP, "8x80", 15000) == (
        "8 x 80 GB: 4 replicas of 2 GPUs",
        "73.8 GB for keys and values a replica: 50 requests of 15000 tokens, 50 run side by side",
    )
    assert plan(FLAGSHIP, "1x80", 15000) == (
        "1 x 80 GB: 1 replica of 1 GPU",
        "5.8 GB for keys and values a replica: 3 requests of 15000 tokens, 3 run side by side",
    )
    assert plan(FLAGSHIP, "1x80", 15000, fp8=True) == (
        "1 x 80 GB: 1 replica of 1 GPU",
        "weights in FP8, 36.9 GB for keys and values a replica: 25 requests of 15000 tokens, 25 run side by side",
    )
    assert plan(SMALL, "1x24", 16384) == (
        "1 x 24 GB: 1 replica of 1 GPU",
        "8.7 GB for keys and values a replica: 3 requests of 16384 tokens, 3 run side by side",
    )
    assert plan(SMALL, "3x80", 32768)[0] == "3 x 80 GB: 3 replicas of 1 GPU"


def test_a_refusal_says_what_would_fit():
    with pytest.raises(ConfigError, match=r"62.2 GB of weights.* 1 x 24 GB; what would fit: 4 such GPUs"):
        plan(FLAGSHIP, "1x24", 15000)
    with pytest.raises(ConfigError, match=r"FP8 weights on 1 GPU \(--fp8\) or a context of 28672 tokens"):
        plan(SMALL, "1x24", 32768)


@given(
    weights=st.floats(1, 200), count=st.integers(1, 8), memory=st.sampled_from([24, 48, 80, 141]),
    context=st.integers(2048, 131072),
)  # fmt: skip
def test_a_plan_never_takes_more_memory_than_there_is(weights, count, memory, context):
    shape = ModelShape(weights_gb=weights, layers=48, kv_heads=8, head_dim=128)
    try:
        made = plan_gpus(shape, Gpus(count=count, memory_gb=memory), context_tokens=context)
    except ConfigError:
        return
    assert made.replicas * made.tensor_parallel <= count
    keys = made.max_running * context * shape.kv_bytes_per_token / 1e9
    assert weights + keys <= made.tensor_parallel * memory * 0.9
    assert made.requests >= 2


def test_a_model_in_a_folder_is_measured_by_its_own_files(tmp_path):
    text = {"num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "hidden_size": 64}
    (tmp_path / "config.json").write_text(json.dumps({"text_config": {**text, "dtype": "bfloat16"}}))
    with pytest.raises(ConfigError, match="no safetensors"):
        shape_of(str(tmp_path))
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"metadata": {"total_size": 5_000_000_000}}))
    found = shape_of(str(tmp_path))
    assert (found.weights_gb, found.kv_bytes_per_token) == (5.0, 2 * 2 * 2 * 16 * 2)
    with pytest.raises(ConfigError, match="nothing is known of the size"):
        shape_of("somebody/unknown")


@pytest.mark.parametrize("text", ["0", "x80", "8x", "eight", "-1"])
def test_gpus_that_are_none_are_refused(text):
    with pytest.raises(ConfigError, match="--gpus"):
        Gpus.parse(text, 80.0)


def test_the_configuration_reserves_the_gpus_of_the_plan():
    args = AppArgs(engine=VllmEngine(model="Qwen/Qwen3-VL-30B-A3B-Instruct", max_model_len=15000))
    served, made = with_gpus(args, Gpus(count=8, memory_gb=80), base="", fp8=False)
    rollout = served.deployments.rollout
    assert (rollout.replicas, rollout.num_gpus, rollout.max_ongoing) == (4, 2.0, 50)
    assert (served.engine.tensor_parallel, served.engine.max_running) == (2, made.max_running)
    quantised, _ = with_gpus(args, Gpus(count=1, memory_gb=80), base="", fp8=True)
    assert quantised.engine.extra == {"quantization": "fp8"}
    with pytest.raises(ConfigError, match="leave out --endpoint"):
        with_gpus(AppArgs(engine=OpenAIEngine()), Gpus(count=1, memory_gb=80), base="", fp8=False)


def test_the_shipped_configuration_is_the_plan_for_eight_gpus():
    args = load_config(config_files()["thinking_with_map"])
    served, _ = with_gpus(args, Gpus(count=8, memory_gb=80), base="Qwen/Qwen3-VL-30B-A3B-Instruct", fp8=False)
    assert served.engine == args.engine
    assert served.deployments.rollout.model_copy(update={"drain_s": 180.0}) == args.deployments.rollout
