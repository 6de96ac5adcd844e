"""Finds a provider by the name that a configuration gives it. A new one gets a file in `tools/providers`, and its
entry in `tts/config/provider_names.py`; other packages bring theirs by the entry point `geotts.providers`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Final

from tools.providers.provider import Provider
from tts.config import ProviderName, ProviderSettings
from tts.config.provider_names import OWN_NAMES
from tts.extensions import Registry

PROVIDERS: Final[Registry[Provider]] = Registry(
    "geotts.providers",
    {name: import_module(f"tools.providers.{name}").PROVIDER for name in OWN_NAMES if name not in ("offline", "tape")},
)
"""All services by name. `offline` (the embedded data) and `tape` (recorded results) are none."""


def key_variable(name: ProviderName) -> str:
    """Name the environment variable in which a provider looks for its keys, where the configuration names no other.

    Args:
        name: as in the configuration; a name that is not in the table, such as `offline`, has no key.

    Returns:
        The name of the variable; empty for a provider without a key.
    """
    return PROVIDERS[name].key_variable if name in PROVIDERS else ""


def base_url(name: ProviderName, settings: ProviderSettings | None) -> str:
    """The address that the operator names for a provider, else its usual one.

    Args:
        name: a name in the table.
        settings: what the operator configured for the provider; None for nothing.

    Returns:
        A URL; empty where the operator names none and the provider has no one usual address.
    """
    return (settings.base_url if settings else None) or PROVIDERS[name].base_url
