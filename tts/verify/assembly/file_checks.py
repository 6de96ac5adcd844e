"""Compares the claims of files (position, time, zone, camera) with the answer and with each other.

The claims are read after the answer is known, so they cannot change it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tts.decision_weights import weights
from tts.domain.answer import Verdict
from tts.domain.exif_claims import FileCheck, FileClaim
from tts.domain.geo import LatLon, circle_ring, distance_km
from tts.domain.hypothesis import Level
from tts.geodata.countries import zone_at

_W = weights("checks")
_SAME_PLACE_KM = _W["same_place_km"]
_SAME_TIME_TOLERANCE = timedelta(minutes=_W["same_time_minutes"])
_CLOCK_TOLERANCE = timedelta(minutes=_W["clock_minutes"])
_MAX_UTC_OFFSET = timedelta(hours=14)
_RING_POINTS = 8


def file_checks(claims: Sequence[FileClaim], verdict: Verdict) -> tuple[FileCheck, ...]:
    """All checks of all files, in their order."""
    return tuple(check for number, claim in enumerate(claims) for check in _check_file(number, claim, verdict))


def _check_file(photo: int, claim: FileClaim, verdict: Verdict) -> Iterator[FileCheck]:
    yield from _check_position(photo, claim, verdict)
    yield from _check_time(photo, claim)
    yield from _check_zone(photo, claim, verdict)
    if claim.camera and claim.xmp_camera:
        same = claim.camera.casefold() == claim.xmp_camera.casefold()
        words = "name the same camera" if same else f"name different cameras: {claim.camera} and {claim.xmp_camera}"
        yield _make_check(photo, "camera", f"EXIF and XMP {words}.", agrees=same)


def _check_position(photo: int, claim: FileClaim, verdict: Verdict) -> Iterator[FileCheck]:
    if claim.point is not None and claim.xmp_point is not None:
        apart = distance_km(claim.point, claim.xmp_point)
        same = apart <= _SAME_PLACE_KM
        words = "the same position" if same else f"positions that are {apart:,.0f} km apart"
        yield _make_check(photo, "position", f"EXIF and XMP state {words}.", agrees=same)
    stated_point = claim.point or claim.xmp_point
    if stated_point is None:
        return
    if verdict.point is None or verdict.radius_km is None:
        text = f"The file says {stated_point}. The photo itself supports no point, so that this was not checked."
        yield FileCheck(photo=photo, about="position", outcome="unchecked", text=text)
        return
    away = distance_km(stated_point, verdict.point)
    inside = away <= verdict.radius_km.p90
    where = "inside" if inside else "outside"
    text = f"The file says {stated_point}, {away:,.1f} km from the answer: {where} its 90 % radius."
    yield _make_check(photo, "position", text, agrees=inside)


def _check_time(photo: int, claim: FileClaim) -> Iterator[FileCheck]:
    local, other, utc = parse_time(claim.taken_at), parse_time(claim.xmp_taken_at), parse_time(claim.utc_at)
    if local is not None and other is not None:
        same = abs(local.replace(tzinfo=None) - other.replace(tzinfo=None)) <= _SAME_TIME_TOLERANCE
        words = "the same time" if same else f"different times: {claim.taken_at} and {claim.xmp_taken_at}"
        yield _make_check(photo, "time", f"EXIF and XMP state {words}.", agrees=same)
    offset = offset_of(claim.zone)
    if local is not None and utc is not None and offset is not None:
        error = abs(local.replace(tzinfo=timezone(offset)) - utc.replace(tzinfo=UTC))
        same = error <= _CLOCK_TOLERANCE
        words = "agree" if same else f"differ by {error.total_seconds() / 3600:.1f} h"
        yield _make_check(photo, "time", f"The time of the camera and the time of GPS {words}.", agrees=same)


def _check_zone(photo: int, claim: FileClaim, verdict: Verdict) -> Iterator[FileCheck]:
    """The offset from UTC that the file states, or that its two clocks imply, against the zones around the answer."""
    stated_offset = offset_of(claim.zone) or _implied_offset(claim)
    local = parse_time(claim.taken_at)
    if stated_offset is None or local is None:
        return
    offsets = _offsets_at_answer(verdict, local)
    stated_clock = f"The clock of the file was at {_format_utc_offset(stated_offset)}"
    if not offsets:
        text = f"{stated_clock}. The photo itself supports no point, so that this was not checked."
        yield FileCheck(photo=photo, about="zone", outcome="unchecked", text=text)
        return
    zones = " or ".join(_format_utc_offset(offset) for offset in sorted(offsets))
    yield _make_check(
        photo,
        "zone",
        f"{stated_clock}. Where the answer lies it was {zones} on that day.",
        agrees=stated_offset in offsets,
    )


def _offsets_at_answer(verdict: Verdict, local: datetime) -> set[timedelta]:
    """The offsets from UTC on that day in the 90 % circle; none for an answer that knows not even a country."""
    if verdict.point is None or verdict.radius_km is None or verdict.level is Level.NONE:
        return set()
    points = [verdict.point, *circle_ring(verdict.point, verdict.radius_km.p90, _RING_POINTS)]
    return {offset for point in points if (offset := _offset_at(point, local)) is not None}


def _offset_at(point: LatLon, local: datetime) -> timedelta | None:
    try:
        return local.replace(tzinfo=ZoneInfo(zone_at(point))).utcoffset()
    except (ZoneInfoNotFoundError, ValueError):
        return None


def _implied_offset(claim: FileClaim) -> timedelta | None:
    local, utc = parse_time(claim.taken_at), parse_time(claim.utc_at)
    if local is None or utc is None:
        return None
    difference = local.replace(tzinfo=None) - utc.replace(tzinfo=None)
    quarters = round(difference / _CLOCK_TOLERANCE)
    return quarters * _CLOCK_TOLERANCE if abs(difference) <= _MAX_UTC_OFFSET else None


def parse_time(text: str) -> datetime | None:
    """A time as EXIF (`2024:05:06 07:08:09`) or XMP (ISO 8601) writes it; None for what is none."""
    head, tail = text[:10].replace(":", "-"), text[10:]
    try:
        return datetime.fromisoformat(head + tail)
    except ValueError:
        return None


def offset_of(text: str) -> timedelta | None:
    """`+02:00` as a difference from UTC; None for what is none."""
    try:
        return datetime.strptime(text, "%z").utcoffset() if text else None
    except ValueError:
        return None


def _format_utc_offset(offset: timedelta) -> str:
    minutes = round(offset.total_seconds() / 60)
    return f"UTC{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"


def _make_check(photo: int, about: str, text: str, *, agrees: bool) -> FileCheck:
    outcome = "agrees" if agrees else "contradicts"
    return FileCheck.model_validate({"photo": photo, "about": about, "outcome": outcome, "text": text})
