"""What perception read off one photo: lines of text, where they stand, and in which script."""

from __future__ import annotations

from geotts_client.box import Box
from geotts_client.text_line import TextLine as TextLine
from geotts_client.tooling import TextFact
from tts.domain.value import Value


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

    def of_photo(self, number: int) -> Reading:
        """The same reading as that of the photo with this number (from 0) in a request of several."""
        if number == 0:
            return self
        lines = tuple(line.model_copy(update={"box": line.box.of_photo(number)}) for line in self.lines)
        return self.model_copy(update={"lines": lines, "unread": tuple(box.of_photo(number) for box in self.unread)})


def line_of_fact(fact: TextFact) -> TextLine:
    """The line that a tool read."""
    return TextLine(
        text=fact.text,
        box=fact.box,
        confidence=fact.confidence,
        script=fact.script,
        language=fact.language,
        alternatives=fact.alternatives,
    )
