"""Asks one service after another until one can serve."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from tts.errors import ToolError

_Service = TypeVar("_Service")
_Result = TypeVar("_Result")


async def first_that_serves(services: Sequence[_Service], ask: Callable[[_Service], Awaitable[_Result]]) -> _Result:
    """Ask one service after the other, until one serves.

    Args:
        services: what is asked, in this order; 1 or more.
        ask: asks one service; it is called at most once for each.

    Returns:
        The result of the first service that does not fail with an outage (`ToolErrorKind.is_outage`).

    Raises:
        ToolError: that of the last service, or at once one that is no outage. Other errors pass at once, too.
    """
    for service in services[:-1]:
        try:
            return await ask(service)
        except ToolError as error:
            if not error.kind.is_outage:
                raise
    return await ask(services[-1])
