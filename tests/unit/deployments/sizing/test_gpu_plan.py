"""Which model fits on which GPUs: golden plans, refusals that say what would fit, and the arithmetic behind them."""

import json
from importlib.resources import files

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from deployments.config import AppArgs, load_config
from deployments.sizing.find_shape import shape_of
from deployments.sizing.gpu_plan import Gpus, plan_gpus
from deployments.sizing.local_gpus import found_gpus
from deployments.sizing.model_shape import ModelShape
from deployments.sizing.serving_plan import plan_lines, reserves_nothing, with_gpus
from tts.config import OpenAIEngine, VllmEngine
from tts.errors import ConfigError
from tts.package_files import config_files
from tts.profiles import load_profile

FLAGSHIP = shape_of("GD-ML/Thinking-with-Map-30B-A3B", load_profile("thinking_with_map"))
SMALL = shape_of("Qwen/Qwen3-VL-4B-Instruct")


def plan(shape, gpus, context, **options):
    return plan_gpus(shape, Gpus.parse(gpus, None), context_tokens=context, **options).lines()


def test_plans_for_known_models_and_gpus_equal_the_recorded_ones():
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


def of_heads(heads, kv_heads, weights_gb=16.6):
    return ModelShape(weights_gb=weights_gb, layers=28, heads=heads, kv_heads=kv_heads, head_dim=128)


@pytest.mark.parametrize(
    ("heads", "kv_heads", "wide"),
    [(32, 8, [1, 2, 4, 8]), (32, 4, [1, 2, 4, 8]), (28, 4, [1, 2, 4]), (14, 2, [1, 2]), (24, 24, [1, 2, 4, 8]),
     (40, 10, [1, 2]), (12, 3, [1]), (9, 3, [1]), (None, 6, [1, 2])],
)  # fmt: skip
def test_a_model_is_spread_only_over_gpus_among_which_its_heads_can_be_divided(heads, kv_heads, wide):
    assert [width for width in (1, 2, 4, 8) if of_heads(heads, kv_heads).divides_among(width)] == wide


def test_a_plan_splits_a_model_only_over_numbers_of_gpus_that_divide_its_heads():
    assert plan(of_heads(32, 8), "8x12", 30000)[0] == "8 x 12 GB: 1 replica of 8 GPUs"
    assert plan(of_heads(28, 4), "8x12", 30000)[0] == "8 x 12 GB: 2 replicas of 4 GPUs"
    assert plan(of_heads(14, 2, 10.0), "8x12", 30000)[0] == "8 x 12 GB: 4 replicas of 2 GPUs"


def test_a_refusal_because_of_heads_says_so_and_offers_only_what_can_be_spread():
    reason = r"\(tensor parallel 8: 28 attention heads with 4 for keys and values cannot be spread so\)"
    with pytest.raises(ConfigError, match=rf"8 x 12 GB {reason}; what would fit: FP8 weights on 4 GPUs \(--fp8\)"):
        plan(of_heads(28, 4, 30.0), "8x12", 8192)
    with pytest.raises(ConfigError, match="what would fit: a smaller model"):
        plan(of_heads(28, 4, 100.0), "2x12", 8192)
    with pytest.raises(ConfigError, match=r"what would fit: .*8 such GPUs \(tensor parallel 8\)"):
        plan(of_heads(32, 4, 48.0), "2x12", 8192)


def test_gpus_beyond_the_number_of_key_value_heads_hold_copies_of_the_cache():
    assert [of_heads(32, 4).kv_bytes_among(width) // of_heads(32, 4).kv_bytes_per_token for width in (1, 4, 8)] == [
        1,
        1,
        2,
    ]


@given(
    weights=st.floats(1, 200), count=st.integers(1, 8), memory=st.sampled_from([24, 48, 80, 141]),
    context=st.integers(2048, 131072), kv_heads=st.sampled_from([1, 2, 3, 4, 8]), groups=st.integers(1, 8),
)  # fmt: skip
def test_a_plan_never_takes_more_memory_than_there_is(weights, count, memory, context, kv_heads, groups):
    heads = kv_heads * groups
    shape = ModelShape(weights_gb=weights, layers=48, heads=heads, kv_heads=kv_heads, head_dim=128)
    try:
        made = plan_gpus(shape, Gpus(count=count, memory_gb=memory), context_tokens=context)
    except ConfigError:
        return
    assert made.replicas * made.tensor_parallel <= count
    assert heads % made.tensor_parallel == 0
    keys = made.max_running * context * shape.kv_bytes_among(made.tensor_parallel) / 1e9
    assert weights + keys <= made.tensor_parallel * memory * 0.9
    assert made.requests >= 2


def test_a_model_in_a_folder_is_measured_by_its_own_files(tmp_path):
    text = {"num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "hidden_size": 64}
    (tmp_path / "config.json").write_text(json.dumps({"text_config": {**text, "dtype": "bfloat16"}}))
    with pytest.raises(ConfigError, match="no safetensors"):
        shape_of(str(tmp_path))
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"metadata": {"total_size": 5_000_000_000}}))
    found = shape_of(str(tmp_path))
    assert (found.weights_gb, found.kv_bytes_per_token, found.heads) == (5.0, 2 * 2 * 2 * 16 * 2, 4)
    with pytest.raises(ConfigError, match="nothing is known of the size"):
        shape_of("somebody/unknown")


def test_another_model_than_the_profiles_is_measured_as_itself():
    with pytest.raises(ConfigError, match=r"146.8 GB .* 1 x 80 GB; .*4 such GPUs \(tensor parallel 4\) or 2 .* --fp8"):
        plan(shape_of("Qwen/Qwen2.5-VL-72B-Instruct", load_profile("thinking_with_map")), "1x80", 15000)
    assert shape_of("Qwen/Qwen3-VL-8B-Instruct", load_profile("thinking_with_map")).weights_gb == 17.5


def test_a_downloaded_model_is_measured_by_its_files(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    home = tmp_path / "models--somebody--tuned-72B"
    text = {"num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "hidden_size": 64}
    for revision, total in (("0ld", 1_000_000_000), ("new", 7_000_000_000)):
        folder = home / "snapshots" / revision
        folder.mkdir(parents=True)
        (folder / "config.json").write_text(json.dumps(text))
        (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {"total_size": total}}))
    (home / "refs").mkdir()
    (home / "refs" / "main").write_text("new\n")
    found = shape_of("somebody/tuned-72B")
    assert (found.weights_gb, found.layers, found.estimate) == (7.0, 2, "")
    (home / "snapshots" / "new" / "config.json").unlink()  # a download that was broken off tells nothing
    assert shape_of("somebody/tuned-72B").weights_gb == 146.0


@pytest.mark.parametrize(
    ("model", "weights_gb", "layers"),
    [
        ("OpenGVLab/InternVL3-78B", 158.0, 80),
        ("Qwen/Qwen2.5-VL-3B-Instruct", 8.0, 36),
        ("Qwen/Qwen2.5-VL-72B-Instruct-AWQ", 45.2, 80),
        ("Qwen/Qwen3-VL-30B-A3B-Instruct-FP8", 32.0, 48),
        ("mistralai/Mixtral-8x7B", 114.0, 80),
    ],
)
def test_a_model_that_is_not_here_is_estimated_by_its_name_and_the_plan_says_so(model, weights_gb, layers):
    found = shape_of(model)
    assert (found.weights_gb, found.layers) == (weights_gb, layers)
    *_, last = plan(found, "8x80", 8192)
    assert last.startswith(f"{weights_gb:g} GB of weights, an estimate from ")


@pytest.mark.parametrize("name", yaml.safe_load((files("tts") / "data" / "model_shapes.yaml").read_text())["models"])
def test_the_estimate_is_within_15_percent_of_every_model_that_is_known(name):
    known = shape_of(name)
    estimated = shape_of(f"somebody/{name.rpartition('/')[2]}")
    assert estimated.weights_gb == pytest.approx(known.weights_gb, rel=0.15)
    assert estimated.kv_bytes_per_token >= known.kv_bytes_per_token * 0.99


@pytest.mark.parametrize("model", ["somebody/unknown", "google/gemma-3n-E4B-it", "meta-llama/Llama-4-Scout-17B-16E"])
def test_a_model_name_without_all_parameters_is_refused_with_what_to_do(model):
    with pytest.raises(
        ConfigError, match=r"give a folder with its config\.json with --model, or reserve GPUs yourself"
    ):
        shape_of(model, load_profile("thinking_with_map"))


def test_a_model_of_a_profile_without_a_published_one_is_taken_as_large_as_its_base():
    found = shape_of("somebody/reverse-merged", load_profile("reverse"))
    assert (found.weights_gb, found.estimate[:11]) == (8.9, "an estimate")


@pytest.mark.parametrize("text", ["0", "x80", "8x", "eight", "-1"])
def test_an_invalid_number_of_gpus_is_refused(text):
    with pytest.raises(ConfigError, match="--gpus"):
        Gpus.parse(text, 80.0)


@pytest.mark.parametrize(
    ("visible", "output", "count", "memory_gb"),
    [
        (None, "0, GPU-aa, 81559\\n1, GPU-bb, 24576\\n", 2, 25.8),
        ("1", "0, GPU-aa, 81559\\n1, GPU-bb, 24576\\n", 1, 25.8),
        ("GPU-a", "0, GPU-aa, 81559\\n1, GPU-bb, 24576\\n", 1, 85.5),
        ("", "0, GPU-aa, 81559\\n", None, None),
        (None, "No devices were found\\n", None, None),
        (None, "0, GPU-aa, [N/A]\\n", None, None),
    ],
)
def test_the_gpus_of_this_machine_are_those_that_cuda_may_use(tmp_path, monkeypatch, visible, output, count, memory_gb):
    tool = tmp_path / "nvidia-smi"
    tool.write_text(f"#!/bin/sh\nprintf '{output}'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    found = found_gpus()
    assert (found and (found.count, found.memory_gb)) == (count and (count, memory_gb))


def test_only_a_local_engine_without_num_gpus_reserves_nothing():
    engine = VllmEngine(model="Qwen/Qwen3-VL-4B-Instruct")
    assert reserves_nothing(AppArgs(engine=engine))
    for rollout in ({"num_gpus": 0}, {"num_gpus": 1}, {"bundles": ({"GPU": 1.0},)}):
        assert not reserves_nothing(AppArgs.model_validate({"engine": engine, "deployments": {"rollout": rollout}}))
    assert not reserves_nothing(AppArgs(engine=OpenAIEngine()))


def test_the_configuration_reserves_the_gpus_of_the_plan():
    args = AppArgs(engine=VllmEngine(model="Qwen/Qwen3-VL-30B-A3B-Instruct", max_model_len=15000))
    served, made = with_gpus(args, Gpus(count=8, memory_gb=80))
    rollout = served.deployments.rollout
    assert (rollout.replicas, rollout.num_gpus, rollout.max_ongoing) == (4, 2.0, 50)
    assert (served.engine.tensor_parallel, served.engine.max_running) == (2, made.max_running)
    quantised, _ = with_gpus(args, Gpus(count=1, memory_gb=80), fp8=True)
    assert quantised.engine.extra == {"quantization": "fp8"}
    with pytest.raises(ConfigError, match="leave out --endpoint"):
        with_gpus(AppArgs(engine=OpenAIEngine()), Gpus(count=1, memory_gb=80))


def test_the_shipped_configuration_is_the_plan_for_eight_gpus():
    args = load_config(config_files()["thinking_with_map"])
    served, _ = with_gpus(args, Gpus(count=8, memory_gb=80), profile=load_profile("thinking_with_map"))
    assert served.engine == args.engine
    assert served.deployments.rollout.model_copy(update={"drain_s": 180.0}) == args.deployments.rollout


def test_the_plan_says_what_the_gateways_carry_and_how_many_the_engine_would_need():
    args = AppArgs(engine=VllmEngine(model="Qwen/Qwen3-VL-4B-Instruct", max_model_len=2048))
    served, made = with_gpus(args, Gpus(count=8, memory_gb=80))
    (line,) = (line for line in plan_lines(served, made) if line.startswith("gateways: "))
    running = made.replicas * made.max_running
    assert running > 212
    assert line == (
        f"gateways: 1, for some 212 rollouts at once whose text is followed; the engine runs {running}: "
        f"{-(-running // 212)} gateways and Redis would pass on all of them"
    )
    assert "gateways: 1, for some 212 rollouts at once whose text is followed" in plan_lines(AppArgs(), None)
