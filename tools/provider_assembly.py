"""Makes the broker tools that a configuration asks for, and the clients that their providers use.

Each ability (places, maps, web) is served by the first configured provider that has it. `amap` serves mainland China,
and the next provider serves all other places. If a key is missing, the start fails and names its variable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar
from urllib.parse import urlsplit

import httpx

from tools.maps import MapsProvider
from tools.places import CountryProvider, PlacesProvider
from tools.provider_lookup import PROVIDERS, base_url, key_variable
from tools.providers.provider import Provider, ProviderParts
from tools.providers.recordings import Recordings, open_recordings
from tools.providers.reverse_tape import ReverseTapeSearch
from tools.providers.routed_providers import RoutedMaps, RoutedPlaces, WebInTurn
from tools.region_search.served_pictures import RegionShelf
from tools.region_search_assembly import Regions, make_regions
from tools.registry import ToolParts, make_tools
from tools.released.catalog import ANY_REPLY, Sources, released_broker_tools
from tools.released.reverse import page_source as reverse_pages
from tools.released.reverse.lens import LensSource, LensStandIn, LiveLens
from tools.released.sources.amap import AmapService, AmapStandIn
from tools.released.sources.map_pictures import AmapMaps, GoogleMaps, NoMaps, StandInMaps
from tools.released.sources.opencage import AddressStandIn, OpenCageService
from tools.released.sources.serper import SerperService, SerperStandIn
from tools.released.sources.web_pages import PagesStandIn, TavilyPages
from tools.web import WebProvider
from tts.config import ProviderName, ProviderSettings, ToolsConfig
from tts.config.provider_names import searches_pictures
from tts.egress.records import EGRESS, RecordOutgoing
from tts.errors import ConfigError
from tts.net.fetch_limits import FetchLimits
from tts.net.http_client import SafeHttpClient
from tts.net.secret import Scrubber, Secret
from tts.net.url_secrets import secrets_in
from tts.ports.toolbox import ToolSchema
from tts.toolkit.broker.cache_store import CacheStore
from tts.toolkit.broker.provider_client import ProviderClient
from tts.toolkit.broker.provider_limits import ProviderLimits
from tts.toolkit.broker.stats import ProviderFigures
from tts.toolkit.spec import Tool

T = TypeVar("T")

_RELEASED_PROVIDERS: Final[tuple[ProviderName, ...]] = ("amap", "serper", "tavily", "google", "opencage")
"""The services that tools of released systems name."""
_HTTPS_PORT = 443
_HTTP_PORT = 80


@dataclass(frozen=True, slots=True)
class OfflineProviders:
    """The providers without key and network. They serve the abilities that no configured provider has.

    Attributes:
        places: the embedded gazetteer.
        countries: the embedded borders.
        maps: the embedded maps; None if there are none.
    """

    places: PlacesProvider
    countries: CountryProvider
    maps: MapsProvider | None = None


@dataclass(slots=True)
class Catalog:
    """What `build_catalog` made. `aclose()` closes every connection.

    Attributes:
        tools: the tools of the broker.
        shelf: pictures that services may fetch here; None if no service does.
        provider_clients: the clients by the names of their providers.
        clients: the HTTP clients behind them, and that of the store of regions.
    """

    tools: list[Tool]
    shelf: RegionShelf | None = None
    provider_clients: dict[str, ProviderClient] = field(default_factory=dict)
    clients: list[SafeHttpClient] = field(default_factory=list)

    def figures(self) -> dict[str, ProviderFigures]:
        """Report what the provider clients have done.

        Returns:
            Requests, retries and state of each provider client, by its name.
        """
        return {name: provider_client.figures() for name, provider_client in self.provider_clients.items()}

    async def aclose(self) -> None:
        """Close the HTTP clients of all providers and of the store of regions."""
        for client in self.clients:
            await client.aclose()


def build_catalog(
    config: ToolsConfig,
    offline: OfflineProviders,
    store: CacheStore,
    *,
    environment: Mapping[str, str],
    record: RecordOutgoing = EGRESS.record,
    scrubber: Scrubber | None = None,
    system: str = "",
    texts: Sequence[ToolSchema] = (),
    transport: httpx.AsyncBaseTransport | None = None,
    public_url: str | None = None,
) -> Catalog:
    """Make the tools for the configured providers, and those of a released system.

    Args:
        config: the configured providers and their settings.
        offline: the gazetteer and the maps that are built into the service.
        store: keeps results and rate limits of the providers.
        environment: where keys are read from.
        record: called with each request that is about to leave the machine.
        scrubber: hides keys in what is logged and recorded.
        system: released system whose tools are added; "" for none.
        texts: schemas of that system's tools as its authors list them.
        transport: is used in place of the network, for tests.
        public_url: where search services reach the gateway; None where they cannot.

    Returns:
        The tools, in the order of their tables, and the clients that they use. The caller closes it.

    Raises:
        ConfigError: a key or a URL that a provider needs is missing.
    """
    catalog = Catalog(tools=[])
    maker = _ProviderMaker(config, offline, store, environment, record, scrubber or Scrubber(), catalog, transport)
    places = _choose_provider(config, maker.places, RoutedPlaces)
    maps = _choose_provider(config, maker.maps, RoutedMaps)
    regions = maker.regions(public_url)
    catalog.shelf = None if regions is None else regions.shelf
    web = [found for name in config.providers if (found := maker.web(name)) is not None]
    parts = ToolParts(
        places=places or offline.places,
        countries=offline.countries,
        maps=maps,
        web=WebInTurn(web) if len(web) > 1 else next(iter(web), None),
        recordings=maker.tape() if "tape" in config.providers else None,
        regions=None if regions is None else regions.search,
        client=maker.client,
    )
    catalog.tools += make_tools(parts, local=False)
    if system:
        world = places or offline.places
        sources = maker.sources(world, maps, web, regions, any_reply=system in ANY_REPLY)
        catalog.tools += released_broker_tools(system, sources, texts)
    return catalog


def _choose_provider(
    config: ToolsConfig, make: Callable[[ProviderName], T | None], route: Callable[[T, T], T]
) -> T | None:
    """The first provider that has the ability; beside it the first one for China only, if both are configured."""
    able = [(name, found) for name in config.providers if (found := make(name)) is not None]
    china = [found for name, found in able if _is_only_china(name)]
    world = [found for name, found in able if not _is_only_china(name)]
    if not world and (embedded := make("offline")) is not None:
        world = [embedded]
    if china and world:
        return route(china[0], world[0])
    return next(iter((*world, *china)), None)


def _is_only_china(name: ProviderName) -> bool:
    return name in PROVIDERS and PROVIDERS[name].only_china


@dataclass(slots=True)
class _ProviderMaker:
    """Makes providers, with one client for each."""

    config: ToolsConfig
    offline: OfflineProviders
    store: CacheStore
    environment: Mapping[str, str]
    record: RecordOutgoing
    scrubber: Scrubber
    catalog: Catalog
    transport: httpx.AsyncBaseTransport | None = None

    def places(self, name: ProviderName) -> PlacesProvider | None:
        return self.offline.places if name == "offline" else self._make(name, lambda provider: provider.places)

    def maps(self, name: ProviderName) -> MapsProvider | None:
        return self.offline.maps if name == "offline" else self._make(name, lambda provider: provider.maps)

    def web(self, name: ProviderName) -> WebProvider | None:
        return self.tape() if name == "tape" else self._make(name, lambda provider: provider.web)

    def _make(self, name: ProviderName, ability: Callable[[Provider], Callable[[ProviderParts], T] | None]) -> T | None:
        make = ability(PROVIDERS[name]) if name in PROVIDERS else None
        return None if make is None else make(self._provider_parts(name))

    def _provider_parts(self, name: ProviderName) -> ProviderParts:
        return ProviderParts(
            client=partial(self._client_for, name),
            settings=self._provider_settings(name),
            contact=self.config.contact,
            offline=self.offline.places,
            client_for=lambda kind, limits: self._client_for(name, limits, kind=kind),
            base=base_url(name, self._provider_settings(name)),
        )

    def regions(self, public_url: str | None) -> Regions | None:
        """Live region search; None where the operator does not allow it, and beside a tape, which then answers."""
        if "tape" in self.config.providers:
            return None
        return make_regions(
            self.config,
            self._provider_parts,
            self._store_client,
            public_url=public_url,
            environment=self.environment,
            scrubber=self.scrubber,
            record=self.record,
        )

    def client(self, limits: FetchLimits | None = None, *urls: str) -> SafeHttpClient:
        """A client that is closed with the catalogue; the secrets in `urls` are never shown."""
        client = SafeHttpClient(
            limits or FetchLimits(), scrubber=self.scrubber, record=self.record, transport=self.transport
        )
        self.catalog.clients.append(client)
        for secret in (secret for url in urls for secret in secrets_in(url)):
            self.scrubber.learn(Secret(secret))
        return client

    def _store_client(self, url: str) -> SafeHttpClient:
        """For the store that pictures are put into: it may be private, as the operator named it."""
        named = _named_hosts(ProviderSettings(base_url=url))
        return self.client(FetchLimits(allow_hosts=named, max_redirects=0), url)

    def sources(
        self,
        places: PlacesProvider,
        maps: MapsProvider | None,
        web: Sequence[WebProvider],
        regions: Regions | None,
        *,
        any_reply: bool,
    ) -> Sources:
        """The services of released tools: the service in the tool's name if it is configured, else another one in the
        same form."""
        pages = web[0] if web else None
        amap, serper, tavily, google, opencage = map(self._configured_parts, _RELEASED_PROVIDERS)
        amap_maps = StandInMaps(maps or NoMaps(), "GCJ-02")
        page_stand_in = None if pages is None else PagesStandIn(pages)
        reverse_stand_in = None if pages is None else reverse_pages.PagesStandIn(pages)
        tape = self.tape() if "tape" in self.config.providers else None
        lens: LensSource | None = None if regions is None else LiveLens(regions.search)
        return Sources(
            amap=AmapService(amap, any_reply=any_reply) if amap else AmapStandIn(places),
            serper=SerperService(serper, any_reply=any_reply) if serper else SerperStandIn(places, pages),
            amap_maps=AmapMaps(amap, amap_maps) if amap else amap_maps,
            google_maps=GoogleMaps(google) if google else StandInMaps(maps or NoMaps(), "WGS-84"),
            addresses=OpenCageService(opencage) if opencage else AddressStandIn(places),
            pages=TavilyPages(tavily) if tavily else page_stand_in,
            lens=lens if tape is None else LensStandIn(tape),
            reverse_pages=reverse_pages.TavilyPages(tavily) if tavily else reverse_stand_in,
            recorded=tape.cache if isinstance(tape, ReverseTapeSearch) else None,
        )

    def _configured_parts(self, name: ProviderName) -> ProviderParts | None:
        return self._provider_parts(name) if name in self.config.providers else None

    def tape(self) -> Recordings:
        return open_recordings(self._provider_settings("tape"))

    def _provider_settings(self, name: ProviderName) -> ProviderSettings:
        return self.config.settings.get(name) or ProviderSettings()

    def _client_for(
        self, name: ProviderName, own_limits: ProviderLimits | None = None, *, kind: str = ""
    ) -> ProviderClient:
        """One client for each service, shared by the abilities it serves."""
        label = f"{name}-{kind}" if kind else name
        if label in self.catalog.provider_clients:
            return self.catalog.provider_clients[label]
        settings, provider = self._provider_settings(name), PROVIDERS[name]
        usual = own_limits or provider.limits
        own = settings.model_dump(include={"per_s", "burst", "max_running", "timeout_s", "retries"}, exclude_none=True)
        fetch_limits = FetchLimits(allow_hosts=_named_hosts(settings), timeout_s=settings.timeout_s or usual.timeout_s)
        client = self.client(fetch_limits, settings.base_url or "", *settings.urls.values())
        provider_client = ProviderClient(
            label,
            client,
            self.store,
            ProviderLimits(**{**usual.model_dump(), **own}),
            keys=self._keys(name, settings),
            key_place=provider.key_place,
            judge=provider.judge,
        )
        self.catalog.provider_clients[label] = provider_client
        return provider_client

    def _keys(self, name: ProviderName, settings: ProviderSettings) -> list[Secret]:
        if not key_variable(name):
            return []
        variable = _key_variable(name, settings)
        keys = [key.strip() for key in self.environment.get(variable, "").split(",") if key.strip()]
        if not keys:
            raise ConfigError(f"the provider {name} needs its key in the environment variable {variable}")
        return [Secret(key) for key in keys]


def _key_variable(name: ProviderName, settings: ProviderSettings) -> str:
    return settings.key_env or key_variable(name)


def missing_keys(config: ToolsConfig, environment: Mapping[str, str]) -> list[tuple[ProviderName, str]]:
    """Each configured provider whose key is not in the environment, with the variable that should have it.

    Those that may not be sent parts of photos are not asked and need none.

    Args:
        config: names the providers, and the variable of a key where it is not the usual one.
        environment: the environment variables by name. One that has only blanks and commas has no key.

    Returns:
        (provider, variable) in the order of `config.providers`.
    """
    asked = [name for name in config.providers if key_variable(name)]
    if not config.region_search.allowed or "tape" in config.providers:
        asked = [name for name in asked if not searches_pictures(name)]
    named = [(name, _key_variable(name, config.settings.get(name) or ProviderSettings())) for name in asked]
    return [(name, variable) for name, variable in named if not environment.get(variable, "").strip(", ")]


def _named_hosts(settings: ProviderSettings) -> frozenset[str]:
    """Hosts the operator named for this provider: these, and only for it, may be private or on an unusual port."""
    hosts = set()
    for url in (settings.base_url, *settings.urls.values()):
        parts = urlsplit(url or "")
        if parts.hostname:
            hosts.add(f"{parts.hostname}:{parts.port or (_HTTPS_PORT if parts.scheme == 'https' else _HTTP_PORT)}")
    return frozenset(hosts)
