"""The port that rates how much of a place the photos show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tts.domain.description import Description
from tts.domain.photo import Photo
from tts.domain.plan import Locatability
from tts.domain.reading import Reading
from tts.domain.request import RequestContext
from tts.domain.usage import Usage


@dataclass(frozen=True, slots=True)
class Routing:
    """What the locator found.

    Attributes:
        readings: the text that was read on the way, so that it is read once.
        usage: what the model used that the locator asked.
        described: what an observer said of the photos.
    """

    locatability: Locatability
    readings: tuple[Reading, ...] = ()
    usage: Usage = Usage()
    described: tuple[Description, ...] = ()


class Locator(Protocol):
    """Rates how much of a place the photos show."""

    async def rate(self, photos: Sequence[Photo], context: RequestContext) -> Routing:
        """Rate all photos of a request together, with a score from 0 (hopeless) to 1 (easy)."""
