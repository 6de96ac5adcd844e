"""What this process knows of endpoints beside its conversations: which a look found dead, which are being drained.

Whoever looks (a gateway every few seconds), the operator, and whoever chooses (the pools of several endpoints) meet
here by address.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from tts.inference.openai.endpoint.orders import Orders
from tts.net.url_secrets import bare_url

_GOOD_FOR_S = 20.0  # a look says nothing of later: whoever looked may have stopped


class EndpointStates:
    """Addresses up to and including /v1; one that nobody looked at is not dead."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._dead: dict[str, float] = {}
        self._draining: frozenset[str] = frozenset()
        self._orders = Orders()

    def looked(self, address: str, *, dead: bool) -> None:
        """Say what a look found."""
        if dead:
            self._dead[_key(address)] = self._clock()
        else:
            self._dead.pop(_key(address), None)

    def is_dead(self, address: str) -> bool:
        """Whether the last look, if it was not long ago, found nobody or a broken server there."""
        seen = self._dead.get(_key(address))
        return seen is not None and self._clock() - seen <= _GOOD_FOR_S

    def drain(self, addresses: Iterable[str]) -> None:
        """By a deployed file: these get no new conversations from now on, all others do again."""
        self._draining = frozenset(map(_key, addresses))

    def obey(self, orders: Orders) -> Orders:
        """Orders of operators beside the file. The latest hold, whoever brings them; returns those."""
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
        return _key(address) in self._draining


def same_address(one: str, other: str) -> bool:
    """Whether both name the same endpoint, whatever keys and slashes are written with them."""
    return _key(one) == _key(other)


def _key(address: str) -> str:
    return bare_url(address).rstrip("/")


STATES = EndpointStates()
"""Of this process."""
