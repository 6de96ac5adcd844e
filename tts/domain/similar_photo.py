"""A photo of known position that looks like the one in question."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tts.domain.geo import LatLon
from tts.domain.value import Value


class SimilarPhoto(Value):
    """`similarity` is the cosine of the two embeddings, in [-1, 1]."""

    id: str
    point: LatLon
    similarity: Annotated[float, Field(ge=-1, le=1)]
