"""Checkpoints made here: the shape of a served model without its weights, for tests and benchmarks.

A folder with a configuration, a byte-level tokenizer trained on a text of the caller, a chat template and the picture
preprocessing of the family. With `load_format: dummy` the engine fills in random weights itself, so speed, cache
hits and placement can be measured on real shapes without a download. What such a model says means nothing.
"""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Any

SPECIAL = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|vision_pad|>",
    "<|image_pad|>",
    "<|video_pad|>",
)
MARKUP = ("<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>")
_TRAINED_VOCABULARY = 1600


class Shape(StrEnum):
    """Which model a checkpoint has the shape of."""

    TINY_QWEN3_VL = "tiny-qwen3-vl"
    TINY_QWEN25_VL = "tiny-qwen2.5-vl"
    QWEN3_VL_4B = "qwen3-vl-4b"


def write_checkpoint(folder: Path, shape: Shape, corpus: str) -> Path:
    """Write everything but the weights; returns `folder`. `corpus` is what the tokenizer is trained on.

    Needs the `tokenizers` package, which comes with the engine.
    """
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = 151_936 if shape is Shape.QWEN3_VL_4B else 2048
    ids = _write_tokenizer(folder, corpus, vocabulary)
    files = {
        "config.json": _model_config(shape, ids, vocabulary),
        "generation_config.json": {"eos_token_id": ids["<|im_end|>"], "pad_token_id": ids["<|endoftext|>"]},
        "preprocessor_config.json": _picture_config(shape),
        "video_preprocessor_config.json": {**_picture_config(shape), "video_processor_type": _video_processor(shape)},
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "eos_token": "<|im_end|>",
            "pad_token": "<|endoftext|>",
            "clean_up_tokenization_spaces": False,
            "model_max_length": 262_144,
            "image_token": "<|image_pad|>",
            "video_token": "<|video_pad|>",
            "vision_bos_token": "<|vision_start|>",
            "vision_eos_token": "<|vision_end|>",
            "extra_special_tokens": {},
        },
    }
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content, indent=1))
    (folder / "chat_template.jinja").write_text(CHAT_TEMPLATE)
    return folder


def _write_tokenizer(folder: Path, corpus: str, vocabulary: int) -> dict[str, int]:
    """Train and save; returns the ids of the special tokens, which are the last ones.

    Ids between them and the trained ones get names of their own, so that all decode. They are in the vocabulary of the
    model: 150,000 added tokens cost half a minute in each process that reads the tokenizer.
    """
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers  # noqa: PLC0415  optional: vLLM brings it

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=_TRAINED_VOCABULARY,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([corpus], trainer)
    tokenizer = Tokenizer.from_str(_fill_vocabulary(tokenizer.to_str(), vocabulary - len(SPECIAL) - len(MARKUP)))
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIAL])
    tokenizer.add_tokens([AddedToken(token, special=False, normalized=False) for token in MARKUP])
    tokenizer.save(str(folder / "tokenizer.json"))
    return {token: tokenizer.token_to_id(token) for token in SPECIAL}


def _fill_vocabulary(tokenizer: str, size: int) -> str:
    """The JSON of a tokenizer, its vocabulary filled up to so many tokens with ones that no text is split into."""
    content = json.loads(tokenizer)
    vocabulary: dict[str, int] = content["model"]["vocab"]
    vocabulary.update({f"<unused{i}>": i for i in range(len(vocabulary), size)})
    return json.dumps(content)


def _model_config(shape: Shape, ids: dict[str, int], vocabulary: int) -> dict[str, Any]:
    old = shape is Shape.TINY_QWEN25_VL
    common = {
        "dtype": "bfloat16",
        "image_token_id": ids["<|image_pad|>"],
        "video_token_id": ids["<|video_pad|>"],
        "vision_start_token_id": ids["<|vision_start|>"],
        "vision_end_token_id": ids["<|vision_end|>"],
        "tie_word_embeddings": True,
    }
    text = {
        "model_type": "qwen2_5_vl_text" if old else "qwen3_vl_text",
        "vocab_size": vocabulary,
        "hidden_act": "silu",
        "rms_norm_eps": 1e-6,
        "tie_word_embeddings": True,
        "bos_token_id": ids["<|endoftext|>"],
        "eos_token_id": ids["<|im_end|>"],
        "dtype": "bfloat16",
        **(_TEXT_4B if shape is Shape.QWEN3_VL_4B else _TEXT_TINY),
    }
    if old:
        rope = {"type": "mrope", "mrope_section": [4, 6, 6]}
        text |= {"rope_scaling": rope, "rope_theta": 1e6, "use_sliding_window": False, "max_window_layers": 2}
        return {
            "architectures": ["Qwen2_5_VLForConditionalGeneration"],
            "model_type": "qwen2_5_vl",
            **common,
            "text_config": text,
            "vision_config": _VISION_TINY_25,
        }
    return {
        "architectures": ["Qwen3VLForConditionalGeneration"],
        "model_type": "qwen3_vl",
        **common,
        "text_config": text,
        "vision_config": _VISION_4B if shape is Shape.QWEN3_VL_4B else _VISION_TINY_3,
    }


_TEXT_TINY: dict[str, Any] = {
    "hidden_size": 128,
    "intermediate_size": 256,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,  # the smallest that attention on a CPU has kernels for
    "max_position_embeddings": 32_768,
    "rope_theta": 1e6,
    "rope_scaling": {"rope_type": "default", "mrope_section": [4, 6, 6], "mrope_interleaved": True},
}
_TEXT_4B: dict[str, Any] = {
    "hidden_size": 2560,
    "intermediate_size": 9728,
    "num_hidden_layers": 36,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "max_position_embeddings": 262_144,
    "rope_theta": 5_000_000,
    "rope_scaling": {"rope_type": "default", "mrope_section": [24, 20, 20], "mrope_interleaved": True},
}
_VISION_TINY_3: dict[str, Any] = {
    "model_type": "qwen3_vl",
    "depth": 2,
    "hidden_size": 64,
    "hidden_act": "gelu_pytorch_tanh",
    "intermediate_size": 128,
    "num_heads": 4,
    "in_channels": 3,
    "patch_size": 16,
    "spatial_merge_size": 2,
    "temporal_patch_size": 2,
    "out_hidden_size": 128,
    "num_position_embeddings": 256,
    "deepstack_visual_indexes": [0],
}
_VISION_4B: dict[str, Any] = {
    "model_type": "qwen3_vl",
    "depth": 24,
    "hidden_size": 1024,
    "hidden_act": "gelu_pytorch_tanh",
    "intermediate_size": 4096,
    "num_heads": 16,
    "in_channels": 3,
    "patch_size": 16,
    "spatial_merge_size": 2,
    "temporal_patch_size": 2,
    "out_hidden_size": 2560,
    "num_position_embeddings": 2304,
    "deepstack_visual_indexes": [5, 11, 17],
}
_VISION_TINY_25: dict[str, Any] = {
    "model_type": "qwen2_5_vl",
    "depth": 2,
    "hidden_size": 64,
    "hidden_act": "silu",
    "intermediate_size": 128,
    "num_heads": 4,
    "in_channels": 3,
    "patch_size": 14,
    "spatial_merge_size": 2,
    "temporal_patch_size": 2,
    "out_hidden_size": 128,
    "window_size": 112,
    "fullatt_block_indexes": [1],
    "tokens_per_second": 2,
}


def _picture_config(shape: Shape) -> dict[str, Any]:
    old = shape is Shape.TINY_QWEN25_VL
    side = 28 if old else 32
    return {
        "image_processor_type": "Qwen2VLImageProcessor",
        "processor_class": "Qwen2_5_VLProcessor" if old else "Qwen3VLProcessor",
        "patch_size": 14 if old else 16,
        "merge_size": 2,
        "temporal_patch_size": 2,
        "size": {"shortest_edge": 4 * side * side, "longest_edge": 16_384 * side * side},
        "image_mean": [0.5, 0.5, 0.5],
        "image_std": [0.5, 0.5, 0.5],
        "do_resize": True,
        "do_rescale": True,
        "do_normalize": True,
        "do_convert_rgb": True,
    }


def _video_processor(shape: Shape) -> str:
    return "Qwen2VLVideoProcessor" if shape is Shape.TINY_QWEN25_VL else "Qwen3VLVideoProcessor"


CHAT_TEMPLATE = """\
{%- macro shown(content) -%}
{%- if content is string -%}{{ content }}{%- else -%}
{%- for part in content -%}
{%- if part.type == 'image' -%}<|vision_start|><|image_pad|><|vision_end|>{%- else -%}{{ part.text }}{%- endif -%}
{%- endfor -%}{%- endif -%}
{%- endmacro -%}
{%- if tools -%}
<|im_start|>system
{% if messages[0].role == 'system' %}{{ shown(messages[0].content) }}

{% endif %}You may call these functions:
<tools>
{% for tool in tools %}{{ tool | tojson }}
{% endfor %}</tools>
Write each call as <tool_call>{"name": ..., "arguments": {...}}</tool_call>.<|im_end|>
{% elif messages[0].role == 'system' -%}
<|im_start|>system
{{ shown(messages[0].content) }}<|im_end|>
{% endif -%}
{%- for message in messages -%}
{%- if message.role == 'tool' -%}
{%- if loop.first or messages[loop.index0 - 1].role != 'tool' -%}<|im_start|>user{% endif %}
<tool_response>
{{ shown(message.content) }}
</tool_response>
{%- if loop.last or messages[loop.index0 + 1].role != 'tool' %}<|im_end|>
{% endif -%}
{%- elif message.role != 'system' -%}
<|im_start|>{{ message.role }}
{{ shown(message.content) }}<|im_end|>
{% endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
<|im_start|>assistant
{% endif -%}
"""
