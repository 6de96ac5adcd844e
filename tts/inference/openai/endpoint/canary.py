"""A test request (canary) that finds out whether an endpoint reads a prompt of some length from its beginning.

The prompt begins with a number, goes on with filler, and ends by asking for the number. A server that drops the
beginning (Ollama, https://github.com/ollama/ollama/issues/3839) counts fewer tokens than there are words, and the model
cannot know the number. If the server reports no count, a prompt without filler shows whether the model can repeat a
number at all; if it cannot, the result is unknown.

A `Canary` does no input or output: it names the next body to post and is fed what came back.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any, Literal

from tts.domain.usage import Usage
from tts.inference.openai.endpoint.advice import overflows_context
from tts.inference.openai.endpoint.refusal import Refusal
from tts.inference.openai.endpoint.traits import EndpointTraits

# No tokenizer in use joins words across a space, so a prompt has at least as many tokens as words.
_FILLER_WORDS = ("house", "river", "table", "stone", "garden", "light", "water", "summer", "paper", "winter")
_MAX_ANSWER_TOKENS = 64

CanaryState = Literal["whole", "cut", "refused", "unknown"]


@dataclass(frozen=True, slots=True)
class CanaryOutcome:
    """What came of it: `words` were sent, which are at least as many tokens; `read` of them are counted, 0 if none.

    `refused`: the endpoint says aloud that the prompt is too long, as it should. `usage` is what the questions took.
    """

    state: CanaryState
    words: int
    read: int = 0
    message: str = ""
    usage: Usage = Usage()


class Canary:
    """One check of `tokens` tokens, one or two questions. `outcome` is there when `question` is None."""

    def __init__(self, model: str, traits: EndpointTraits, tokens: int) -> None:
        self._model = model
        self._traits = traits
        self._n_words = tokens
        self._code = str(secrets.randbelow(900_000) + 100_000)  # no two checks share a prefix that may be cached
        self._is_control = False
        self.outcome: CanaryOutcome | None = None

    @property
    def question(self) -> dict[str, Any] | None:
        """The body of the next chat completion to ask for."""
        if self.outcome is not None:
            return None
        filler = "" if self._is_control else " ".join(islice(cycle(_FILLER_WORDS), self._n_words)) + ". "
        text = (
            f"The number is {self._code}. {filler}Which number was named in the first sentence? Answer with the number."
        )
        content: Any = [{"type": "text", "text": text}] if self._traits.alternates else text
        return {
            "model": self._model,
            "messages": [{"role": "user", "content": content}],
            self._traits.token_field: _MAX_ANSWER_TOKENS,
            "stream": False,
        }

    def feed(self, answer: Any) -> None:
        """Take the parsed JSON of the answer, or the `Refusal` of the question."""
        if isinstance(answer, Refusal):
            state: CanaryState = "refused" if overflows_context(answer) and not self._is_control else "unknown"
            self.outcome = CanaryOutcome(state, self._n_words, message=answer.line)
            return
        read, repeated = _prompt_tokens(answer), self._code in str(_message(answer))
        if self._is_control:
            self.outcome = CanaryOutcome("cut" if repeated else "unknown", self._n_words)
        elif repeated or read >= self._n_words:
            self.outcome = CanaryOutcome("whole", self._n_words, read)
        elif read:
            self.outcome = CanaryOutcome("cut", self._n_words, read)
        else:
            self._is_control = True


def _message(answer: Any) -> Any:
    """The first message of a completion, with its reasoning."""
    choices = answer.get("choices") if isinstance(answer, dict) else None
    return choices[0].get("message") if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None


def _prompt_tokens(answer: Any) -> int:
    usage = answer.get("usage") if isinstance(answer, dict) else None
    read = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    return read if isinstance(read, int) and read > 0 else 0
