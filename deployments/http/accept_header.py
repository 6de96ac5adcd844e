"""What a client wants to read: `Accept` by RFC 9110 section 12.5.1."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from fastapi import Depends, Request

from tts.errors import RequestError

_ELEMENT = re.compile(r'(?:"(?:\\.|[^"\\])*"?|[^,"])+')  # a comma inside quotes separates nothing
_WEIGHT = re.compile(r";\s*q\s*=\s*([^;\s]*)\s*(?:;|$)", re.IGNORECASE)
_NUMBER = re.compile(r"0(\.[0-9]{0,9})?|1(\.0{0,9})?")
_RANK_OF_ANY = 0


class _Range(NamedTuple):
    """A media range and how much it is wanted, from 0 (not at all) to 1."""

    name: str
    weight: float

    def names(self, kind: str) -> int | None:
        """How exactly this is that media type: 2 by its name, 1 as `type/*`, 0 as `*/*`; None if it is another."""
        if self.name == kind:
            return 2
        if self.name == kind.partition("/")[0] + "/*":
            return 1
        return _RANK_OF_ANY if self.name == "*/*" else None


class NotAcceptable(RequestError):
    """`Accept` wants none of the media types that are offered."""

    code = "not-acceptable"
    status = 406


def choose_media_type(accept: Iterable[str], offered: Sequence[str]) -> str:
    """The media type of `offered` that the lines of an `Accept` header want most; the first if there is no such header.

    Of two that are wanted alike the one that is named more exactly wins, then the one that is offered first. What is no
    media range is passed over.

    Raises:
        NotAcceptable: it wants none of them; says what there is.
    """
    ranges = [wanted for element in _ELEMENT.findall(",".join(accept)) if (wanted := _parse_range(element))]
    found = [(_weight_of(kind, ranges), kind) for kind in offered]
    (weight, _), best = max(found, key=lambda one: one[0])
    if ranges and weight <= 0:
        raise NotAcceptable(f"none of the media types in Accept is offered; offered are: {', '.join(offered)}")
    return best if weight > 0 else offered[0]


def require_acceptable(*media_types: str) -> Any:
    """A dependency of routes that reply in one of these media types and need not know which one the caller prefers.
    A request that accepts none of them is refused with a 406 before the route does anything.
    """

    async def acceptable(request: Request) -> None:
        choose_media_type(request.headers.getlist("accept"), media_types)

    return Depends(acceptable)


def _weight_of(kind: str, ranges: Iterable[_Range]) -> tuple[float, int]:
    """The weight that the most exact range gives a media type, and how exact that range is."""
    exact = [(how, one.weight) for one in ranges if (how := one.names(kind)) is not None]
    how, weight = max(exact, default=(_RANK_OF_ANY, 0.0))
    return weight, how


def _parse_range(element: str) -> _Range | None:
    """A range without its parameters, which none of our media types has; None if its weight is no weight."""
    name = element.partition(";")[0].strip().lower()
    stated = _WEIGHT.search(element)
    weight = stated.group(1) if stated else "1"
    return _Range(name, float(weight)) if "/" in name and _NUMBER.fullmatch(weight) else None
