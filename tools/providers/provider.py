"""The static description of a provider: its key, its limits and its abilities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tools.maps import MapsProvider
from tools.places import PlacesProvider
from tools.web import WebProvider
from tts.config import ProviderSettings
from tts.toolkit.broker.provider_client import Judge, KeyPlace, ProviderClient
from tts.toolkit.broker.provider_limits import ProviderLimits


@dataclass(frozen=True, slots=True)
class ProviderParts:
    """What a provider is made of. `offline` answers what it lacks; `client_for` gives a further client by its kind."""

    client: Callable[[], ProviderClient]
    settings: ProviderSettings
    contact: str
    offline: PlacesProvider
    client_for: Callable[[str, ProviderLimits], ProviderClient]

    def base(self, usual: str) -> str:
        """The address that the operator names, else the usual one."""
        return self.settings.base_url or usual


@dataclass(frozen=True, slots=True)
class Provider:
    """`PROVIDER` of a file in `tools/providers`. Abilities are None where the service has them not; services that
    receive pictures are made by `tools.region_search.assembly`. `key_variable` is empty where no key is needed."""

    limits: ProviderLimits
    key_variable: str = ""
    key_place: KeyPlace | None = None
    judge: Judge | None = None
    places: Callable[[ProviderParts], PlacesProvider] | None = None
    maps: Callable[[ProviderParts], MapsProvider] | None = None
    web: Callable[[ProviderParts], WebProvider] | None = None
