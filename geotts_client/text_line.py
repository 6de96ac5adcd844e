"""A line of lettering in a photo."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from geotts_client.box import Box
from geotts_client.value import Value


class TextLine(Value):
    """One line. `box` is the axis-aligned hull in fractions of the whole photo; `angle_deg` the turn of its baseline.

    `language` is a BCP 47 primary tag or empty; `reader` names the recogniser whose text was chosen,
    `alternatives` are other plausible readings.
    """

    text: str
    box: Box
    confidence: Annotated[float, Field(ge=0, le=1)]
    script: str = ""
    language: str = ""
    angle_deg: float = 0.0
    height_px: float = 0.0
    reader: str = ""
    alternatives: tuple[str, ...] = ()
