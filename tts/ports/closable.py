"""The port of what holds connections."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class Closable(Protocol):
    """What holds connections: engines over HTTP, and whatever uses one."""

    async def aclose(self) -> None:
        """Close the connections. The object may be used again afterwards."""


async def close_each(*parts: object) -> None:
    """Close those of the parts that hold something, one after the other.

    Args:
        parts: whatever may be `Closable`; all others are passed over. If closing one raises, the rest stay open.
    """
    for part in parts:
        if isinstance(part, Closable):
            await part.aclose()
