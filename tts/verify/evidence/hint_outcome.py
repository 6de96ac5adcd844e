"""Makes the value that says what became of a hint."""

from __future__ import annotations

from tts.clues.hints import Hint
from tts.domain.answer import HintOutcome


def hint_outcome(outcome: str, hint: Hint, text: str) -> HintOutcome:
    """`outcome` is one of the values of `HintOutcome.outcome`; `text` is one sentence for a person."""
    return HintOutcome.model_validate({"outcome": outcome, "place": hint.words, "text": text})
