"""Estimates the size of a model from its name alone: `Qwen2.5-VL-72B-AWQ` has 72 billion parameters of 4 bits."""

from __future__ import annotations

import re
from collections.abc import Mapping

from deployments.sizing.model_shape import ModelShape

# `72B`, `7b`, `8x7B`; not the active part of a mixture (`A3B`), and no count before a number of experts (`17B-16E`).
_PARAMETER_COUNT = re.compile(r"(?<![\w.])(?:(\d{1,2})x)?(\d{1,4}(?:\.\d+)?)b(?![a-z0-9])(?!-\d+e\b)", re.IGNORECASE)
# Bytes a parameter. Four bits come with scales, and some layers keep sixteen.
_BYTES_BY_QUANTISATION = (
    (re.compile(r"fp8|int8|w8a8|8bit|8-bit", re.IGNORECASE), 1.0),
    (re.compile(r"awq|gptq|int4|w4a16|fp4|4bit|4-bit|bnb", re.IGNORECASE), 0.6),
)
_DEFAULT_BYTES = 2.0
# Vision encoder, projector, and what names round away. With two bytes a parameter, this hits the models of
# `tts/data/model_shapes.yaml` within 15 %.
_OTHER_WEIGHTS_GB = 2.0


def shape_by_name(model: str, known: Mapping[str, ModelShape]) -> ModelShape | None:
    """An estimate; None when the name has no number of parameters.

    Layers and heads are those of the smallest known model that has at least as many parameters, else of the largest:
    rather too much room for keys and values than too little.
    """
    billions = parameters_of(model)
    if billions is None:
        return None
    sizes = sorted((size, name) for name in known if (size := parameters_of(name)) is not None)
    like = next((name for size, name in sizes if size >= billions), sizes[-1][1])
    each = next((bytes_each for names, bytes_each in _BYTES_BY_QUANTISATION if names.search(model)), _DEFAULT_BYTES)
    return known[like].model_copy(
        update={
            "weights_gb": round(billions * each + _OTHER_WEIGHTS_GB, 1),
            "estimate": f"an estimate from {billions:g}B in its name and the layers and heads of {like}; a folder with "
            "its config.json and weights (--model FOLDER) is measured",
        }
    )


def parameters_of(model: str) -> float | None:
    """In billions, as the name says it."""
    found = _PARAMETER_COUNT.search(model.rpartition("/")[2])
    return float(found[2]) * int(found[1] or 1) if found and float(found[2]) > 0 else None
