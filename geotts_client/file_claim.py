"""The claims in the metadata of a file. They are reported if the caller asks (`exif: report`), and never used for
the answer.
"""

from __future__ import annotations

from pydantic import Field

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
    zone: str = Field(default="", description="offset of the camera's clock from UTC, such as +02:00")
    utc_at: str = Field(default="", description="the time that GPS stated, in UTC")
    xmp_point: LatLon | None = None
    xmp_taken_at: str = ""
    xmp_camera: str = ""
