"""What the metadata of a file claims. It is read only if the caller asks (`exif: report` or `claims`), reported with
the answer, and never used for it.

The claim comes from the bytes that were sent; the `Photo` everything else sees has no metadata at all.
"""

from __future__ import annotations

import io
import math
from typing import Any, Final

from PIL import ExifTags, Image

from geotts_client.file_check import FileCheck as FileCheck
from geotts_client.file_claim import FileClaim as FileClaim
from geotts_client.latlon import LatLon
from tts.domain.photo_cleaning import DECODER_ERRORS, FORMATS
from tts.domain.xmp_claims import xmp_claim

_GPS_IFD: Final = ExifTags.IFD.GPSInfo
_EXIF_IFD: Final = ExifTags.IFD.Exif


def file_claim(raw: bytes) -> FileClaim:
    """The claim of one file; an empty one when it makes none or its metadata is broken. Never raises on bad bytes."""
    try:
        with Image.open(io.BytesIO(raw), formats=FORMATS) as picture:
            exif = picture.getexif()
            gps, detail = exif.get_ifd(_GPS_IFD), exif.get_ifd(_EXIF_IFD)
            packet = picture.info.get("xmp") or picture.info.get("XML:com.adobe.xmp") or b""
    except DECODER_ERRORS:
        return FileClaim()
    make, model = _text(exif.get(ExifTags.Base.Make)), _text(exif.get(ExifTags.Base.Model))
    xmp = xmp_claim(packet.encode() if isinstance(packet, str) else bytes(packet))
    return FileClaim(
        point=_point(gps),
        altitude_m=_altitude(gps),
        taken_at=_text(detail.get(ExifTags.Base.DateTimeOriginal) or exif.get(ExifTags.Base.DateTime)),
        camera=model if model.startswith(make) else f"{make} {model}".strip(),
        software=_text(exif.get(ExifTags.Base.Software)),
        zone=_text(detail.get(ExifTags.Base.OffsetTimeOriginal) or detail.get(ExifTags.Base.OffsetTime)),
        utc_at=_gps_time(gps),
        xmp_point=xmp.point,
        xmp_taken_at=xmp.taken_at,
        xmp_camera=xmp.camera,
    )


def _gps_time(gps: dict[int, Any]) -> str:
    """Date and time of the satellites, as EXIF writes a time; empty where one of them is missing."""
    date, parts = _text(gps.get(ExifTags.GPS.GPSDateStamp)), gps.get(ExifTags.GPS.GPSTimeStamp)
    numbers = [_number(part) for part in parts] if isinstance(parts, tuple | list) else []
    if not date or len(numbers) != 3 or None in numbers:
        return ""
    hours, minutes, seconds = (int(number or 0) for number in numbers)
    return f"{date} {hours:02d}:{minutes:02d}:{seconds:02d}"


def _point(gps: dict[int, Any]) -> LatLon | None:
    lat = _degrees(gps.get(ExifTags.GPS.GPSLatitude), gps.get(ExifTags.GPS.GPSLatitudeRef), "S")
    lon = _degrees(gps.get(ExifTags.GPS.GPSLongitude), gps.get(ExifTags.GPS.GPSLongitudeRef), "W")
    if lat is None or lon is None or abs(lat) > 90 or abs(lon) > 180 or (lat == 0 and lon == 0):
        return None
    return LatLon(lat=round(lat, 7), lon=round(lon, 7))


def _degrees(parts: Any, reference: Any, negative: str) -> float | None:
    numbers = [_number(part) for part in (parts if isinstance(parts, tuple | list) else (parts,))]
    stated = [n for n in numbers if n is not None]
    if not 1 <= len(stated) <= 3 or len(stated) != len(numbers):
        return None
    value = math.fsum(part / 60.0**i for i, part in enumerate(stated))
    return -value if _text(reference).upper().startswith(negative) else value


def _altitude(gps: dict[int, Any]) -> float | None:
    metres = _number(gps.get(ExifTags.GPS.GPSAltitude))
    if metres is None:
        return None
    below = gps.get(ExifTags.GPS.GPSAltitudeRef) in (1, b"\x01")
    return round(-metres if below else metres, 1)


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError, ZeroDivisionError):
        return None
    return number if math.isfinite(number) else None


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        value = value.decode("latin-1")
    return "".join(char for char in value if char.isprintable()).strip()[:100] if isinstance(value, str) else ""
