"""The words for people for what the service calls otherwise, as `deployments/web/static` has them for the page.

The glossary (`docs/glossary.md`) has both. Only for sentences of the service, not for what a photo, a person or a tool
says.
"""

from __future__ import annotations

import re

from tts.domain.answer import StopReason

WORDS = {
    "rollouts": "attempts",
    "rollout": "attempt",
    "Rollouts": "Attempts",
    "Rollout": "Attempt",
    "verifier": "comparison",
    "Verifier": "Comparison",
}
# Not a part of a name, a path or a configuration key, as in `deployments.rollout.replicas`.
_SERVICE_WORD = re.compile(rf"(?<![\w./=-])({'|'.join(WORDS)})(?![\w/=-]|\.\w)")

# How an attempt ended, and how a request did.
ENDS = {
    StopReason.ANSWERED: "answered",
    StopReason.BUDGET: "budget used up",
    StopReason.DEADLINE: "out of time",
    StopReason.CANCELLED: "stopped",
    StopReason.QUORUM: "stopped early: the others already agreed",
    StopReason.FAILED: "failed",
}
REQUEST_ENDS = {
    StopReason.ANSWERED: "The attempts came to their end.",
    StopReason.BUDGET: "The budget was used up: this is the best answer so far.",
    StopReason.DEADLINE: "The time was up: this is the best answer so far.",
    StopReason.CANCELLED: "The request was stopped: this is the best answer so far.",
    StopReason.QUORUM: "Enough attempts agreed.",
    StopReason.FAILED: "The attempts failed.",
}
VERDICTS = {"supported": "supported", "contradicted": "contradicted", "not_decidable": "cannot be decided"}


def plain(text: str) -> str:
    """A sentence of the service in words for end users: "attempt" for rollout, "comparison" for verifier."""
    return _SERVICE_WORD.sub(lambda found: WORDS[found[0]], text)


def plural(number: int, noun: str) -> str:
    """“1 step”, “2 steps”."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
