"""The claims in the metadata of a file. They are reported if the caller asks (`exif: report`), and never used for
the answer.
"""

from __future__ import annotations

from pydantic import Field

from geotts_client.latlon import LatLon
from geotts_client.value import Value


class FileClaim(Value):
    """Position, time and camera as the file's EXIF states them; anybody can write anything there."""

    point: LatLon | None = Field(
        default=None, description="position in EXIF (GPS), taken as WGS-84; null if there is none"
    )
    altitude_m: float | None = Field(
        default=None, description="altitude in EXIF in metres, negative below sea level; null if there is none"
    )
    taken_at: str = Field(
        default="",
        description="time in EXIF as the file writes it (`2024:05:06 07:08:09`), by the camera's clock; empty if "
        "there is none",
    )
    camera: str = Field(default="", description="maker and model in EXIF; empty if there is none")
    software: str = Field(default="", description="program in EXIF that wrote the file; empty if there is none")
    distance_km: float | None = Field(
        default=None, description="distance between `point` and the point of the answer; null if one of them is missing"
    )
    zone: str = Field(default="", description="offset of the camera's clock from UTC, such as +02:00")
    utc_at: str = Field(default="", description="the time that GPS stated, in UTC")
    xmp_point: LatLon | None = Field(default=None, description="position in XMP; null if there is none")
    xmp_taken_at: str = Field(default="", description="time in XMP as the file writes it; empty if there is none")
    xmp_camera: str = Field(default="", description="maker and model in XMP; empty if there is none")
