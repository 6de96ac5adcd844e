"""The static description of a provider: its key, its limits and its abilities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
    """What a provider is made of. `offline` answers what it lacks; `client_for` gives a further client by its kind.
    `base` is the address that the operator names, else the usual one."""

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

    def __init__(self, parts: ProviderParts) -> None:
        self._client = parts.client()
        self._base = parts.base


@dataclass(frozen=True, slots=True)
class Provider:
    """`PROVIDER` of a file in `tools/providers`. Abilities are None where the service has them not. `regions` and
    `regions_by_url` are services that receive parts of photos: in the request, or at a URL of the upload.
    `key_variable` is empty where no key is needed, `base_url` where there is no one usual address. `title` is the name
    of the service for the people whose photos it is sent. `only_china`: it serves mainland China, and another provider
    the rest of the world."""

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
