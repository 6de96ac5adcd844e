"""Which IP addresses may be connected to: public unicast only.

All IPv6 forms that contain an IPv4 address (mapped, compatible, 6to4, Teredo, NAT64) are refused, because a gateway on
the path could translate them into a private address.
"""

from __future__ import annotations

import ipaddress

_REFUSED_NETWORKS: tuple[tuple[str, str], ...] = (
    ("0.0.0.0/8", "this host"),
    ("10.0.0.0/8", "private"),
    ("100.64.0.0/10", "carrier-grade NAT"),
    ("127.0.0.0/8", "loopback"),
    ("168.63.129.16/32", "cloud metadata"),
    ("169.254.0.0/16", "link-local or cloud metadata"),
    ("172.16.0.0/12", "private"),
    ("192.0.0.0/24", "protocol assignments"),
    ("192.0.2.0/24", "documentation"),
    ("192.88.99.0/24", "6to4 relay"),
    ("192.168.0.0/16", "private"),
    ("198.18.0.0/15", "benchmarking"),
    ("198.51.100.0/24", "documentation"),
    ("203.0.113.0/24", "documentation"),
    ("224.0.0.0/4", "multicast"),
    ("240.0.0.0/4", "reserved or broadcast"),
    ("::/96", "unspecified, loopback or IPv4-compatible"),
    ("::ffff:0:0/96", "IPv4-mapped"),
    ("64:ff9b::/96", "NAT64"),
    ("64:ff9b:1::/48", "NAT64"),
    ("100::/64", "discard"),
    ("2001::/23", "protocol assignments, Teredo included"),
    ("2001:db8::/32", "documentation"),
    ("2002::/16", "6to4"),
    ("3fff::/20", "documentation"),
    ("5f00::/16", "segment routing"),
    ("fc00::/7", "unique local"),
    ("fe80::/10", "link-local"),
    ("fec0::/10", "site-local"),
    ("ff00::/8", "multicast"),
)
_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
_NETWORKS = tuple((ipaddress.ip_network(network), why) for network, why in _REFUSED_NETWORKS)


def refusal(address: str) -> str | None:
    """Why `address` (an IP literal, with or without a zone) must not be reached; None when it may be."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return "not an address"
    if ip.version == 6 and ip not in _GLOBAL_UNICAST and not ip.is_multicast:
        return "not global unicast"
    for network, why in _NETWORKS:
        if ip.version == network.version and ip in network:
            return why
    return None if ip.is_global else "not public"
