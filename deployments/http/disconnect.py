"""Cancels work when its client has disconnected."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request

from tts.aio import spawn

T = TypeVar("T")


async def while_connected(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`. The work is cancelled if the client disconnects first.

    The body of the request must have been read: what comes after it can only be the disconnect.

    Raises:
        ClientDisconnect: nobody is left to answer.
    """
    working = spawn(work, name="reply")
    listening = spawn(_wait_for_disconnect(request), name="disconnect")
    try:
        await asyncio.wait({working, listening}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        working.cancel()
        listening.cancel()


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
