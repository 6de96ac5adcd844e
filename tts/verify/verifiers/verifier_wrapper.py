"""What every verifier in front of another does: it passes on what the other yields, and closes it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

from tts.aio import closing
from tts.domain.answer import Verdict
from tts.ports.closable import close_each
from tts.ports.verification import Verifier, VerifierItem, VerifyRequest


@dataclass(frozen=True, eq=False)
class VerifierWrapper:
    """A `Verifier` in front of another, whose verdict it may change."""

    verifier: Verifier

    async def aclose(self) -> None:
        """Close the connections of the other."""
        await close_each(self.verifier)

    async def verify(self, request: VerifyRequest) -> AsyncIterator[VerifierItem]:
        """Pass on what the other yields, with its verdict changed."""
        async with closing(self.verifier.verify(request)) as items:
            async for item in items:
                yield await self.change(request, item) if isinstance(item, Verdict) else item

    async def change(self, request: VerifyRequest, verdict: Verdict) -> Verdict:
        """The verdict that is passed on."""
        raise NotImplementedError
