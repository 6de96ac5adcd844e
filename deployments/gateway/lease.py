"""The lease of a request, as the gateway knows it that works on the request.

A gateway that was stopped for longer than a lease has lost its requests to others, and does not know it when it goes
on. So nothing new is begun for a request until the run store has said that the request is still this gateway's.
"""

from __future__ import annotations

import asyncio


class Lease:
    """Valid for `lease_s` from the moment in which the store was last asked to renew it, on the loop's clock.

    That moment, and not that of the reply: a process that is stopped between the two reads an old reply.
    """

    def __init__(self, lease_s: float, asked_at: float) -> None:
        self._lease_s = lease_s
        self._valid_until = asked_at + lease_s
        self._renewed = asyncio.Event()

    @property
    def is_valid(self) -> bool:
        """Whether no other gateway can have the request."""
        return asyncio.get_running_loop().time() < self._valid_until

    def renew(self, asked_at: float) -> None:
        """The store, which was asked at this moment, says that the request is this gateway's."""
        self._valid_until = max(self._valid_until, asked_at + self._lease_s)
        self._renewed.set()

    async def wait_until_valid(self) -> None:
        """Return at once while it is valid, else after it was renewed. One that was lost is not renewed: the work is
        cancelled.
        """
        while not self.is_valid:
            self._renewed.clear()
            await self._renewed.wait()
