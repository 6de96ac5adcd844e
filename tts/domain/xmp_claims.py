"""What the XMP packet of a file claims: a few fields by name, read without an XML parser, so that nothing expands."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tts.domain.geo import LatLon

_MAX_BYTES = 256 * 1024  # bytes of a packet that are looked at
_FIELDS = {
    "lat": "exif:GPSLatitude",
    "lon": "exif:GPSLongitude",
    "taken_at": "exif:DateTimeOriginal",
    "created_at": "photoshop:DateCreated",
    "make": "tiff:Make",
    "model": "tiff:Model",
}
_DEGREES = re.compile(r"(\d{1,3}),(\d{1,2}(?:\.\d{1,9})?)(?:,(\d{1,2}(?:\.\d{1,9})?))?([NSEW])")
_ESCAPES = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'"}


@dataclass(frozen=True, slots=True)
class XmpClaim:
    """Position, time (ISO 8601) and camera; None or empty where the packet does not say."""

    point: LatLon | None = None
    taken_at: str = ""
    camera: str = ""


def xmp_claim(packet: bytes) -> XmpClaim:
    """The claim of a packet; an empty one when it makes none or is broken. Never raises."""
    text = packet[:_MAX_BYTES].decode("utf-8", errors="replace")
    found = {name: _value(text, field) for name, field in _FIELDS.items()}
    make, model = found["make"], found["model"]
    return XmpClaim(
        point=_point(found["lat"], found["lon"]),
        taken_at=found["taken_at"] or found["created_at"],
        camera=model if model.startswith(make) else f"{make} {model}".strip(),
    )


def _value(text: str, field: str) -> str:
    """Of a field that is an attribute or an element."""
    found = re.search(rf'{field}\s*=\s*(?:"([^"<]{{0,200}})"|\'([^\'<]{{0,200}})\')|<{field}>([^<]{{0,200}})</', text)
    if found is None:
        return ""
    value = next((group for group in found.groups() if group is not None), "")
    for escape, char in _ESCAPES.items():
        value = value.replace(escape, char)
    return "".join(char for char in value if char.isprintable()).strip()[:100]


def _point(lat: str, lon: str) -> LatLon | None:
    """Degrees and minutes as XMP writes them: `46,11.5668N`."""
    north, east = _degrees(lat, "NS"), _degrees(lon, "EW")
    if north is None or east is None or abs(north) > 90 or abs(east) > 180 or (north == 0 and east == 0):
        return None
    return LatLon(lat=round(north, 7), lon=round(east, 7))


def _degrees(text: str, letters: str) -> float | None:
    found = _DEGREES.fullmatch(text)
    if found is None or found[4] not in letters:
        return None
    value = float(found[1]) + float(found[2]) / 60.0 + float(found[3] or 0.0) / 3600.0
    return -value if found[4] in "SW" else value
