"""What perception read off one photo: lines of text, where they stand, and in which script."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tts.domain.photo import Box
from tts.domain.value import Value


class TextLine(Value):
    """One line. `box` is the axis-aligned hull in fractions of the whole photo; `angle_deg` the turn of its baseline.

    `language` is a BCP 47 primary tag or empty; `reader` names the recogniser that won, `alternatives` are other
    plausible readings.
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


class Reading(Value):
    """All lines, largest first. `unread` are boxes that look like text but could not be read at this size.

    `cues` are cheap image statistics in [0, 1] that came along.
    """

    photo_sha256: str
    lines: tuple[TextLine, ...] = ()
    unread: tuple[Box, ...] = ()
    cues: dict[str, float] = {}
    warnings: tuple[str, ...] = ()
    version: str = ""
