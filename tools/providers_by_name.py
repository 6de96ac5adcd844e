"""The table of providers, by the names that a configuration gives them. Each has its file in `tools/providers`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Final, get_args

from tools.providers.provider import Provider
from tts.config import ProviderName, ProviderSettings

PROVIDERS: Final[Mapping[ProviderName, Provider]] = {
    name: import_module(f"tools.providers.{name}").PROVIDER
    for name in get_args(ProviderName)
    if name not in ("offline", "tape")
}
"""All services by name. `offline` (the embedded data) and `tape` (recorded results) are none."""
KEY_VARIABLES: Final[Mapping[ProviderName, str]] = {
    name: provider.key_variable for name, provider in PROVIDERS.items() if provider.key_variable
}
"""The environment variable in which each provider looks for its keys, where the configuration names no other."""


def base_url(name: ProviderName, settings: ProviderSettings | None) -> str:
    """The address that the operator names for a provider, else its usual one."""
    return (settings.base_url if settings else None) or PROVIDERS[name].base_url
