"""The port of the verifier: it weighs the trajectories of a query into one answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol

from tts.domain.answer import Verdict
from tts.domain.claim import ClaimedPlace
from tts.domain.events import ToolCalled, ToolResulted
from tts.domain.photo import Photo
from tts.domain.reading import Reading
from tts.domain.request import LocateOptions, RequestContext
from tts.domain.trajectory import Trajectory, Turn
from tts.domain.usage import Usage
from tts.domain.value import Value


@dataclass(frozen=True, slots=True)
class VerifyRequest:
    """Everything the verifier may know.

    Attributes:
        context: the seconds and the money that are left.
        photos: the photos in the order of the request.
        options: those of the request: the area, the hint, the wanted radius.
        trajectories: exchangeable: their order says nothing.
        readings: the text that was read in the photos.
        claimed: places that the photo is said to show.
        testing: the trajectories that knew of the claimed places; they have no votes.
        inquiry: calls that a verifier has made for the request before.
    """

    context: RequestContext
    photos: tuple[Photo, ...]
    options: LocateOptions
    trajectories: tuple[Trajectory, ...]
    readings: tuple[Reading, ...] = ()
    claimed: tuple[ClaimedPlace, ...] = ()
    testing: tuple[Trajectory, ...] = ()
    inquiry: tuple[Turn, ...] = ()


class VerdictText(Value):
    """A piece of the verifier's reasons."""

    text: str


VerifierItem = VerdictText | Verdict | Usage | ToolCalled | ToolResulted


class Verifier(Protocol):
    """Weighs trajectories into one answer."""

    def verify(self, request: VerifyRequest) -> AsyncIterator[VerifierItem]:
        """Weigh the trajectories of a request into one answer.

        Closing the iterator ends a call or a generation that is under way.

        Args:
            request: the finished trajectories, 0 or more. `context.remaining_s` and `context.money_left_usd` bound
                what a verifier asks models and tools.

        Returns:
            An iterator over reasons, tool calls and usage as they come, and one Verdict as the last item.

        Raises:
            GeoTTSError: there is no verdict; the caller makes its own from the trajectories. A model or a tool that
                fails is no error: the verdict is made without it and warns.
        """
