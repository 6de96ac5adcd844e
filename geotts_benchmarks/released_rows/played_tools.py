"""The toolbox that serves a released system, over a played network or over none."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from geotts_benchmarks.released_rows.played_transport import PlayedTransport
from tools.provider_assembly import OfflineProviders, build_catalog
from tools.released.catalog import released_local_tools
from tts.config import ProviderName, ProviderSettings, ToolsConfig
from tts.domain.geo import LatLon
from tts.domain.request import RequestContext
from tts.domain.tooling import CountryFact, PlaceFact, ToolCall
from tts.errors import ToolError, ToolErrorKind
from tts.ports.toolbox import Toolbox, ToolContext, ToolOutcome, ToolSchema
from tts.toolkit.broker.broker import Broker
from tts.toolkit.broker.cache_store import MemoryStore
from tts.toolkit.toolbox import JoinedToolbox, LocalToolbox, failure_outcome

_PROVIDERS: tuple[ProviderName, ...] = ("amap", "google", "serper", "tavily", "opencage")
_MADE_UP_KEYS = {
    f"{name}_API_KEY": "made-up-key-of-a-test" for name in ("AMAP", "GOOGLE_MAPS", "SERPER", "TAVILY", "OPENCAGE")
}
_FAST_SETTINGS = ProviderSettings(per_s=1000.0, burst=1000.0, retries=2)


@asynccontextmanager
async def played_toolbox(
    system: str, transport: PlayedTransport | None, texts: Sequence[ToolSchema] = ()
) -> AsyncIterator[Toolbox]:
    """The tools of a system beside the engine and behind the broker; without a transport the broker is not reached."""
    network = transport or PlayedTransport({"fails": "lost"})
    config = ToolsConfig(providers=_PROVIDERS, settings=dict.fromkeys(_PROVIDERS, _FAST_SETTINGS))
    store, nowhere = MemoryStore(), _NoPlaces()
    catalog = build_catalog(
        config,
        OfflineProviders(nowhere, nowhere),
        store,
        environment=_MADE_UP_KEYS,
        system=system,
        texts=texts,
        transport=network,
    )
    broker = Broker(catalog.tools, store)
    behind: Toolbox = broker if transport is not None else _LostBroker(broker, network)
    try:
        yield JoinedToolbox(LocalToolbox(released_local_tools(system, texts)), behind)
    finally:
        await catalog.aclose()
        await broker.aclose()


class _LostBroker:
    """A broker that is not reached: calls that never get as far as a request end as they do otherwise."""

    def __init__(self, broker: Broker, network: PlayedTransport) -> None:
        self._broker = broker
        self._network = network

    def schemas(self) -> tuple[ToolSchema, ...]:
        return self._broker.schemas()

    async def call(self, call: ToolCall, context: ToolContext) -> ToolOutcome:
        outcome = await self._broker.call(call, context)
        if not self._network.requests:
            return outcome
        return failure_outcome(call, ToolError("refused", kind=ToolErrorKind.UNAVAILABLE))


class _NoPlaces:
    """Stands where embedded data would: no row asks for it."""

    name = "none"
    needs_network = False

    def owns(self, place_id: str) -> bool:
        return False

    async def search(
        self, query: str, *, country: str | None, limit: int, context: RequestContext
    ) -> Sequence[PlaceFact]:
        return ()

    autocomplete = search

    async def detail(self, place_id: str, *, context: RequestContext) -> PlaceFact | None:
        return None

    async def geocode(
        self, address: str, *, country: str | None, limit: int, context: RequestContext
    ) -> Sequence[PlaceFact]:
        return ()

    async def reverse(self, point: LatLon, *, limit: int, context: RequestContext) -> Sequence[PlaceFact]:
        return ()

    async def country_at(self, point: LatLon) -> CountryFact:
        return CountryFact(point=point, country_code="", country="", at_sea=True)
