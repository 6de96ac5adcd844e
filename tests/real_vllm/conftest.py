"""Real vLLM on a CPU, with tiny models made here. Five engine starts in all: they take most of the time.

Runs in an environment of its own (`make vllm-env`, then `.venv-vllm/bin/python -m pytest tests/real_vllm`); elsewhere
every test skips and says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from support.checkpoints import Shape, write_checkpoint

_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip where there is no vLLM; where there is, warnings of its hundred packages are not ours to fix."""
    skip = pytest.mark.skip(
        reason="vLLM is not installed here: make vllm-env, then .venv-vllm/bin/python -m pytest tests/real_vllm"
    )
    mark = pytest.mark.filterwarnings("ignore") if find_spec("vllm") is not None else skip
    for item in items:
        if _HERE in item.path.parents:
            item.add_marker(mark)


def corpus() -> str:
    """What the tiny tokenizers are trained on: conversations of all dialects.

    They change when a prompt does, and no oftener: random weights write something else for every other vocabulary.
    """
    conversations = sorted((_HERE.parent / "golden" / "conversations").glob("*.md"))
    return "\n".join(path.read_text() for path in conversations)


@pytest.fixture(scope="session")
def tiny_qwen25(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Qwen2.5-VL checkpoint with random weights on disk, as a trained one would be."""
    folder = write_checkpoint(tmp_path_factory.mktemp("qwen25"), Shape.TINY_QWEN25_VL, corpus())
    _write_weights(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_lora(tiny_qwen25: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An adapter of rank 8 on the queries of that checkpoint, random and strong enough to change every word."""
    import torch
    from safetensors.torch import save_file

    text = json.loads((tiny_qwen25 / "config.json").read_text())["text_config"]
    hidden, queries = text["hidden_size"], text["num_attention_heads"] * text["head_dim"]
    torch.manual_seed(3)
    weights = {}
    for layer in range(text["num_hidden_layers"]):
        name = f"base_model.model.model.language_model.layers.{layer}.self_attn.q_proj"
        weights[f"{name}.lora_A.weight"] = torch.randn(8, hidden, dtype=torch.bfloat16)
        weights[f"{name}.lora_B.weight"] = torch.randn(queries, 8, dtype=torch.bfloat16)
    folder = tmp_path_factory.mktemp("lora")
    save_file(weights, folder / "adapter_model.safetensors")
    config = {"peft_type": "LORA", "r": 8, "lora_alpha": 16, "target_modules": ["q_proj"], "bias": "none"}
    (folder / "adapter_config.json").write_text(json.dumps(config))
    return folder


@pytest.fixture(scope="session")
def tiny_qwen3(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Qwen3-VL checkpoint without weights, for `load_format: dummy`."""
    return write_checkpoint(tmp_path_factory.mktemp("qwen3"), Shape.TINY_QWEN3_VL, corpus())


def _write_weights(folder: Path) -> None:
    import torch
    from transformers import AutoConfig, AutoModelForImageTextToText

    torch.manual_seed(7)
    config = json.loads((folder / "config.json").read_text())
    model = AutoModelForImageTextToText.from_config(AutoConfig.from_pretrained(folder), dtype=torch.bfloat16)
    model.save_pretrained(folder)
    (folder / "config.json").write_text(json.dumps(config))


@pytest.fixture(scope="session")
def tiny_args() -> dict[str, object]:
    """What both engines are started with."""
    return {
        "max_model_len": 4096,
        "kv_cache_gb": 1,
        "eager": True,
        "max_running": 16,
    }


@pytest.fixture(scope="session", autouse=True)
def offline() -> Iterator[None]:
    """Model folders are local; nothing may ask a hub."""
    patch = pytest.MonkeyPatch()
    patch.setenv("HF_HUB_OFFLINE", "1")
    patch.setenv("TOKENIZERS_PARALLELISM", "false")
    yield
    patch.undo()
