"""Repeats work at intervals, such as the check for requests of lost gateways."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from tts.errors import GeoTTSError


async def repeat_every(pause_s: float, work: Callable[[], Awaitable[None]], log: logging.Logger, message: str) -> None:
    """Do the work every `pause_s` seconds until cancelled. It goes on after a failure.

    A failure is written to `log` with its reason after `message`, once until the work succeeds again.
    """
    failing = False
    while True:
        await asyncio.sleep(pause_s)
        try:
            await work()
            failing = False
        except GeoTTSError as error:
            if not failing:
                log.warning("%s: %s", message, error.detail)
            failing = True
