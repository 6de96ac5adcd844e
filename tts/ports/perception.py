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
            photo: the photo; equal bytes give equal readings.
            box: the part to read; None for the whole photo.
            language: a BCP 47 primary tag, whose reader reads all lines. Empty: chosen for each line by its script.
            context: the id of the request; a reading is not bounded by its time.

        Returns:
            The lines of text; their boxes are in the whole photo, also where only a part was read. No text is a
            reading without lines.

        Raises:
            ToolError: no reader has the language; the message names the languages that there are.
        """
