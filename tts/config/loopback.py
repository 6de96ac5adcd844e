"""Which addresses only this machine can reach."""

from __future__ import annotations


def is_loopback(host: str) -> bool:
    """Whether a service that listens on `host`, a name or an address, can be reached from its own machine only.

    Args:
        host: in lower case, without a port and without brackets. False for an empty one, which stands for all
            addresses.
    """
    return host in ("localhost", "::1") or host.startswith("127.")
