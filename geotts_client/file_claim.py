"""What a file claims about itself. Told beside the answer when the caller asks (`exif: report`), never used for it."""

from __future__ import annotations

from geotts_client.latlon import LatLon
from geotts_client.value import Value


class FileClaim(Value):
    """Position, time and camera as the file's EXIF states them; anybody can write anything there."""

    point: LatLon | None = None
    altitude_m: float | None = None
    taken_at: str = ""
    camera: str = ""
    software: str = ""
    distance_km: float | None = None
