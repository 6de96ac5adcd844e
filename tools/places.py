"""Place tools over any provider: search by name, complete a name, details, geocode, reverse geocode, country."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Protocol

from pydantic import Field

from tools.tool_provider import ToolProvider
from tts.domain.geo import Area, Countries, LatLon, lies_in
from tts.domain.request import RequestContext
from tts.domain.tooling import CountryFact, PlaceFact
from tts.errors import ToolError, ToolErrorKind
from tts.ports.toolbox import ToolContext
from tts.toolkit.spec import Arguments, FunctionTool, Observation, Tool, ToolSpec


class PlacesProvider(ToolProvider, Protocol):
    """Where places come from. Empty results are empty lists.

    Points are in WGS-84: a provider whose service uses another datum converts them where it makes a `PlaceFact`.
    `context` is the request: it bounds how long a call waits for its turn, and what is sent is listed under its id.
    """

    def owns(self, place_id: str) -> bool:
        """Tell whether an id looks like one of this provider's, by its form: nothing is asked.

        Args:
            place_id: an id that some provider gave, or what a model wrote in its place.

        Returns:
            True also for an id of this form that does not exist.
        """
        ...

    async def search(
        self, query: str, /, *, country: str | None, limit: int, context: RequestContext
    ) -> Sequence[PlaceFact]:
        """Find places by name.

        Args:
            query: the name of a place, in any script.
            country: an ISO 3166-1 alpha-2 code, in either case. A provider may only prefer this country: results
                elsewhere are possible. None searches everywhere.
            limit: most results, 1 or more.
            context: the request for which it is asked.

        Returns:
            The best first; empty when nothing is found.

        Raises:
            ToolError: the provider fails, with a kind such as UNAVAILABLE, TIMEOUT, RATE_LIMITED or QUOTA.
        """
        ...

    async def autocomplete(
        self, query: str, /, *, country: str | None, limit: int, context: RequestContext
    ) -> Sequence[PlaceFact]:
        """Find places whose name begins with a text, best first.

        Args:
            query: the beginning of a name, in any script.
            country: as in `search`.
            limit: most results, 1 or more.
            context: the request for which it is asked.

        Returns:
            Places that may lack a position, which `detail` gives for their id.

        Raises:
            ToolError: as in `search`.
        """
        ...

    async def detail(self, place_id: str, *, context: RequestContext) -> PlaceFact | None:
        """Look up the place of an id.

        Args:
            place_id: the `PlaceFact.id` of an earlier result, or what a model wrote in its place.
            context: the request for which it is asked.

        Returns:
            The place; None when there is none.

        Raises:
            ToolError: as in `search`; or NOT_FOUND, from a provider that does not return None.
        """
        ...

    async def geocode(
        self, address: str, /, *, country: str | None, limit: int, context: RequestContext
    ) -> Sequence[PlaceFact]:
        """Find the places of an address.

        Args:
            address: units divided by commas, the largest last; what the provider does not know of it may be skipped.
            country: as in `search`.
            limit: most results, 1 or more.
            context: the request for which it is asked.

        Returns:
            The best first; empty when nothing is found.

        Raises:
            ToolError: as in `search`.
        """
        ...

    async def reverse(self, point: LatLon, *, limit: int, context: RequestContext) -> Sequence[PlaceFact]:
        """Find the places nearest to a point.

        Args:
            point: in WGS-84, whatever datum the service uses.
            limit: most results, 1 or more.
            context: the request for which it is asked.

        Returns:
            The nearest or most exact first; empty where the provider knows of nothing.

        Raises:
            ToolError: as in `search`.
        """
        ...


class CountryProvider(Protocol):
    """Which country a point lies in."""

    async def country_at(self, point: LatLon) -> CountryFact:
        """Return the country of a point.

        Args:
            point: in WGS-84.

        Returns:
            At sea a fact with `at_sea` set and an empty code.
        """
        ...


Name = Annotated[str, Field(min_length=1, max_length=200)]
CountryCode = Annotated[
    str | None, Field(pattern=r"^[A-Za-z]{2}$", description="ISO 3166-1 alpha-2 code to search inside, e.g. JP")
]


class SearchArguments(Arguments):
    """The arguments of a search for places by name."""

    query: Annotated[Name, Field(description="name of a town, region, country or airport, in any script")]
    country: CountryCode = None


class DetailArguments(Arguments):
    """The arguments of `poi_detail`: the id of a place that a search found."""

    poi_id: Annotated[Name, Field(description="id from an earlier search result")]


class GeocodeArguments(Arguments):
    """The arguments of `geocode`: an address."""

    address: Annotated[Name, Field(description="an address, largest unit last, e.g. 'Wilhelmsburg, Hamburg, Germany'")]
    country: CountryCode = None


class PointArguments(Arguments):
    """The arguments of tools that answer about a point: WGS-84, in degrees."""

    latitude: Annotated[float, Field(ge=-90, le=90)]
    longitude: Annotated[float, Field(ge=-180, le=180)]

    def point(self) -> LatLon:
        """Combine the two numbers.

        Returns:
            A point in WGS-84.
        """
        return LatLon(lat=self.latitude, lon=self.longitude)


_MAX_RESULTS = 5
PLACE_TOOLS = (
    "poi_keyword_search",
    "poi_input_tips",
    "poi_detail",
    "geocode",
    "reverse_geocode",
    "country_at",
)


def places_tools(provider: PlacesProvider, countries: CountryProvider) -> list[Tool]:
    """The six place tools served by one provider, countries by another.

    Positions are in WGS-84. A dialect names the datum of its model, and converts the points that the model reads and
    writes.

    Args:
        provider: answers all tools but `country_at`.
        countries: answers `country_at`.

    Returns:
        The tools in the order of `PLACE_TOOLS`.
    """

    async def keyword(arguments: SearchArguments, context: ToolContext) -> Observation:
        places = await provider.search(
            arguments.query, country=arguments.country, limit=_MAX_RESULTS, context=context.request
        )
        return _places_observation(arguments.query, arguments.country, places, context.options.within)

    async def tips(arguments: SearchArguments, context: ToolContext) -> Observation:
        places = await provider.autocomplete(
            arguments.query, country=arguments.country, limit=2 * _MAX_RESULTS, context=context.request
        )
        return _places_observation(
            arguments.query, arguments.country, places, context.options.within, with_points=False
        )

    async def detail(arguments: DetailArguments, context: ToolContext) -> Observation:
        place = await provider.detail(arguments.poi_id, context=context.request)
        return _places_observation(arguments.poi_id, None, [place] if place else [], context.options.within)

    async def geocode(arguments: GeocodeArguments, context: ToolContext) -> Observation:
        places = await provider.geocode(
            arguments.address, country=arguments.country, limit=_MAX_RESULTS, context=context.request
        )
        return _places_observation(arguments.address, arguments.country, places, context.options.within)

    async def reverse(arguments: PointArguments, context: ToolContext) -> Observation:
        places = await provider.reverse(arguments.point(), limit=3, context=context.request)
        return _places_observation(str(arguments.point()), None, places, None)

    async def country_at(arguments: PointArguments, context: ToolContext) -> Observation:
        fact = await countries.country_at(arguments.point())
        text = (
            f"{fact.point} is at sea." if fact.at_sea else f"{fact.point} is in {fact.country} ({fact.country_code})."
        )
        return Observation(text=text, facts=(fact,))

    def spec(name: str, description: str) -> ToolSpec:
        return ToolSpec(
            name,
            description,
            provider=provider.name,
            needs_network=provider.needs_network,
            exact=frozenset({"poi_id"}),
        )

    return [
        FunctionTool(
            spec("poi_keyword_search", "Find places by their name; returns names, kinds and coordinates."),
            SearchArguments,
            keyword,
        ),
        FunctionTool(
            spec("poi_input_tips", "Complete the beginning of a place name; returns names and ids."),
            SearchArguments,
            tips,
        ),
        FunctionTool(spec("poi_detail", "Details of a place by the id of an earlier result."), DetailArguments, detail),
        FunctionTool(spec("geocode", "Coordinates of an address."), GeocodeArguments, geocode),
        FunctionTool(
            spec("reverse_geocode", "The towns nearest to a point, with their distance."), PointArguments, reverse
        ),
        FunctionTool(
            ToolSpec("country_at", "Which country a point lies in.", provider="offline"), PointArguments, country_at
        ),
    ]


def _places_in_country(places: Sequence[PlaceFact], country: str | None) -> list[PlaceFact]:
    """Without places that are known to lie elsewhere: some providers only prefer the country, or ignore it."""
    return [place for place in places if country is None or place.country_code in ("", country.upper())]


def _places_inside(places: list[PlaceFact], within: Area | None) -> list[PlaceFact]:
    """Those inside the area the caller asked for, where there are any. A name that is only known
    outside is found there: that is how an agent learns that the photo contradicts the area."""
    if within is None:
        return places
    return [place for place in places if _lies_inside(place, within)] or places


def _lies_inside(place: PlaceFact, within: Area) -> bool:
    if isinstance(within, Countries):
        return place.country_code in within.codes
    return place.point is None or lies_in(place.point, within)


def _places_observation(
    query: str, country: str | None, found: Sequence[PlaceFact], within: Area | None, *, with_points: bool = True
) -> Observation:
    places = _places_inside(_places_in_country(found, country), within)
    if not places:
        where = f" in {country.upper()}" if country else ""
        raise ToolError(f"no place called {query!r}{where} is known", kind=ToolErrorKind.NOT_FOUND)
    facts = places if with_points else [place.model_copy(update={"point": None}) for place in places]
    return Observation(text="\n".join(_place_line(place) for place in facts), facts=tuple(facts))


def _place_line(place: PlaceFact) -> str:
    parts = [
        place.name,
        place.place_kind,
        ", ".join(p for p in (place.address or place.admin1, place.country_code) if p),
    ]
    if place.point is not None:
        parts.append(str(place.point))
    if place.population:
        parts.append(f"population {place.population:,}")
    return f"[{place.id}] " + " | ".join(part for part in parts if part)
