"""The state of each endpoint in this process: whether the last check found it dead, and whether it is drained.

The checks of the gateway (every few seconds) and the operator's orders write it; the pools of several endpoints read
it. The key is the address.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from tts.inference.openai.endpoint.orders import Orders
from tts.net.url_secrets import bare_url

_CHECK_TTL_S = 20.0  # a look says nothing of later: whoever looked may have stopped


class EndpointStates:
    """Keys are addresses up to and including /v1. An endpoint without a check is not dead."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._dead_since: dict[str, float] = {}
        self._drained_by_file: frozenset[str] = frozenset()
        self._orders = Orders()

    def note_check(self, address: str, *, dead: bool) -> None:
        """Note the result of a check."""
        if dead:
            self._dead_since[_key(address)] = self._clock()
        else:
            self._dead_since.pop(_key(address), None)

    def is_dead(self, address: str) -> bool:
        """Whether the last check, if it is recent, found no server or a broken one."""
        seen = self._dead_since.get(_key(address))
        return seen is not None and self._clock() - seen <= _CHECK_TTL_S

    def drain(self, addresses: Iterable[str]) -> None:
        """By a deployed file: these get no new conversations from now on, all others do again."""
        self._drained_by_file = frozenset(map(_key, addresses))

    def apply_orders(self, orders: Orders) -> Orders:
        """Take orders of operators. The latest orders apply; returns them."""
        if orders.at > self._orders.at:
            self._orders = orders
        return self._orders

    @property
    def orders(self) -> Orders:
        """The latest orders of operators that this process knows of."""
        return self._orders

    def is_draining(self, address: str) -> bool:
        """Whether the deployed file or an operator drains it."""
        return self.is_drained_by_file(address) or _key(address) in map(_key, self._orders.draining)

    def is_drained_by_file(self, address: str) -> bool:
        """Whether the deployed file drains it, which an operator cannot undo by an order."""
        return _key(address) in self._drained_by_file


def same_address(one: str, other: str) -> bool:
    """Whether both name the same endpoint, whatever keys and slashes are written with them."""
    return _key(one) == _key(other)


def _key(address: str) -> str:
    return bare_url(address).rstrip("/")


STATES = EndpointStates()
"""Of this process."""
