"""Adds a warning to the verdict of a request that allowed the verifier more questions than the operator does."""

from __future__ import annotations

from dataclasses import dataclass

from tts.domain.answer import Verdict
from tts.ports.verification import VerifyRequest
from tts.verify.verifiers.verdict_changer import VerdictChanger


@dataclass(frozen=True, eq=False)
class QuestionLimitVerifier(VerdictChanger):
    """A `Verifier` in front of another, which makes at most `max_questions` tool calls of its own."""

    max_questions: int

    async def change(self, request: VerifyRequest, verdict: Verdict) -> Verdict:
        """The verdict with the warning, where the limit was lower than what was asked."""
        wanted = request.options.verifier_questions or 0
        if wanted <= self.max_questions:
            return verdict
        warning = (
            f"the request allows the verifier {wanted} questions; this service allows {self.max_questions} "
            "(verifier.max_questions)"
        )
        return verdict.model_copy(update={"warnings": (*verdict.warnings, warning)})
