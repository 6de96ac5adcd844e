"""What `locate_photo` returns: the answer in few fields, and one paragraph for a model to read."""

from __future__ import annotations

from pydantic import Field

from geotts_client.budget import BudgetUse
from tts.domain.answer import Answer, Radius
from tts.domain.value import Value
from tts.export.geo_uri import geo_uri

_MAX_CANDIDATES = 5


class PlaceCandidate(Value):
    """Another place that some of the agents support."""

    name: str
    lat: float
    lon: float
    support: float = Field(description="share of the vote, 0 to 1")


class LocatedPlace(Value):
    """`lat` and `lon` are null exactly when the answer abstains: then `level` and the names say what is known."""

    request_id: str
    abstained: bool
    lat: float | None
    lon: float | None
    radius_km: Radius | None = Field(description="the true place is within p50 in 50 % and within p90 in 90 % of cases")
    level: str = Field(description="how exactly the place is known: none, country, region, city, point")
    country: str = ""
    region: str = ""
    city: str = ""
    place: str = ""
    confidence: float = Field(description="probability that the true place is within target_radius_km")
    target_radius_km: float
    explanation: str = ""
    contradictions: tuple[str, ...] = Field(default=(), description="what speaks against the hint or the area")
    candidates: tuple[PlaceCandidate, ...] = ()
    warnings: tuple[str, ...] = ()
    budget: BudgetUse | None = Field(default=None, description="of a request with a budget: what was used of it")
    geo_uri: str | None = None
    map: str | None = Field(default=None, description="resource: the answer on a map")
    report: str = Field(description="resource: the whole report with its evidence")


def map_uri(request_id: str) -> str:
    """The resource with the map of an answer."""
    return f"geotts://runs/{request_id}/map"


def report_uri(request_id: str) -> str:
    """The resource with the report of an answer."""
    return f"geotts://runs/{request_id}/report"


def located_place(request_id: str, answer: Answer) -> LocatedPlace:
    """The fields that an answer fills."""
    candidates = tuple(
        PlaceCandidate(name=_place_name(one.place, one.city, one.region, one.country), lat=one.lat, lon=one.lon,
                       support=one.support)
        for one in answer.candidates[:_MAX_CANDIDATES]
    )  # fmt: skip
    point, radius = answer.point, answer.radius_km
    return LocatedPlace(
        request_id=request_id,
        **{name: getattr(answer, name) for name in LocatedPlace.model_fields if name in _ANSWER_FIELDS},
        level=str(answer.level),
        contradictions=tuple(one.text for one in answer.contradictions),
        candidates=candidates,
        geo_uri=None if point is None else geo_uri(point, radius.p90 if radius else None),
        map=None if point is None else map_uri(request_id),
        report=report_uri(request_id),
    )


_ANSWER_FIELDS = frozenset(
    ("abstained", "lat", "lon", "radius_km", "country", "region", "city", "place", "confidence", "target_radius_km",
     "explanation", "warnings", "budget")
)  # fmt: skip


def text_of_place(found: LocatedPlace) -> str:
    """A short text with all that matters, for models that do not read structured content."""
    name = _place_name(found.place, found.city, found.region, found.country) or "an unknown place"
    lines = list(found.contradictions)
    if found.lat is None or found.lon is None or found.radius_km is None:
        lines.append(f"No point is supported. Known: {name} (level {found.level}).")
    else:
        lines.append(
            f"{name}: {found.lat:.5f}, {found.lon:.5f}, very probably within {found.radius_km.p90:.3g} km. "
            f"{found.confidence:.0%} sure that it is within {found.target_radius_km:g} km."
        )
    lines += [found.explanation, *found.warnings]
    return "\n".join(line for line in lines if line)


def _place_name(*names: str) -> str:
    return ", ".join(dict.fromkeys(name for name in names if name))
