"""The static description of a provider: its key, its limits and its abilities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tools.maps import MapsProvider
from tools.places import PlacesProvider
from tools.region_search.picture_urls import RegionUpload
from tools.region_search.search import RegionProvider
from tools.web import WebProvider
from tts.config import ProviderSettings
from tts.config.provider_names import Pictures
from tts.toolkit.broker.provider_client import Judge, KeyPlace, ProviderClient
from tts.toolkit.broker.provider_limits import ProviderLimits


@dataclass(frozen=True, slots=True)
class ProviderParts:
    """What a provider is made of.

    Attributes:
        client: gives the client of the provider.
        settings: `tools.settings` of the provider.
        contact: the operator's address for a User-Agent; empty for none.
        offline: answers what the provider lacks.
        client_for: gives a further client by its kind, with limits of its own.
        base: the address that the operator names, else the usual one.
    """

    client: Callable[[], ProviderClient]
    settings: ProviderSettings
    contact: str
    offline: PlacesProvider
    client_for: Callable[[str, ProviderLimits], ProviderClient]
    base: str


class Service:
    """A service that is asked at one address.

    Args:
        parts: what the provider is made of; `base` is the address.
    """

    needs_network: Final = True

    def __init__(self, parts: ProviderParts) -> None:
        self._client = parts.client()
        self._base = parts.base


class UrlService(Service):
    """A service that fetches parts of photos at a URL.

    Args:
        parts: what the provider is made of; `base` is the address.
        upload: gives each region a URL while the search runs.
    """

    def __init__(self, parts: ProviderParts, upload: RegionUpload) -> None:
        super().__init__(parts)
        self._upload = upload


@dataclass(frozen=True, slots=True)
class Provider:
    """`PROVIDER` of a file in `tools/providers`. Abilities are None where the service has them not.

    Attributes:
        limits: rate, slots and retries of its client.
        key_variable: the environment variable of its keys; empty where no key is needed.
        key_place: where a request has the key; None where no key is needed.
        judge: finds out what a reply says went wrong; None for the HTTP status alone.
        base_url: the usual address; empty where there is no one usual address.
        places: makes its `PlacesProvider`.
        maps: makes its `MapsProvider`.
        web: makes its `WebProvider`.
        regions: makes its `RegionProvider`, which receives parts of photos in the request.
        regions_by_url: makes its `RegionProvider`, which fetches parts of photos at a URL of the upload.
        title: the name of the service for the people whose photos it is sent.
        only_china: whether it serves mainland China alone, and another provider the rest of the world.
    """

    limits: ProviderLimits
    key_variable: str = ""
    key_place: KeyPlace | None = None
    judge: Judge | None = None
    base_url: str = ""
    places: Callable[[ProviderParts], PlacesProvider] | None = None
    maps: Callable[[ProviderParts], MapsProvider] | None = None
    web: Callable[[ProviderParts], WebProvider] | None = None
    regions: Callable[[ProviderParts], RegionProvider] | None = None
    regions_by_url: Callable[[ProviderParts, RegionUpload], RegionProvider] | None = None
    title: str = ""
    only_china: bool = False

    @property
    def pictures(self) -> Pictures:
        """How the service gets parts of photos."""
        if self.regions_by_url is not None:
            return "by_url"
        return "none" if self.regions is None else "in_request"
