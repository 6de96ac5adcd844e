"""Tool calls, their results, and the facts in the results.

A result has three parts: `text` for the model, typed `facts` for the evidence checks, and `images` by reference.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal, get_args

from pydantic import Field, JsonValue, WithJsonSchema

from geotts_client.box import Box
from geotts_client.latlon import LatLon
from geotts_client.value import Value

Datum = Literal["WGS-84", "GCJ-02"]
# A stated point is in WGS-84. The schema of the events also names GCJ-02, which no event has: names and values in it
# are frozen until SCHEMA_VERSION changes.
_DatumOfFacts = Annotated[Literal["WGS-84"], WithJsonSchema({"enum": [*get_args(Datum)], "type": "string"})]


class ToolCall(Value):
    """A call of a tool, as the model wrote it."""

    id: str = Field(description="name of the call, unique in its rollout")
    name: str = Field(description="name of the tool")
    arguments: dict[str, JsonValue] = Field(default={}, description="arguments by their names, unchecked")


class ImageRef(Value):
    """A picture by name, never by bytes: a region of a photo of the request, or a file under `sha256`."""

    sha256: str = Field(description="SHA-256 of the clean copy of the photo, or of the file, in hexadecimal digits")
    width: int = Field(description="width of the picture that is shown, in pixels")
    height: int = Field(description="height of the picture that is shown, in pixels")
    media_type: str = Field(default="image/jpeg", description="format of the file")
    box: Box | None = Field(
        default=None, description="the region of the photo that is shown; null for a whole photo or file"
    )
    label: str = Field(default="", description="what the picture shows, in words for the model; may be empty")


class PlaceFact(Value):
    """A named place as a provider returned it, with its point in WGS-84."""

    kind: Literal["place"] = "place"
    id: str = Field(description="id of the place at its source")
    name: str = Field(description="name of the place")
    place_kind: str = Field(default="", description="kind of the place, in the words of the source; may be empty")
    point: LatLon | None = Field(default=None, description="position in WGS-84; null if the source gives none")
    datum: _DatumOfFacts = Field(default="WGS-84", description="datum of `point`, always WGS-84")
    country_code: str = Field(
        default="", description="ISO 3166-1 alpha-2 code of the country; empty if the source gives none"
    )
    admin1: str = Field(
        default="", description="name of the first-order division (a state, a province); empty if the source gives none"
    )
    address: str = Field(
        default="",
        description="address in one line, or another note about the position; empty if the source gives none",
    )
    population: int | None = Field(default=None, description="number of inhabitants; null if it is not known")
    score: float | None = Field(default=None, description="how well the result fits the query by its source, 0 to 1")
    source: str = Field(default="", description="name of the service or data that it comes from")
    url: str | None = Field(default=None, description="page about the place; null if there is none")


class TextFact(Value):
    """A line of text read off the photo."""

    kind: Literal["text"] = "text"
    text: str = Field(description="the line as it was read")
    box: Box = Field(description="where it is in the photo")
    script: str = Field(
        default="",
        description="ISO 15924 code of the script of most of its letters, such as `Latn`; empty if not known",
    )
    language: str = Field(default="", description="BCP 47 tag of the language; empty if not known")
    confidence: Annotated[float, Field(ge=0, le=1)] = Field(default=0.0, description="confidence of the reader, 0 to 1")
    alternatives: tuple[str, ...] = Field(default=(), description="what the line may say instead")


class CountryFact(Value):
    """Which country lies at a point."""

    kind: Literal["country"] = "country"
    point: LatLon = Field(description="the point that was asked about")
    country_code: str = Field(description="ISO 3166-1 alpha-2 code of the country; empty at sea")
    country: str = Field(description="English name of the country; empty at sea")
    at_sea: bool = Field(default=False, description="true: the point lies in no country")
    source: str = Field(default="", description="name of the data that it comes from")


class WebFact(Value):
    """One search hit."""

    kind: Literal["web"] = "web"
    number: int = Field(description="index of the hit, from 1, over all queries of the call; the model reads it too")
    title: str = Field(description="title of the page")
    snippet: str = Field(default="", description="words of the page, or about it; may be empty")
    url: str = Field(description="address of the page")
    query: str = Field(default="", description="the query that found it; empty for a search by picture")
    source: str = Field(default="", description="name of the search service; may be empty")
    same_picture: bool = Field(default=False, description="the service says that the page shows this very picture")


class ViewFact(Value):
    """A part of the photo or of a map that was shown to the model."""

    kind: Literal["view"] = "view"
    image: ImageRef = Field(description="the picture that was shown")
    point: LatLon | None = Field(
        default=None,
        description="the point in the middle of the map; null for a part of a photo, or if it is not known",
    )
    zoom: float | None = Field(
        default=None,
        description="zoom of the map (Web Mercator: 0 is the world in 256 pixels); null for a part of a photo",
    )
    source: str = Field(default="", description="`photo`, or the name of the map service")


Fact = Annotated[PlaceFact | TextFact | CountryFact | WebFact | ViewFact, Field(discriminator="kind")]


class ToolErrorKind(StrEnum):
    """Why a tool could not answer; shown to the model and counted in metrics."""

    INVALID_ARGUMENTS = "invalid_arguments"
    UNKNOWN_TOOL = "unknown_tool"
    NOT_ALLOWED = "not_allowed"
    NOT_FOUND = "not_found"
    TIMEOUT = "timeout"
    UNAVAILABLE = "unavailable"
    RATE_LIMITED = "rate_limited"
    QUOTA = "quota"
    BLOCKED = "blocked"
    BUDGET = "budget"

    @property
    def is_outage(self) -> bool:
        """Whether another call would have failed too: the tool, or the service behind it, could not serve."""
        return self in _OUTAGE_KINDS


_OUTAGE_KINDS = frozenset(
    {
        ToolErrorKind.TIMEOUT,
        ToolErrorKind.UNAVAILABLE,
        ToolErrorKind.RATE_LIMITED,
        ToolErrorKind.QUOTA,
    }
)


class ToolFailure(Value):
    """Why a tool call failed."""

    kind: ToolErrorKind = Field(description="kind of the failure")
    detail: str = Field(description="what went wrong, in words for the model")
    retry_after_s: float | None = Field(
        default=None, description="seconds until the provider takes the next call; null if it did not state them"
    )


class ToolResult(Value):
    """The result of one call: a success, which may have `facts`, or a `failure`."""

    call_id: str = Field(description="`id` of the call")
    name: str = Field(description="name of the tool")
    text: str = Field(description="what the model reads")
    facts: tuple[Fact, ...] = Field(
        default=(),
        description="places, lines of text, countries, pages and views that the result states; empty for a failure",
    )
    images: tuple[ImageRef, ...] = Field(
        default=(), description="pictures that the model sees; empty if there are none"
    )
    failure: ToolFailure | None = Field(default=None, description="why the call failed; null for a success")
    cached: bool = Field(default=False, description="true: the result came from a cache, so that no provider was asked")
    kept: bool = Field(
        default=False,
        description="true: the result is from the request that this one continues; the call was not made again",
    )
    elapsed_s: Annotated[float, Field(ge=0)] = Field(default=0.0, description="seconds that the call took")
    retrieved_at: str = Field(default="", description="RFC 3339, UTC: when the provider answered")

    @property
    def ok(self) -> bool:
        """Whether the call succeeded, so that there is no `failure`."""
        return self.failure is None
