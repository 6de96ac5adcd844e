"""The set of broker tools that a configuration asks for, and the outlets their providers use.

Each ability (places, maps, web) is served by the first configured provider that has it. `amap` serves mainland China
and the next one the rest. A key that is missing is said at start, by the name of its variable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from tools.maps import MapsProvider, Style, maps_tools
from tools.places import CountryProvider, PlacesProvider, places_tools
from tools.providers import amap, brave, google, osm, searxng, serper, tavily, tiles, ydc
from tools.providers.routed import RoutedMaps, RoutedPlaces, WebInTurn
from tools.providers.tape import TapeSearch
from tools.web import WebProvider, image_search_tool, web_search_tool
from tts.config import ProviderName, ProviderSettings, ToolsConfig
from tts.domain.outgoing import Outgoing
from tts.errors import ConfigError
from tts.net.client import SafeClient
from tts.net.policy import FetchPolicy
from tts.net.secret import Scrubber, Secret
from tts.net.url_secrets import secrets_in
from tts.toolkit.broker.outlet import Judge, KeyPlace, Manners, Outlet
from tts.toolkit.broker.stats import ProviderFigures
from tts.toolkit.broker.store import CacheStore
from tts.toolkit.spec import Tool
from tts.toolkit.tape.file import read_tape
from tts.toolkit.tape.reverse import import_reverse
from tts.toolkit.tape.search import SearchTape

T = TypeVar("T")

# provider → (environment variable of its keys, where they go)
_KEYS: Mapping[ProviderName, tuple[str, KeyPlace]] = {
    "amap": ("AMAP_API_KEY", KeyPlace("query", amap.KEY_PARAMETER)),
    "google": ("GOOGLE_MAPS_API_KEY", google.IN_HEADER),
    "serper": ("SERPER_API_KEY", serper.KEY_PLACE),
    "tavily": ("TAVILY_API_KEY", tavily.KEY_PLACE),
    "ydc": ("YDC_API_KEY", ydc.KEY_PLACE),
    "brave": ("BRAVE_API_KEY", brave.KEY_PLACE),
}
_JUDGES: Mapping[ProviderName, Judge] = {"serper": serper.judge, "tavily": tavily.judge}
_HTTPS, _HTTP = 443, 80


@dataclass(frozen=True, slots=True)
class Offline:
    """The providers that need nothing: they fill what no configured provider has."""

    places: PlacesProvider
    countries: CountryProvider
    maps: MapsProvider | None = None


@dataclass(slots=True)
class Catalog:
    """What `build_catalog` made. `aclose()` closes every connection."""

    tools: list[Tool]
    outlets: dict[str, Outlet] = field(default_factory=dict)
    clients: list[SafeClient] = field(default_factory=list)

    def figures(self) -> dict[str, ProviderFigures]:
        return {name: outlet.figures() for name, outlet in self.outlets.items()}

    async def aclose(self) -> None:
        for client in self.clients:
            await client.aclose()


def build_catalog(
    config: ToolsConfig,
    offline: Offline,
    store: CacheStore,
    *,
    environment: Mapping[str, str],
    record: Callable[[Outgoing], None] | None = None,
    scrubber: Scrubber | None = None,
) -> Catalog:
    """Tools for the configured providers.

    Raises:
        ConfigError: a key or a URL that a provider needs is missing.
    """
    catalog = Catalog(tools=[])
    maker = _Maker(config, store, environment, record, scrubber or Scrubber(), catalog)
    places = _chosen(config, maker.places, RoutedPlaces, offline)
    catalog.tools += places_tools(places or offline.places, offline.countries)
    maps = _chosen(config, maker.maps, RoutedMaps, offline)
    if maps is not None:
        catalog.tools += maps_tools(maps)
    if "tape" in config.providers:
        catalog.tools.append(image_search_tool(maker.tape()))
    web = [found for name in config.providers if (found := maker.web(name)) is not None]
    if web:
        catalog.tools.append(web_search_tool(web[0] if len(web) == 1 else WebInTurn(web)))
    return catalog


def _chosen(
    config: ToolsConfig,
    make: Callable[[ProviderName, Offline], T | None],
    route: Callable[[T, T], T],
    offline: Offline,
) -> T | None:
    """The first provider that has the ability; `amap` for China beside it when both are configured."""
    able = [(name, found) for name in config.providers if (found := make(name, offline)) is not None]
    china = [found for name, found in able if name == "amap"]
    world = [found for name, found in able if name != "amap"]
    if not world and (embedded := make("offline", offline)) is not None:
        world = [embedded]
    if china and world:
        return route(china[0], world[0])
    return next(iter((*world, *china)), None)


@dataclass(slots=True)
class _Maker:
    """Makes providers, one outlet for each."""

    config: ToolsConfig
    store: CacheStore
    environment: Mapping[str, str]
    record: Callable[[Outgoing], None] | None
    scrubber: Scrubber
    catalog: Catalog

    def places(self, name: ProviderName, offline: Offline) -> PlacesProvider | None:
        settings = self._settings(name)
        if name == "offline":
            return offline.places
        if name == "amap":
            return amap.Amap(self._outlet("amap", amap.MANNERS), settings.base_url or amap.BASE_URL)
        if name == "google":
            return google.Google(self._outlet("google", google.MANNERS), settings.base_url)
        if name == "serper":
            base = settings.base_url or serper.BASE_URL
            return serper.SerperPlaces(self._outlet("serper", serper.MANNERS), offline.places, base)
        if name == "osm":
            return osm.OsmPlaces(
                self._outlet("osm", osm.MANNERS),
                contact=self.config.contact,
                nominatim_url=settings.urls.get("nominatim", osm.NOMINATIM_URL),
                photon_url=settings.urls.get("photon", osm.PHOTON_URL),
                overpass_url=settings.urls.get("overpass", osm.OVERPASS_URL),
            )
        return None

    def maps(self, name: ProviderName, offline: Offline) -> MapsProvider | None:
        settings = self._settings(name)
        if name == "offline":
            return offline.maps
        if name == "amap":
            return amap.Amap(self._outlet("amap", amap.MANNERS), settings.base_url or amap.BASE_URL)
        if name == "google":
            return google.Google(self._outlet("google", google.MANNERS), settings.base_url)
        if name == "osm":
            templates: dict[Style, str] = {"map": settings.urls.get("tiles", tiles.OSM_TILES)}
            if "satellite_tiles" in settings.urls:
                templates["satellite"] = settings.urls["satellite_tiles"]
            outlet = self._outlet("osm", tiles.MANNERS, kind="tiles")
            return tiles.TileMaps(outlet, templates, contact=self.config.contact)
        return None

    def web(self, name: ProviderName) -> WebProvider | None:
        base = self._settings(name).base_url
        if name == "tape":
            return self.tape()
        if name == "serper":
            return serper.SerperWeb(self._outlet("serper", serper.MANNERS), base or serper.BASE_URL)
        if name == "tavily":
            return tavily.Tavily(self._outlet("tavily", tavily.MANNERS), base or tavily.BASE_URL)
        if name == "ydc":
            return ydc.Ydc(self._outlet("ydc", ydc.MANNERS), base or ydc.BASE_URL)
        if name == "brave":
            return brave.Brave(self._outlet("brave", brave.MANNERS), base or brave.BASE_URL)
        if name == "searxng":
            if base is None:
                raise ConfigError("searxng needs tools.settings.searxng.base_url: the address of your instance")
            return searxng.Searxng(self._outlet("searxng", searxng.MANNERS), base)
        return None

    def tape(self) -> TapeSearch:
        path = self._settings("tape").path
        if path is None:
            raise ConfigError("tape needs tools.settings.tape.path: a tape file, or a folder in the REVERSE layout")
        file = Path(path).expanduser()
        return TapeSearch(import_reverse(file) if file.is_dir() else SearchTape.of(read_tape(file).rows))

    def _settings(self, name: ProviderName) -> ProviderSettings:
        return self.config.settings.get(name) or ProviderSettings()

    def _outlet(self, name: ProviderName, manners: Manners, *, kind: str = "") -> Outlet:
        """One outlet a service, shared by the abilities it serves."""
        label = f"{name}-{kind}" if kind else name
        if label in self.catalog.outlets:
            return self.catalog.outlets[label]
        settings = self._settings(name)
        own = settings.model_dump(include={"per_s", "burst", "max_running", "timeout_s", "retries"}, exclude_none=True)
        policy = FetchPolicy(allow_hosts=_named_hosts(settings), timeout_s=settings.timeout_s or manners.timeout_s)
        client = SafeClient(policy, scrubber=self.scrubber, record=self.record)
        self.catalog.clients.append(client)
        for url in (settings.base_url or "", *settings.urls.values()):
            for secret in secrets_in(url):
                self.scrubber.learn(Secret(secret))
        outlet = Outlet(
            label,
            client,
            self.store,
            Manners(**{**manners.model_dump(), **own}),
            keys=self._keys(name, settings),
            key_place=_KEYS[name][1] if name in _KEYS else None,
            judge=_JUDGES.get(name),
        )
        self.catalog.outlets[label] = outlet
        return outlet

    def _keys(self, name: ProviderName, settings: ProviderSettings) -> list[Secret]:
        if name not in _KEYS:
            return []
        variable = settings.key_env or _KEYS[name][0]
        keys = [key.strip() for key in self.environment.get(variable, "").split(",") if key.strip()]
        if not keys:
            raise ConfigError(f"the provider {name} needs its key in the environment variable {variable}")
        return [Secret(key) for key in keys]


def _named_hosts(settings: ProviderSettings) -> frozenset[str]:
    """Hosts the operator named for this provider: these, and only for it, may be private or on an unusual port."""
    hosts = set()
    for url in (settings.base_url, *settings.urls.values()):
        parts = urlsplit(url or "")
        if parts.hostname:
            hosts.add(f"{parts.hostname}:{parts.port or (_HTTPS if parts.scheme == 'https' else _HTTP)}")
    return frozenset(hosts)
