"""An area that an answer must lie in: a rectangle, a circle or a set of countries."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from geotts_client.latlon import LatLon
from geotts_client.value import Value

HALF_CIRCUMFERENCE_KM = 20003.932


class BBox(Value):
    """A latitude/longitude rectangle; `west > east` means that it crosses the antimeridian."""

    kind: Literal["bbox"] = "bbox"
    south: Annotated[float, Field(ge=-90, le=90)] = Field(description="lower latitude in degrees")
    west: Annotated[float, Field(ge=-180, le=180)] = Field(description="western longitude in degrees")
    north: Annotated[float, Field(ge=-90, le=90)] = Field(description="upper latitude in degrees; larger than `south`")
    east: Annotated[float, Field(ge=-180, le=180)] = Field(description="eastern longitude in degrees")

    @model_validator(mode="after")
    def _check_order(self) -> BBox:
        if self.south >= self.north:
            raise ValueError("south must be below north")
        return self


class Circle(Value):
    """A circle on the ground around a point."""

    kind: Literal["circle"] = "circle"
    centre: LatLon = Field(description="the point in the middle")
    radius_km: Annotated[float, Field(gt=0, le=HALF_CIRCUMFERENCE_KM)] = Field(
        description="radius in km, at most half of the Earth's circumference"
    )


class Countries(Value):
    """A set of ISO 3166-1 alpha-2 codes."""

    kind: Literal["countries"] = "countries"
    codes: Annotated[tuple[Annotated[str, Field(pattern=r"^[A-Z]{2}$")], ...], Field(min_length=1, max_length=250)] = (
        Field(description="ISO 3166-1 alpha-2 codes in capital letters, such as `IT`")
    )


Area = Annotated[BBox | Circle | Countries, Field(discriminator="kind")]
