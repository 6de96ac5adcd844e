"""What answers the calls of a tool."""

from __future__ import annotations

from typing import Protocol


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
