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
        locatability: the rating of all photos together.
        readings: the text that was read on the way, so that it is read once.
        usage: what the model used that the locator asked.
        described: what an observer said of the photos.
    """

    locatability: Locatability
    readings: tuple[Reading, ...] = ()
    usage: Usage = Usage()
    described: tuple[Description, ...] = ()


# stands in for a rating that is not needed, failed or came too late
UNRATED = Routing(Locatability(score=0.5, method="leader", why="nothing is known of the photo yet"))


class Locator(Protocol):
    """Rates how much of a place the photos show."""

    async def rate(self, photos: Sequence[Photo], context: RequestContext) -> Routing:
        """Rate all photos of a request together, with a score from 0 (hopeless) to 1 (easy).

        Args:
            photos: the photos in the order of the request, 1 or more. A box of a reading names its photo by this order.
            context: `remaining_s` bounds what a model is asked, and `money_left_usd` what that may cost.

        Returns:
            One rating for all photos, with the text that was read in each of them, if the locator reads.

        Raises:
            GeoTTSError: a photo cannot be rated. A model that fails is no error: the rating is made without it.
        """
