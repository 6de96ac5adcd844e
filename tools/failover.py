"""Asks one service after another until one can serve."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar

from tts.errors import ToolError, ToolErrorKind

_Service = TypeVar("_Service")
_Result = TypeVar("_Result")

CANNOT_SERVE: Final = frozenset(
    {ToolErrorKind.UNAVAILABLE, ToolErrorKind.QUOTA, ToolErrorKind.RATE_LIMITED, ToolErrorKind.TIMEOUT}
)
"""Why the next service is asked."""


async def first_that_serves(services: Sequence[_Service], ask: Callable[[_Service], Awaitable[_Result]]) -> _Result:
    """The result of the first service that does not fail as in `CANNOT_SERVE`. Raises the ToolError of the last one,
    and every other error at once."""
    for service in services[:-1]:
        try:
            return await ask(service)
        except ToolError as error:
            if error.kind not in CANNOT_SERVE:
                raise
    return await ask(services[-1])
