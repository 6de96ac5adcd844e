"""Finds out when an endpoint dropped the beginning of a conversation without saying so.

Some servers cut a conversation that is longer than their context, and answer without an error. The system text, the
tools and the photo are then lost. The check refuses a conversation that cannot fit, and recognises one that did not
from the number of prompt tokens the server counted. If the server does not report its context, or if the count is
strange, a `Canary` is sent. A token is at most some eight bytes of text here, so the bounds are on the safe side.
"""

from __future__ import annotations

import time

from tts.domain.usage import Usage
from tts.errors import ModelError
from tts.inference.openai.endpoint.advice import longer_context
from tts.inference.openai.endpoint.canary import CanaryOutcome
from tts.inference.openai.endpoint.traits import EndpointTraits, ServerKind
from tts.inference.picture_scaling import size_of
from tts.latest_entries import LatestEntries
from tts.ports.model_client import ModelRequest

_MAX_BYTES_PER_TOKEN = 8
_DEFAULT_BYTES_PER_TOKEN = 4
_PIXELS_PER_TOKEN = 28 * 28  # Qwen2.5-VL, technical report, section 2.1; other families take fewer
_MIN_CHECKED_TOKENS = 2048
_MAX_CHECKED_TOKENS = 16_384
_MAX_ANSWER_TOKENS = 2048
_MAX_SESSIONS = 1024
_CHECK_INTERVAL_S = 60.0
CUTS_SILENTLY: frozenset[ServerKind] = frozenset({"ollama", "lm_studio"})


def needed_tokens(request: ModelRequest) -> int:
    """About how many tokens a request and its answer take: what a check of the context has to prove, 2048 to 16384."""
    text = sum(len(message.text.encode()) for message in request.messages)
    text += sum(len(str(tool.parameters)) + len(tool.description) for tool in request.tools)
    shown = [size_of(ref, request) for message in request.messages for ref in message.images]
    pixels = sum(width * height for width, height in shown)
    needed = (
        text // _DEFAULT_BYTES_PER_TOKEN
        + pixels // _PIXELS_PER_TOKEN
        + min(request.sampling.max_tokens, _MAX_ANSWER_TOKENS)
    )
    return max(_MIN_CHECKED_TOKENS, min(_MAX_CHECKED_TOKENS, needed))


class TruncationCheck:
    """Remembers how long each conversation was. `text_bytes` leaves pictures out, whose tokens nobody knows here."""

    def __init__(self) -> None:
        self._max_tokens_by_session: LatestEntries[str, int] = LatestEntries(_MAX_SESSIONS)
        self._outcome: CanaryOutcome | None = None
        self._checked_at = 0.0

    def wants_check(self, traits: EndpointTraits) -> bool:
        """Whether a canary must be sent first: the server may cut, and does not report its context.

        Raises ModelError while the last check, at most a minute ago, says that the beginning is lost.
        """
        if traits.kind not in CUTS_SILENTLY or traits.context_tokens is not None or traits.context_proven is not None:
            return False
        if self._outcome is None:
            return True
        fresh = time.monotonic() - self._checked_at < _CHECK_INTERVAL_S
        if self._outcome.state == "cut" and fresh:
            raise _lost_words_error(self._outcome, traits)
        return self._outcome.state in ("cut", "unknown") and not fresh

    def learn(self, outcome: CanaryOutcome, traits: EndpointTraits) -> EndpointTraits:
        """What is known after a check. Raises ModelError when the beginning was lost."""
        self._outcome = outcome
        self._checked_at = time.monotonic()
        if outcome.state == "cut":
            raise _lost_words_error(outcome, traits)
        return traits.model_copy(update={"context_proven": outcome.words}) if outcome.state == "whole" else traits

    def check_before(self, traits: EndpointTraits, text_bytes: int) -> None:
        """Raises ModelError when the text alone is longer than the context."""
        least = text_bytes // _MAX_BYTES_PER_TOKEN
        if traits.context_tokens is not None and least >= traits.context_tokens:
            raise ModelError(
                f"the conversation has at least {least} tokens and the endpoint holds {traits.context_tokens}: "
                f"{longer_context(traits.kind)}",
                about="context",
            )

    def is_doubtful(self, traits: EndpointTraits, text_bytes: int, usage: Usage) -> bool:
        """Whether an unknown server counted fewer tokens than the text must have: some leave out what is cached."""
        read = usage.prompt_tokens + usage.cached_tokens
        return (
            traits.kind == "other"
            and traits.context_tokens is None
            and traits.context_proven is None
            and self._outcome is None
            and 0 < read < text_bytes // _MAX_BYTES_PER_TOKEN
        )

    def check_after(self, traits: EndpointTraits, session_id: str, text_bytes: int, usage: Usage) -> None:
        """Raises ModelError when fewer tokens were read than the text, or the turn before, must have had."""
        read = usage.prompt_tokens
        if traits.kind not in CUTS_SILENTLY or read == 0:
            return
        before = self._max_tokens_by_session.get(session_id, 0)
        if read >= text_bytes // _MAX_BYTES_PER_TOKEN and read >= before:
            self._max_tokens_by_session[session_id] = read
            return
        raise _lost_words_error(CanaryOutcome("cut", max(before, text_bytes // _MAX_BYTES_PER_TOKEN), read), traits)


def _lost_words_error(outcome: CanaryOutcome, traits: EndpointTraits) -> ModelError:
    holds = f"it holds {traits.context_tokens}" if traits.context_tokens else "its context is too short"
    read = f"{outcome.read} tokens" if outcome.read else "only the end"
    return ModelError(
        f"the endpoint read {read} of a conversation with at least {outcome.words}: the first words were lost, "
        f"{holds}; {longer_context(traits.kind)}",
        about="context",
        mend=longer_context(traits.kind),
    )
