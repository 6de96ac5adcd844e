"""A place that somebody claims a photo shows, as the service understood it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from geotts_client.area import Area
from geotts_client.value import Value


class ClaimedPlace(Value):
    """A claimed place: any of the `areas`, or for the kind `region` the first-order division of that name in them."""

    claim: str = Field(default="", description="the claim in the caller's words")
    place: str = Field(description="the same place in the words of the gazetteer")
    kind: Literal["country", "region", "town", "area"] = Field(
        description="what is claimed: a whole country, a first-order division (`region`), a town with its "
        "surroundings, or an `area` of the caller",
    )
    areas: Annotated[tuple[Area, ...], Field(min_length=1)] = Field(
        description="the claimed area: any of these. For kind `region`, the countries in which the division lies"
    )
    region: str = Field(default="", description="name of the first-order division, for kind `region`")
