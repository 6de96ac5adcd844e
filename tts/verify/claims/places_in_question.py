"""The places between which a check decides: the claimed places, and the best place that blind rollouts found.

Testing rollouts get all these places in the same form, with the names of the gazetteer and in alphabetical order. They
do not learn which one is claimed.
"""

from __future__ import annotations

from collections.abc import Sequence

from tts.decision_weights import weights
from tts.domain.answer import Verdict
from tts.domain.claim import ClaimedPlace
from tts.domain.geo import Circle, Countries, LatLon, lies_in
from tts.domain.hypothesis import Level
from tts.verify.evidence.contradiction_texts import place_words

_MIN_RADIUS_KM = weights("claims")["least_place_km"]
_MAX_RADIUS_KM = weights("claims")["most_place_km"]


def places_in_question(claimed: Sequence[ClaimedPlace], verdict: Verdict) -> tuple[ClaimedPlace, ...]:
    """The claimed places and the answer of the blind rollouts, if that is another place; by name."""
    rival = _answered_place(verdict)
    known = rival is None or any(_may_contain_answer(place, verdict) for place in claimed)
    every = (*claimed, *(() if known or rival is None else (rival,)))
    return tuple(sorted(every, key=lambda place: place.place))


def _answered_place(verdict: Verdict) -> ClaimedPlace | None:
    words = place_words(verdict)
    if verdict.point is None or verdict.radius_km is None or not words:
        return None
    if verdict.level is Level.COUNTRY and verdict.country_code:
        return ClaimedPlace(place=words, kind="country", areas=(Countries(codes=(verdict.country_code,)),))
    km = min(_MAX_RADIUS_KM, max(_MIN_RADIUS_KM, verdict.radius_km.p50))
    return ClaimedPlace(place=words, kind="town", areas=(Circle(centre=verdict.point, radius_km=km),))


def _may_contain_answer(place: ClaimedPlace, verdict: Verdict) -> bool:
    """Whether an answer may lie in a place, by its names and its point."""
    point = verdict.point
    if point is None:
        return False
    if place.region and verdict.region and verdict.region != place.region:
        return False
    return any(_area_contains(place, number, point, verdict) for number in range(len(place.areas)))


def _area_contains(place: ClaimedPlace, number: int, point: LatLon, verdict: Verdict) -> bool:
    area = place.areas[number]
    return verdict.country_code in area.codes if isinstance(area, Countries) else lies_in(point, area)
