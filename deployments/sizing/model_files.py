"""Reads the size of a model from files on this machine: in a folder, or in the cache of the Hugging Face hub."""

from __future__ import annotations

import json
import os
from pathlib import Path

from deployments.sizing.model_shape import ModelShape
from tts.errors import ConfigError

_BYTES_BY_DTYPE = {"float32": 4, "bfloat16": 2, "float16": 2}
RESERVE_YOURSELF = (
    "reserve GPUs yourself, without --gpus (--set deployments.rollout.num_gpus=2 --set engine.tensor_parallel=2)"
)
_INDEX_FILE = "model.safetensors.index.json"


def shape_in(folder: Path) -> ModelShape:
    """By `config.json` and the safetensors beside it.

    Raises:
        ConfigError: when one of them is missing or lacks something.
    """
    try:
        config = json.loads((folder / "config.json").read_text())
        text = config.get("text_config", config)
        heads = int(text["num_attention_heads"])
        return ModelShape(
            weights_gb=_weights_gb(folder),
            layers=int(text["num_hidden_layers"]),
            kv_heads=int(text.get("num_key_value_heads") or heads),
            head_dim=int(text.get("head_dim") or text["hidden_size"] // heads),
            heads=heads,
            kv_bytes=min(2, _BYTES_BY_DTYPE.get(str(text.get("dtype") or text.get("torch_dtype")), 2)),
        )
    except (OSError, ValueError, KeyError, TypeError, ZeroDivisionError) as error:
        raise ConfigError(f"{folder / 'config.json'} does not say how large the model is: {error!r}") from error


def downloaded_folder(model: str) -> Path | None:
    """The folder of a published model that was downloaded before, with enough of its files to measure it.

    The layout of the cache is that of `huggingface_hub`: `models--OWNER--NAME/snapshots/REVISION`, and the revision of
    the branch in `refs/main`.
    """
    home = _hub_folder() / f"models--{model.replace('/', '--')}"
    main = home / "refs" / "main"
    revisions = [main.read_text().strip()] if main.is_file() else sorted(path.name for path in home.glob("snapshots/*"))
    for folder in (home / "snapshots" / revision for revision in revisions):
        weights = (folder / _INDEX_FILE).is_file() or (folder / "model.safetensors").is_file()
        if weights and (folder / "config.json").is_file():
            return folder
    return None


def _hub_folder() -> Path:
    if named := os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE"):
        return Path(named).expanduser()
    caches = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(os.environ.get("HF_HOME") or f"{caches}/huggingface").expanduser() / "hub"


def _weights_gb(folder: Path) -> float:
    index = folder / _INDEX_FILE
    if index.is_file():
        return float(json.loads(index.read_text())["metadata"]["total_size"]) / 1e9
    total = sum(path.stat().st_size for path in folder.glob("*.safetensors"))
    if not total:
        raise ConfigError(f"{folder} has no safetensors: its weights cannot be measured; {RESERVE_YOURSELF}")
    return total / 1e9
