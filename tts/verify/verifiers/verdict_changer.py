"""A verifier that passes on what another yields, and changes its verdict."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator

from tts.aio import closing
from tts.domain.answer import Verdict
from tts.ports.verification import VerifierItem, VerifyRequest
from tts.verify.verifiers.verifier_wrapper import VerifierWrapper


class VerdictChanger(VerifierWrapper, ABC):
    """The `Verifier` port in front of another. A subclass says how it changes the verdict."""

    async def verify(self, request: VerifyRequest) -> AsyncIterator[VerifierItem]:
        """Pass on what the other yields, with its verdict changed."""
        async with closing(self.verifier.verify(request)) as items:
            async for item in items:
                yield await self.change(request, item) if isinstance(item, Verdict) else item

    @abstractmethod
    async def change(self, request: VerifyRequest, verdict: Verdict) -> Verdict:
        """The verdict that is passed on."""
