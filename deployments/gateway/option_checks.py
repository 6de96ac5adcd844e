"""Checks whether the options of a request fit its photos and the verifier of this installation."""

from __future__ import annotations

from deployments.gateway.wrong_field import wrong_field
from tts.config import VerifierConfig
from tts.config.verifier import WHO_MAY_ASK
from tts.domain.reach import walk_problem
from tts.domain.request import LocateOptions


def check_questions(options: LocateOptions, config: VerifierConfig) -> None:
    """Raises RequestError for questions of a verifier that cannot ask; the request would be answered without them."""
    if not options.verifier_questions or config.may_ask:
        return
    problem = f"the verifier of this service asks no questions: leave this out, or set it to 0 (it needs {WHO_MAY_ASK})"
    raise wrong_field("verifier_questions", problem)


def check_walk(options: LocateOptions, photos: int) -> None:
    """Raises RequestError about the option of a walk that does not fit a number of photos."""
    if (problem := walk_problem(options, photos)) is not None:
        raise wrong_field(*problem)
