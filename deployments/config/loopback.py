"""Which addresses only this machine can reach."""

from __future__ import annotations

import ipaddress


def is_loopback(host: str) -> bool:
    """Tell whether a service that listens on `host` can be reached from its own machine only.

    Args:
        host: an IP address or a name, as in a URL, IPv6 without brackets.

    Returns:
        True for a loopback address and for `localhost`. False for any other name: it is whatever its owner makes it.
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
