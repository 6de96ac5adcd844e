"""Combines providers: one serves mainland China, another serves all other places.

A point decides by where it lies, a place id by whose it looks like, a name by the country asked for; a name without a
country that is written in Chinese characters only is tried in China first. Web searches go to the next service when
one cannot serve.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tools.failover import first_that_serves
from tools.maps import MapPicture, MapsProvider, Style
from tools.places import PlacesProvider
from tools.web import WebProvider
from tts.domain.geo import LatLon
from tts.domain.request import RequestContext
from tts.domain.tooling import PlaceFact, WebFact
from tts.geodata.datum import in_mainland_china

_HAN: Final = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_OTHER_EAST_ASIAN: Final = re.compile(r"[\u3040-\u30ff\uac00-\ud7af]")


class RoutedPlaces:
    """The `PlacesProvider` over one for mainland China and one for the world.

    Args:
        china: answers for mainland China.
        world: answers for all other places.
    """

    needs_network: Final = True

    def __init__(self, china: PlacesProvider, world: PlacesProvider) -> None:
        self._china_provider = china
        self._world_provider = world
        self.name = f"{china.name}+{world.name}"

    def owns(self, place_id: str) -> bool:
        """Whether the id looks like one of either provider's."""
        return self._china_provider.owns(place_id) or self._world_provider.owns(place_id)

    async def search(
        self, query: str, *, country: str | None, limit: int, context: RequestContext
    ) -> Sequence[PlaceFact]:
        """Results of the first provider that has any; errors are not caught."""
        for provider in self._providers_for_name(query, country):
            if found := await provider.search(query, country=country, limit=limit, context=context):
                return found
        return []

    async def autocomplete(
        self, query: str, *, country: str | None, limit: int, context: RequestContext
    ) -> Sequence[PlaceFact]:
        """Results of the first provider that has any; errors are not caught."""
        for provider in self._providers_for_name(query, country):
            if found := await provider.autocomplete(query, country=country, limit=limit, context=context):
                return found
        return []

    async def detail(self, place_id: str, *, context: RequestContext) -> PlaceFact | None:
        """Asks the provider for China where the id looks like one of its own, else the other."""
        provider = self._china_provider if self._china_provider.owns(place_id) else self._world_provider
        return await provider.detail(place_id, context=context)

    async def geocode(
        self, address: str, *, country: str | None, limit: int, context: RequestContext
    ) -> Sequence[PlaceFact]:
        """Results of the first provider that has any; errors are not caught."""
        for provider in self._providers_for_name(address, country):
            if found := await provider.geocode(address, country=country, limit=limit, context=context):
                return found
        return []

    async def reverse(self, point: LatLon, *, limit: int, context: RequestContext) -> Sequence[PlaceFact]:
        """Asks the provider for China where the point lies in its mainland, else the other."""
        provider = self._china_provider if in_mainland_china(point) else self._world_provider
        return await provider.reverse(point, limit=limit, context=context)

    def _providers_for_name(self, name: str, country: str | None) -> tuple[PlacesProvider, ...]:
        if country is not None:
            return (self._china_provider,) if country.upper() == "CN" else (self._world_provider,)
        if _HAN.search(name) and not _OTHER_EAST_ASIAN.search(name):
            return self._china_provider, self._world_provider
        return (self._world_provider,)


class RoutedMaps:
    """The `MapsProvider` over one for mainland China and one for the world, style by style.

    Args:
        china: draws mainland China.
        world: draws all other places.
    """

    needs_network: Final = True

    def __init__(self, china: MapsProvider, world: MapsProvider) -> None:
        self._china_provider = china
        self._world_provider = world
        self.name = f"{china.name}+{world.name}"
        self.styles: frozenset[Style] = china.styles | world.styles

    async def picture(
        self, point: LatLon, *, style: Style, zoom: float, width: int, height: int, context: RequestContext
    ) -> MapPicture:
        """Asks the provider that covers the point; the other one where the first lacks the style."""
        first, second = (
            (self._china_provider, self._world_provider)
            if in_mainland_china(point)
            else (self._world_provider, self._china_provider)
        )
        provider = first if style in first.styles else second
        return await provider.picture(point, style=style, zoom=zoom, width=width, height=height, context=context)


class WebInTurn:
    """The `WebProvider` over several services: the first that can serve does.

    Args:
        providers: the services, in the order of preference; 1 or more.
    """

    needs_network: Final = True

    def __init__(self, providers: Sequence[WebProvider]) -> None:
        self._providers = tuple(providers)
        self.name = "+".join(provider.name for provider in providers)

    async def search(self, query: str, *, limit: int, context: RequestContext) -> Sequence[WebFact]:
        """Hits of the first service that can serve. Raises ToolError."""
        return await first_that_serves(
            self._providers, lambda provider: provider.search(query, limit=limit, context=context)
        )
