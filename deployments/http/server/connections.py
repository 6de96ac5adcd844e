"""Limits the connections of the HTTP server, in total and for each address.

A connection is fresh until its first whole request, busy while requests of it are worked on, and idle between two. When
there are too many, the oldest fresh one makes room, then the one that has been idle longest; those at work stay. A
client that opens connections and sends nothing therefore loses its own connections first.
"""

from __future__ import annotations

import ipaddress
import resource
from collections import Counter
from enum import StrEnum
from typing import Protocol

from deployments.config import ConnectionLimits

_OTHER_FILES = 256  # of the gateway process: Ray's sockets, the run store, data, engines


class Connection(Protocol):
    """One of the server's connections. Must be hashable by identity."""

    def drop(self) -> None:
        """Close at once, without a reply."""
        ...


class State(StrEnum):
    """Fresh until the first whole request, busy while a request is worked on, idle between two."""

    FRESH = "fresh"
    IDLE = "idle"
    BUSY = "busy"


class Connections:
    """The connections of one server process. Every method takes constant time, but for an address at its limit."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self.most = min(limits.max_connections, _allowed_connections(limits.max_connections))
        self._connections_by_state: dict[State, dict[Connection, None]] = {state: {} for state in State}
        self._states: dict[Connection, tuple[State, str]] = {}
        self._connections_by_address: dict[str, dict[Connection, None]] = {}
        self._requests_by_caller: Counter[str] = Counter()
        self._trusted_proxies = limits.trusted_proxies

    def __len__(self) -> int:
        return len(self._states)

    def admit(self, connection: Connection, peer: str) -> bool:
        """Whether it may stay. Another may have been dropped for it."""
        address = "" if self.is_trusted(peer) else network_of(peer)
        mine = self._connections_by_address.get(address, {}) if address else {}
        if len(mine) >= self.limits.max_per_address and not self._drop_fresh(mine):
            return False
        if len(self._states) >= self.most and not self._drop_any():
            return False
        self._states[connection] = (State.FRESH, address)
        self._connections_by_state[State.FRESH][connection] = None
        if address:
            self._connections_by_address.setdefault(address, {})[connection] = None
        return True

    def set_state(self, connection: Connection, state: State) -> None:
        """Nothing for a connection that was not admitted, or has left."""
        if (known := self._states.get(connection)) is None:
            return
        before, address = known
        if before is not state:
            del self._connections_by_state[before][connection]
            self._connections_by_state[state][connection] = None
            self._states[connection] = (state, address)

    def leave(self, connection: Connection) -> None:
        """Forget a connection that has ended; nothing for one that is not known."""
        if (known := self._states.pop(connection, None)) is None:
            return
        state, address = known
        del self._connections_by_state[state][connection]
        if address:
            del self._connections_by_address[address][connection]
            if not self._connections_by_address[address]:
                del self._connections_by_address[address]

    def is_trusted(self, address: str) -> bool:
        """Whether it is a proxy of `trusted_proxies`; also when the peer has no address (a Unix socket)."""
        if not address:
            return True
        try:
            ip = ipaddress.ip_address(address.partition("%")[0])
        except ValueError:
            return False
        return any(ip in network for network in self._trusted_proxies)

    def forwarded_for(self, peer: str, header: str) -> str:
        """The client behind a trusted proxy, by `X-Forwarded-For`: the last that is no trusted proxy itself.
        Empty when it names none, or the peer is not trusted.
        """
        if not self.is_trusted(peer):
            return ""
        for named in reversed([part.strip() for part in header.split(",") if part.strip()]):
            if not self.is_trusted(named):
                return network_of(named)
        return ""

    def begin_request(self, caller: str) -> bool:
        """Count a request of a caller behind a proxy. False, and not counted, when the caller has too many."""
        if caller and self._requests_by_caller[caller] >= self.limits.max_per_address:
            return False
        if caller:
            self._requests_by_caller[caller] += 1
        return True

    def end_request(self, caller: str) -> None:
        """Count down what `begin_request` counted up; nothing for an empty `caller`."""
        if caller:
            self._requests_by_caller[caller] -= 1
            if self._requests_by_caller[caller] <= 0:
                del self._requests_by_caller[caller]

    def _drop_fresh(self, among: dict[Connection, None]) -> bool:
        oldest = next((one for one in among if one in self._connections_by_state[State.FRESH]), None)
        return self._drop(oldest)

    def _drop_any(self) -> bool:
        oldest = next(iter(self._connections_by_state[State.FRESH]), None) or next(
            iter(self._connections_by_state[State.IDLE]), None
        )
        return self._drop(oldest)

    def _drop(self, connection: Connection | None) -> bool:
        if connection is None:
            return False
        self.leave(connection)
        connection.drop()
        return True


def network_of(address: str) -> str:
    """What counts as one address: IPv4 itself, also inside IPv6, and the /64 of IPv6, which one host has to itself."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address[:64]
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is not None:
            return str(ip.ipv4_mapped)
        return str(ipaddress.IPv6Network((int(ip) >> 64 << 64, 64)))
    return str(ip)


def _allowed_connections(wanted: int) -> int:
    """Connections for which this process has file descriptors; its soft limit is raised as far as that is allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < needed:
        raised = needed if hard == resource.RLIM_INFINITY else min(hard, needed)
        if raised > soft:
            resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
        return max(8, raised - _OTHER_FILES)
    return wanted
