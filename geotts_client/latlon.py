"""A point on the WGS-84 ellipsoid. It is always written `LatLon(lat=…, lon=…)`: no bare tuples of coordinates."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from geotts_client.value import Value


class LatLon(Value):
    """A WGS-84 position in signed degrees: lat in [-90, 90], lon normalised to [-180, 180)."""

    lat: Annotated[float, Field(ge=-90, le=90, allow_inf_nan=False)] = Field(
        description="degrees north; negative in the south"
    )
    lon: Annotated[float, Field(ge=-540, le=540, allow_inf_nan=False)] = Field(
        description="degrees east; negative in the west. Values outside -180 to 180 are brought into this range"
    )

    @model_validator(mode="after")
    def _normalise_lon(self) -> LatLon:
        if not -180.0 <= self.lon < 180.0:
            object.__setattr__(self, "lon", (self.lon + 180.0) % 360.0 - 180.0)
        return self

    def __str__(self) -> str:
        return f"{self.lat:.5f}, {self.lon:.5f}"
