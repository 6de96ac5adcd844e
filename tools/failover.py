"""Asks one service after another until one can serve."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from tts.errors import ToolError

_Service = TypeVar("_Service")
_Result = TypeVar("_Result")


async def first_that_serves(services: Sequence[_Service], ask: Callable[[_Service], Awaitable[_Result]]) -> _Result:
    """The result of the first service that does not fail with an outage (`ToolErrorKind.is_outage`). Raises the
    ToolError of the last one, and every other error at once."""
    for service in services[:-1]:
        try:
            return await ask(service)
        except ToolError as error:
            if not error.kind.is_outage:
                raise
    return await ask(services[-1])
