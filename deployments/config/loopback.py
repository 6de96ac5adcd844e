"""Which addresses only this machine can reach."""

from __future__ import annotations

import ipaddress


def is_loopback(host: str) -> bool:
    """Whether a service that listens on `host` can be reached from its own machine only. Of names, only localhost is
    known to be so: any other name is whatever its owner makes it.

    Args:
        host: an IP address or a name, as in a URL, IPv6 without brackets.
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
