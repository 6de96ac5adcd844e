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
    """One call as the model wrote it; `id` is unique within its rollout."""

    id: str
    name: str
    arguments: dict[str, JsonValue] = {}


class ImageRef(Value):
    """A picture by name, never by bytes: a region of a photo of the request, or a file under `sha256`."""

    sha256: str
    width: int
    height: int
    media_type: str = "image/jpeg"
    box: Box | None = None
    label: str = ""


class PlaceFact(Value):
    """A named place as a provider returned it, with its point in WGS-84."""

    kind: Literal["place"] = "place"
    id: str
    name: str
    place_kind: str = ""
    point: LatLon | None = None
    datum: _DatumOfFacts = Field(default="WGS-84", description="datum of `point`, always WGS-84")
    country_code: str = ""
    admin1: str = ""
    address: str = ""
    population: int | None = None
    score: float | None = Field(default=None, description="how well the result fits the query by its source, 0 to 1")
    source: str = ""
    url: str | None = None


class TextFact(Value):
    """A line of text read off the photo."""

    kind: Literal["text"] = "text"
    text: str
    box: Box
    script: str = ""
    language: str = ""
    confidence: Annotated[float, Field(ge=0, le=1)] = 0.0


class CountryFact(Value):
    """Which country lies at a point; `country_code` is empty at sea."""

    kind: Literal["country"] = "country"
    point: LatLon
    country_code: str
    country: str
    at_sea: bool = False
    source: str = ""


class WebFact(Value):
    """One search hit. `number` is the index that the model sees, over all queries of a call."""

    kind: Literal["web"] = "web"
    number: int
    title: str
    snippet: str = ""
    url: str
    query: str = ""
    source: str = ""
    same_picture: bool = Field(default=False, description="the service says that the page shows this very picture")


class ViewFact(Value):
    """A part of the photo or of a map that was shown to the model."""

    kind: Literal["view"] = "view"
    image: ImageRef
    point: LatLon | None = None
    zoom: float | None = None
    source: str = ""


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
        return self in _OUTAGES


_OUTAGES = frozenset(
    {
        ToolErrorKind.TIMEOUT,
        ToolErrorKind.UNAVAILABLE,
        ToolErrorKind.RATE_LIMITED,
        ToolErrorKind.QUOTA,
    }
)


class ToolFailure(Value):
    """Why a tool call failed."""

    kind: ToolErrorKind
    detail: str
    retry_after_s: float | None = None


class ToolResult(Value):
    """The result of one call: a success, which may have `facts`, or a `failure`. `text` is always present."""

    call_id: str
    name: str
    text: str
    facts: tuple[Fact, ...] = ()
    images: tuple[ImageRef, ...] = ()
    failure: ToolFailure | None = None
    cached: bool = False
    kept: bool = Field(
        default=False,
        description="true: the result is from the request that this one continues; the call was not made again",
    )
    elapsed_s: Annotated[float, Field(ge=0)] = 0.0
    retrieved_at: str = Field(default="", description="RFC 3339, UTC: when the provider answered")

    @property
    def ok(self) -> bool:
        """Whether the call succeeded, so that there is no `failure`."""
        return self.failure is None
