"""Makes region search from the configuration: its providers, how they get pictures, and what is blurred."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tools.provider_lookup import PROVIDERS
from tools.providers.provider import ProviderParts
from tools.region_search.blur import Blur
from tools.region_search.picture_addresses import HeaderPlaces, Places, S3Places
from tools.region_search.picture_store import StoredRegions
from tools.region_search.picture_urls import RegionUpload
from tools.region_search.search import RegionProvider, RegionSearch
from tools.region_search.served_pictures import RegionShelf
from tts.config import GatewayUpload, ProviderName, S3Upload, StoreUpload, ToolsConfig
from tts.egress.records import EGRESS, RecordOutgoing
from tts.errors import ConfigError
from tts.net.http_client import SafeHttpClient
from tts.net.secret import Scrubber


@dataclass(frozen=True, slots=True)
class Regions:
    """The search by region, as it is configured.

    Attributes:
        search: cuts regions out of photos and sends them.
        shelf: what the gateway has to show, where services fetch from it; None elsewhere.
    """

    search: RegionSearch
    shelf: RegionShelf | None = None


def make_regions(
    config: ToolsConfig,
    parts_of: Callable[[ProviderName], ProviderParts],
    client_for: Callable[[str], SafeHttpClient],
    *,
    public_url: str | None,
    environment: Mapping[str, str],
    scrubber: Scrubber,
    record: RecordOutgoing = EGRESS.record,
) -> Regions | None:
    """The search by parts of a photo.

    Args:
        config: names the providers of the search, the store of pictures and what is blurred.
        parts_of: what a provider is made of, by its name.
        client_for: opens a client for the URL of the store.
        public_url: where search services reach the gateway; None where they cannot.
        environment: where keys are read from.
        scrubber: hides keys and the names of pictures in what is logged.
        record: called with each request that is about to leave the machine.

    Returns:
        None unless the operator allows it and names a provider.

    Raises:
        ConfigError: a key, the public address or the store's secret is missing, or the detector of `blur` is none.
    """
    names = config.region_providers
    if not names:
        return None
    shelf: RegionShelf | None = None
    upload: RegionUpload | None = None
    if any(PROVIDERS[name].regions_by_url for name in names):
        chosen = config.region_search.upload
        if not isinstance(chosen, GatewayUpload):
            upload = _make_store(chosen, client_for, environment)
        elif public_url is None:
            raise ConfigError(f"{names[0]} fetches pictures by URL: set gateway.public_url, or an upload to a store")
        else:
            upload = shelf = RegionShelf(
                public_url,
                expires_s=chosen.expires_s,
                max_fetches=chosen.max_fetches,
                scrubber=scrubber,
                record=record,
            )
    providers = [_make_provider(name, parts_of(name), upload) for name in names]
    settings = config.region_search
    hide = None if settings.blur is None else Blur(settings.blur)
    return Regions(RegionSearch(providers, max_side_px=settings.max_side_px, hide=hide), shelf)


def _make_provider(name: ProviderName, parts: ProviderParts, upload: RegionUpload | None) -> RegionProvider:
    provider = PROVIDERS[name]
    if upload is not None and provider.regions_by_url is not None:
        return provider.regions_by_url(parts, upload)
    assert provider.regions is not None
    return provider.regions(parts)


def _make_store(
    config: StoreUpload | S3Upload, client_for: Callable[[str], SafeHttpClient], environment: Mapping[str, str]
) -> StoredRegions:
    places: Places = (
        S3Places(config, environment) if isinstance(config, S3Upload) else HeaderPlaces(config, environment)
    )
    return StoredRegions(places, client_for(places.address))
