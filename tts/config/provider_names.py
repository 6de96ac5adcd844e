"""The names of all providers that a configuration may use, and how each of them gets parts of photos.

A new provider gets its one entry here (`docs/tools.md`). A package brings one by the entry point `geotts.providers`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal, Protocol

from pydantic import AfterValidator

from tts.extensions import Registry

Pictures = Literal["none", "in_request", "by_url"]
"""How a service gets parts of photos: not at all, in the request, or by a URL that it fetches."""


class KnownProvider(Protocol):
    """What a configuration knows of a provider."""

    @property
    def pictures(self) -> Pictures:
        """How it gets parts of photos."""
        ...


@dataclass(frozen=True, slots=True)
class _OwnProvider:
    pictures: Pictures = "none"


_OWN_PROVIDERS: Final[Mapping[str, KnownProvider]] = {
    "offline": _OwnProvider(),
    "amap": _OwnProvider(),
    "google": _OwnProvider(),
    "osm": _OwnProvider(),
    "opencage": _OwnProvider(),
    "serper": _OwnProvider(),
    "tavily": _OwnProvider(),
    "ydc": _OwnProvider(),
    "brave": _OwnProvider(),
    "searxng": _OwnProvider(),
    "tape": _OwnProvider(),
    "serper_lens": _OwnProvider(pictures="by_url"),
    "google_vision": _OwnProvider(pictures="in_request"),
    "serpapi_lens": _OwnProvider(pictures="by_url"),
}
"""Each has a file in `tools/providers`, except `offline` (the embedded data) and `tape` (recorded results)."""
OWN_NAMES: Final = tuple(_OWN_PROVIDERS)
KNOWN_PROVIDERS: Final[Registry[KnownProvider]] = Registry("geotts.providers", _OWN_PROVIDERS)


def _check_provider_name(name: str) -> str:
    if name not in KNOWN_PROVIDERS:
        raise ValueError(f"there is no provider {name!r}; there are: {', '.join(KNOWN_PROVIDERS)}")
    return name


ProviderName = Annotated[str, AfterValidator(_check_provider_name)]


def searches_pictures(name: str) -> bool:
    """Tell whether the provider is sent parts of photos.

    Args:
        name: one of `KNOWN_PROVIDERS`.

    Returns:
        True for a provider that serves `image_search`, which it does only if `region_search.allowed` is set.

    Raises:
        KeyError: there is no such provider.
        ConfigError: the package of the provider cannot be imported.
    """
    return KNOWN_PROVIDERS[name].pictures != "none"


def fetches_pictures(name: str) -> bool:
    """Tell whether the provider fetches these parts by a URL.

    Args:
        name: as in `searches_pictures`.

    Returns:
        False if they are sent in the request, or not at all.

    Raises:
        KeyError, ConfigError: as in `searches_pictures`.
    """
    return KNOWN_PROVIDERS[name].pictures == "by_url"
