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

    table: Path = Field(
        description="table of the photos, with the columns id, lat and lon (WGS-84 degrees): CSV, JSON Lines, JSON or "
        "Parquet",
    )
    embeddings: Path | None = Field(
        default=None,
        description=".npy file with one row for each row of the table. Default: each row of the table names a .npy "
        "file in the column `embedding`",
    )
    encoder: Path = Field(description="ONNX image encoder that made the embeddings, such as that of a CLIP model")
    output: str = Field(
        default="",
        description="name of the output of the encoder. If empty: `image_embeds`, or the first output if there is none "
        "of this name",
    )
    shown: Annotated[int, Field(ge=1, le=10)] = Field(
        default=3, description="number of similar photos that the prompt of a rollout names"
    )
    side: Annotated[int, Field(ge=16, le=2048)] | None = Field(
        default=None,
        description="side length in pixels of the square picture that the encoder gets. Default: what the encoder "
        "states, else 224",
    )
    fit: Literal["crop", "squash"] = Field(
        default="crop",
        description="how a photo is made square. crop: it is scaled until its shorter side fits, and the middle is "
        "kept (as CLIP does); squash: both sides are scaled to fit",
    )
    mean: Three = Field(
        default=(0.48145466, 0.4578275, 0.40821073),
        description="mean of the R, G and B values (0 to 1), for their normalisation; the default is that of CLIP",
    )
    std: Three = Field(
        default=(0.26862954, 0.26130258, 0.27577711),
        description="standard deviation of the R, G and B values (0 to 1), for their normalisation; the default is "
        "that of CLIP",
    )
