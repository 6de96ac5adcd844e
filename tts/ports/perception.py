"""The port of the reader of signs."""

from __future__ import annotations

from typing import Protocol

from tts.domain.photo import Box, Photo
from tts.domain.reading import Reading
from tts.domain.request import RequestContext


class Perception(Protocol):
    """Reads the text in a photo, or in a box of it at a larger scale. Same input, same reading."""

    async def read(self, photo: Photo, box: Box | None, context: RequestContext, language: str = "") -> Reading:
        """Read a photo.

        Args:
            box: the part to read; None for the whole photo.
            language: a BCP 47 primary tag, whose reader reads all lines. Empty: chosen for each line by its script.

        Raises:
            ToolError: no reader has the language; the message names the languages that there are.
        """
