"""What of a model decides how much GPU memory it takes: weights, and keys and values a token."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import Field

from tts.domain.value import Value
from tts.errors import ConfigError

_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}


class ModelShape(Value):
    """`weights_gb` in units of 10^9 bytes, as stored; two bytes a number for keys and values."""

    weights_gb: Annotated[float, Field(gt=0)]
    layers: Annotated[int, Field(ge=1)]
    kv_heads: Annotated[int, Field(ge=1)]
    head_dim: Annotated[int, Field(ge=1)]
    kv_bytes: Annotated[int, Field(ge=1, le=4)] = 2

    @property
    def kv_bytes_per_token(self) -> int:
        """Keys and values of one token over all layers."""
        return 2 * self.layers * self.kv_heads * self.head_dim * self.kv_bytes

    def in_fp8(self) -> ModelShape:
        """With weights quantised to one byte a number when they are loaded."""
        return self.model_copy(update={"weights_gb": self.weights_gb / 2.0})


def shape_of(model: str, base: str = "") -> ModelShape:
    """The shape of a model in a folder, or of a published one; `base` is the model it was trained from.

    Raises:
        ConfigError: when nothing is known of it, or its config.json lacks something.
    """
    folder = Path(model).expanduser()
    if (folder / "config.json").is_file():
        return _read(folder)
    known = _shipped()
    for name in (model, base):
        if name in known:
            return known[name]
    raise ConfigError(
        f"nothing is known of the size of {model or 'this model'}: give a folder with its config.json with --model, or "
        "leave out --gpus and set engine and deployments yourself"
    )


def _read(folder: Path) -> ModelShape:
    try:
        config = json.loads((folder / "config.json").read_text())
        text = config.get("text_config", config)
        heads = int(text["num_attention_heads"])
        return ModelShape(
            weights_gb=_weights_gb(folder),
            layers=int(text["num_hidden_layers"]),
            kv_heads=int(text.get("num_key_value_heads") or heads),
            head_dim=int(text.get("head_dim") or text["hidden_size"] // heads),
            kv_bytes=min(2, _BYTES.get(str(text.get("dtype") or text.get("torch_dtype")), 2)),
        )
    except (OSError, ValueError, KeyError, TypeError, ZeroDivisionError) as error:
        raise ConfigError(f"{folder / 'config.json'} does not say how large the model is: {error!r}") from error


def _weights_gb(folder: Path) -> float:
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        return float(json.loads(index.read_text())["metadata"]["total_size"]) / 1e9
    total = sum(path.stat().st_size for path in folder.glob("*.safetensors"))
    if not total:
        raise ConfigError(f"{folder} has no safetensors: its weights cannot be measured")
    return total / 1e9


@cache
def _shipped() -> dict[str, ModelShape]:
    raw: dict[str, Any] = yaml.safe_load((files("tts") / "data" / "model_shapes.yaml").read_text())
    return {name: ModelShape.model_validate(shape) for name, shape in raw["models"].items()}
