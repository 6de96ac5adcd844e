"""An engine that says the outputs of a row, one a turn, and keeps what it was asked."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from tts.domain.messages import Message
from tts.domain.usage import Usage
from tts.ports.model_client import Delta, ModelRequest


class PlayedModel:
    """The `ModelClient` over a list of outputs; nothing is left to say after the last. One token is one character."""

    name = "played"

    def __init__(self, outputs: Sequence[str]) -> None:
        self._outputs = list(outputs)
        self.requests: list[ModelRequest] = []

    async def generate(self, request: ModelRequest) -> AsyncIterator[Delta]:
        """The next output in one piece, then its usage; an empty text when no output is left."""
        self.requests.append(request)
        output = self._outputs.pop(0) if self._outputs else ""
        usage = Usage(prompt_tokens=self.count_tokens(request.messages), completion_tokens=len(output))
        yield Delta(text=output)
        yield Delta(finish_reason="stop", usage=usage)

    def count_tokens(self, messages: Sequence[Message]) -> int:
        """Characters of all texts; pictures count nothing."""
        return sum(len(message.text) for message in messages)
