"""Checks whether the verifier of this installation can make the tool calls that a request allows it."""

from __future__ import annotations

from deployments.gateway.wrong_field import wrong_field
from tts.config import VerifierConfig
from tts.config.verifier import WHO_MAY_ASK
from tts.domain.request import LocateOptions


def check_questions(options: LocateOptions, config: VerifierConfig) -> None:
    """Raises RequestError for questions of a verifier that cannot ask; the request would be answered without them."""
    if not options.verifier_questions or config.may_ask:
        return
    problem = f"the verifier of this service asks no questions: leave this out, or set it to 0 (it needs {WHO_MAY_ASK})"
    raise wrong_field("verifier_questions", problem)
