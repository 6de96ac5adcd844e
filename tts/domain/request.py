"""What a caller asks for."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from geotts_client.claimed_place import ClaimedPlace
from geotts_client.file_claim import FileClaim
from geotts_client.options import MAX_PARALLEL as MAX_PARALLEL
from geotts_client.options import MAX_QUESTIONS as MAX_QUESTIONS
from geotts_client.options import LocateOptions as LocateOptions
from tts.domain.earlier_request import EarlierRequest, KeptResult
from tts.domain.photo import Photo
from tts.domain.trace_context import TraceContext
from tts.domain.value import Value

MAX_PHOTOS = 8
REQUEST_ID = "loc_[0-9a-f]{20}"
"""The form of the id of a request, as a regular expression."""


@dataclass(frozen=True, slots=True)
class LocateRequest:
    """One to eight photos of one place, and the options. `id` names the request everywhere.

    `claimed`: places that the photos are said to show, to be checked.
    `continued`: the earlier request that this one continues, `kept`: results of its tools.
    `followed`: somebody reads its events as they come. Without, what is said travels in larger pieces.
    """

    id: str
    photos: tuple[Photo, ...]
    options: LocateOptions
    trace: TraceContext | None = None
    file_claims: tuple[FileClaim, ...] = ()
    followed: bool = True
    claimed: tuple[ClaimedPlace, ...] = ()
    continued: EarlierRequest | None = None
    kept: tuple[KeptResult, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= len(self.photos) <= MAX_PHOTOS:
            raise ValueError(f"a request needs 1 to {MAX_PHOTOS} photos, not {len(self.photos)}")

    @property
    def states_something(self) -> bool:
        """Whether the caller says anything that the text in the photos can contradict: an area, places ruled out, a
        hint, a claim, or that several photos are of one place or of one walk.
        """
        options = self.options
        stated = options.within is not None or bool(options.not_there) or bool(options.hint)
        return stated or bool(self.claimed) or len(self.photos) > 1


class RequestContext(Value):
    """Travels with every port call. `remaining_s` is relative because clocks of machines differ. `money_left_usd` is
    for the models that a locator or verifier asks; None is no limit (rollouts have theirs in `Limits`).
    `described`: what an observer has said of photos of the request so far, by their SHA-256.
    """

    id: str
    remaining_s: Annotated[float, Field(ge=0)]
    trace: TraceContext | None = None
    priority: int = 0
    money_left_usd: Annotated[float, Field(ge=0)] | None = None
    described: dict[str, str] = {}


def new_request_id() -> str:
    """A random id of the form `REQUEST_ID`: `loc_` and 20 hexadecimal digits."""
    return "loc_" + secrets.token_hex(10)
