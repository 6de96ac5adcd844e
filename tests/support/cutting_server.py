"""A chat server with a short context that answers whatever it is sent, as Ollama does, and says nothing of what it cut.

A prompt that is too long loses its beginning until half of the context is filled
(https://github.com/ollama/ollama/issues/17427); `prompt_tokens` counts what is left.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from support.chat_servers import Body, Turn, listing, streamed_reply, whole_reply

_PICTURE_MARK = "\N{OBJECT REPLACEMENT CHARACTER}"
_PICTURE_TOKENS = 300


@dataclass
class CuttingServer:
    """`play` is for `endpoint.serving`. `counts`: usage is sent. `repeats`: the model can repeat a number it has read.

    `counted_of` is the share of the prompt that usage tells, below 1 where a server leaves out what it had cached.
    """

    context: int
    speak: Callable[[Body], Turn]
    counts: bool = True
    repeats: bool = True
    counted_of: float = 1.0

    def play(self, body: Body, number: int) -> Any:
        read = self._remaining_tokens(body)
        turn = self.speak(body)
        if is_canary(body):
            number_read = re.search(r"\d{6}", " ".join(read))
            turn = Turn(text=number_read[0] if number_read and self.repeats else "I cannot say.")
        usage = {"prompt_tokens": int(len(read) * self.counted_of), "completion_tokens": 5}
        if not body.get("stream"):
            reply = whole_reply(turn, body)
            reply.body["usage"] = usage if self.counts else None
            return reply
        steps = streamed_reply(turn, body)
        return [
            {"choices": [], "usage": usage} if isinstance(step, dict) and "usage" in step else step
            for step in steps
            if self.counts or not (isinstance(step, dict) and "usage" in step)
        ]

    def read_of(self, body: Body) -> int:
        """How many tokens of a request it read."""
        return len(self._remaining_tokens(body))

    def _remaining_tokens(self, body: Body) -> list[str]:
        """The tokens that are left: one a word, and some for each picture."""
        tokens = [token for message in body["messages"] for token in _split_tokens(message.get("content"))]
        return tokens if len(tokens) <= self.context else tokens[-self.context // 2 :]


def is_canary(body: Body) -> bool:
    return "Which number was named in the first sentence?" in str(body["messages"][-1]["content"])


def ollama_pages(*, context_length: int | None = None) -> dict[str, Any]:
    """What Ollama says of itself; older versions do not tell the context of a loaded model."""
    loaded: Body = {"name": "gemma3:4b", "model": "gemma3:4b"}
    return {
        "/v1/models": listing({"id": "gemma3:4b", "owned_by": "library"}),
        "/api/generate": {"model": "gemma3:4b", "response": "", "done": True},
        "/api/ps": {"models": [loaded if context_length is None else {**loaded, "context_length": context_length}]},
    }


def _split_tokens(content: Any) -> list[str]:
    if isinstance(content, str):
        return content.split()
    tokens: list[str] = []
    for part in content or ():
        tokens += part["text"].split() if part["type"] == "text" else [_PICTURE_MARK] * _PICTURE_TOKENS
    return tokens
