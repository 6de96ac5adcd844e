"""Adds a warning to the verdict of a request that allowed the verifier more questions than the operator does."""

from __future__ import annotations

from collections.abc import AsyncIterator

from tts.aio import closing
from tts.domain.answer import Verdict
from tts.ports.closable import close_each
from tts.ports.verification import Verifier, VerifierItem, VerifyRequest


class QuestionLimitVerifier:
    """A `Verifier` in front of another, which makes at most `max_questions` tool calls of its own."""

    def __init__(self, verifier: Verifier, max_questions: int) -> None:
        self._verifier = verifier
        self._max_questions = max_questions

    async def aclose(self) -> None:
        """Close the connections of the other."""
        await close_each(self._verifier)

    async def verify(self, request: VerifyRequest) -> AsyncIterator[VerifierItem]:
        """Pass on what the other yields; the verdict gets the warning where the limit was lower than what was asked."""
        wanted = request.options.verifier_questions or 0
        async with closing(self._verifier.verify(request)) as items:
            async for item in items:
                yield self._add_warning(item, wanted) if isinstance(item, Verdict) else item

    def _add_warning(self, verdict: Verdict, wanted: int) -> Verdict:
        if wanted <= self._max_questions:
            return verdict
        warning = (
            f"the request allows the verifier {wanted} questions; this service allows {self._max_questions} "
            "(verifier.max_questions)"
        )
        return verdict.model_copy(update={"warnings": (*verdict.warnings, warning)})
