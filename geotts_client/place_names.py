"""The names of the place that an answer, or a candidate of it, has found. Each is empty if it is not known."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

CountryName = Annotated[str, Field(description="name of the country; empty if it is not known")]
CountryCode = Annotated[
    str, Field(description="ISO 3166-1 alpha-2 code of the country, such as `FR`; empty if the country is not known")
]
RegionName = Annotated[
    str,
    Field(description="name of the first-order division (a state, a province); empty if nothing supports one"),
]
CityName = Annotated[str, Field(description="name of the town, of any size; empty if nothing supports one")]
PlaceName = Annotated[
    str,
    Field(
        description="name of the place in the town, such as a street or a building, as a rollout wrote it; empty if "
        "nothing supports one"
    ),
]
