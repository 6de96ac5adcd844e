"""The values that decide how much GPU memory a model needs: its weights, and its KV cache for each token."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tts.domain.value import Value


class ModelShape(Value):
    """`weights_gb` in units of 10^9 bytes, as stored; two bytes a number for keys and values.

    `heads` are the attention heads of the queries; None where nobody knows them. `estimate` says what the numbers rest
    on when nobody measured them; empty for a model whose files are known.
    """

    weights_gb: Annotated[float, Field(gt=0)]
    layers: Annotated[int, Field(ge=1)]
    kv_heads: Annotated[int, Field(ge=1)]
    head_dim: Annotated[int, Field(ge=1)]
    heads: Annotated[int, Field(ge=1)] | None = None
    kv_bytes: Annotated[int, Field(ge=1, le=4)] = 2
    estimate: str = ""

    @property
    def kv_bytes_per_token(self) -> int:
        """Keys and values of one token over all layers."""
        return 2 * self.layers * self.kv_heads * self.head_dim * self.kv_bytes

    def divides_among(self, gpus: int) -> bool:
        """Whether vLLM can spread the heads over so many GPUs of a replica.

        Its rule: every GPU has as many attention heads, and as many heads of keys and values or a copy of one
        (`ModelConfig.verify_with_parallel_config` and the attention layers of vLLM).
        """
        few, many = sorted((gpus, self.kv_heads))
        return many % few == 0 and (self.heads is None or self.heads % gpus == 0)

    def kv_bytes_among(self, gpus: int) -> int:
        """Keys and values of one token on all GPUs of a replica: those that have no head of their own hold a copy."""
        return self.kv_bytes_per_token * max(self.kv_heads, gpus) // self.kv_heads

    def in_fp8(self) -> ModelShape:
        """With weights quantised to one byte a number when they are loaded."""
        return self.model_copy(update={"weights_gb": self.weights_gb / 2.0})
