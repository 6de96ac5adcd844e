"""A line of lettering in a photo."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from geotts_client.box import Box
from geotts_client.value import Value


class TextLine(Value):
    """One line of text in a photo."""

    text: str = Field(description="the line as it was read")
    box: Box = Field(
        description="where it is in the photo: a rectangle around the line, with sides along those of the photo"
    )
    confidence: Annotated[float, Field(ge=0, le=1)] = Field(description="confidence of the reader, 0 to 1")
    script: str = Field(
        default="",
        description="ISO 15924 code of the script of most of its letters, such as `Latn`; empty if not known",
    )
    language: str = Field(
        default="", description="BCP 47 primary tag of the language, such as `fr`; empty if not known"
    )
    angle_deg: float = Field(
        default=0.0, description="turn of the baseline in degrees, clockwise; 0 for a level line, or if not known"
    )
    height_px: float = Field(default=0.0, description="height of the letters in pixels of the photo; 0 if not known")
    reader: str = Field(
        default="", description="the recogniser whose text was chosen; empty if a model stated the line"
    )
    alternatives: tuple[str, ...] = Field(default=(), description="other plausible readings")
