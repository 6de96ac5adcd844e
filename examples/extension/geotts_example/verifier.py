"""A verifier: the consensus, never surer than its rollouts are many. One rollout has at most half of the confidence."""

from __future__ import annotations

from collections.abc import AsyncIterator

from tts.aio import closing
from tts.config import PipelineConfig
from tts.domain.answer import Verdict
from tts.ports.verification import Verifier, VerifierItem, VerifyRequest


class WaryVerifier:
    """The `Verifier` port around another verifier."""

    def __init__(self, consensus: Verifier) -> None:
        self._consensus = consensus

    async def verify(self, request: VerifyRequest) -> AsyncIterator[VerifierItem]:
        """What the other yields; only the confidence of its verdict changes."""
        most = 1 - 0.5 ** len(request.trajectories)
        async with closing(self._consensus.verify(request)) as items:
            async for item in items:
                if isinstance(item, Verdict):
                    yield item.model_copy(update={"confidence": min(item.confidence, most)})
                else:
                    yield item


def make_verifier(consensus: Verifier, config: PipelineConfig) -> Verifier:
    """The entry point. `consensus` is the verifier of the service without a model."""
    return WaryVerifier(consensus)
