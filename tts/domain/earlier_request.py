"""The data of an earlier request that a new request continues, and how the answer has changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from geotts_client.change import AnsweredPlace as AnsweredPlace
from geotts_client.change import Change as Change
from tts.domain.answer import Verdict
from tts.domain.geo import LatLon, distance_km
from tts.domain.tooling import ToolCall, ToolResult
from tts.domain.value import Value

_SAME_PLACE_KM = 1.0


class EarlierRequest(Value):
    """`before` is the earlier answer; `found` is what spoke for and against it; `why` is what the caller added. `keeps`
    says which results of tools are not asked for again: all, or those that depend on the photos alone.
    """

    request_id: str
    before: AnsweredPlace | None = None
    found: tuple[str, ...] = ()
    why: tuple[str, ...] = ()
    keeps: Literal["all", "photos", ""] = ""


@dataclass(frozen=True, slots=True)
class KeptResult:
    """A call of a tool that the earlier request made, under the model's name for it, what came back, and the bytes of
    its pictures as (SHA-256, media type, data)."""

    call: ToolCall
    result: ToolResult
    files: tuple[tuple[str, str, bytes], ...] = ()


def answered_place(verdict: Verdict) -> AnsweredPlace:
    """A verdict in short."""
    finest = verdict.place or verdict.city or verdict.region
    named = f"{finest} ({verdict.country})" if finest and verdict.country else finest or verdict.country
    place = "" if verdict.point is None else named or str(verdict.point)
    return AnsweredPlace(
        place=place, lat=verdict.lat, lon=verdict.lon, level=verdict.level, confidence=verdict.confidence
    )


def change_of(continued: EarlierRequest, verdict: Verdict) -> Change:
    """What a verdict changes of the earlier answer."""
    before, after = continued.before, answered_place(verdict)
    km = _km_between(before, after)
    return Change(
        continues=continued.request_id,
        text=_sentence(before, after, km, "; ".join(continued.why)),
        before=before,
        after=after,
        why=continued.why,
        distance_km=None if km is None else round(km, 3),
    )


def _sentence(before: AnsweredPlace | None, after: AnsweredPlace, km: float | None, why: str) -> str:
    earlier = before.place if before is not None else ""
    if not earlier:
        found = f"The answer is now {after.place}; before there was none" if after.place else "There is still no answer"
        return f"{found} ({why})."
    if not after.place:
        return f"The answer was {earlier}; now nothing that was found supports a place ({why})."
    if earlier == after.place and km is not None and km < _SAME_PLACE_KM:
        return f"The answer is still {after.place} ({why})."
    if earlier == after.place:
        return f"The answer is still {after.place}, at a point {km:,.0f} km away ({why})."
    return f"The answer changed from {earlier} to {after.place}, {km:,.0f} km away ({why})."


def _km_between(before: AnsweredPlace | None, after: AnsweredPlace) -> float | None:
    if before is None or before.lat is None or before.lon is None or after.lat is None or after.lon is None:
        return None
    return distance_km(LatLon(lat=before.lat, lon=before.lon), LatLon(lat=after.lat, lon=after.lon))
