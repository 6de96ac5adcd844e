"""Photos of known position that an operator supplies, and the network that compares two photos."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from tts.domain.value import Value

Three = tuple[float, float, float]


class GalleryConfig(Value):
    """GeoTTS ships no gallery: the operator supplies table, embeddings and encoder, and is responsible for their
    licences."""

    table: Path = Field(description="rows with id, lat, lon: CSV, JSON Lines, JSON or Parquet; WGS-84 degrees")
    embeddings: Path | None = Field(
        default=None,
        description=".npy, one row for each row of the table; without it each row names a .npy file in `embedding`",
    )
    encoder: Path = Field(description="ONNX image encoder that made the embeddings, such as that of a CLIP model")
    output: str = Field(default="", description="output of the encoder; `image_embeds`, else its first, when empty")
    shown: Annotated[int, Field(ge=1, le=10)] = Field(default=3, description="candidates that a rollout is told")
    side: Annotated[int, Field(ge=16, le=2048)] | None = Field(
        default=None, description="pixels a side; as the encoder says when absent"
    )
    fit: Literal["crop", "squash"] = Field(
        default="crop", description="crop: the shorter side fits, the middle counts (CLIP); squash: both sides fit"
    )
    mean: Three = Field(default=(0.48145466, 0.4578275, 0.40821073), description="of RGB in 0..1; CLIP's")
    std: Three = Field(default=(0.26862954, 0.26130258, 0.27577711), description="of RGB in 0..1; CLIP's")
