"""What answers the calls of a tool."""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar


class ToolProvider(Protocol):
    """A service, or data on this machine."""

    @property
    def name(self) -> str:
        """The provider's name in the specifications of its tools."""
        ...

    @property
    def needs_network(self) -> bool:
        """Whether answers come from another machine."""
        ...


P = TypeVar("P", bound=ToolProvider)


class StandIn(Generic[P]):
    """Answers in the form of some service, under the name of the provider that it asks.

    Args:
        provider: what is asked.
    """

    def __init__(self, provider: P) -> None:
        self._provider = provider
        self.name = provider.name
        self.needs_network = provider.needs_network
