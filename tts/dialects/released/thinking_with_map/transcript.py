"""A rollout as the released dumps hold it: the decoded response, special tokens left out.

Between the model's messages stand the role names that the chat template writes; the dumps of validation runs are read
so by the reward and by the verifier (verl/verl/trainer/ppo/ray_trainer.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from tts.dialects.released.released_dialect import messages_after_prompt
from tts.domain.messages import Message


def response_text(messages: Sequence[Message]) -> str:
    """Everything after the prompt as one text."""
    pieces: list[str] = []
    for message in messages_after_prompt(messages):
        if message.role == "assistant":
            pieces.append(f"\nassistant\n{message.text}" if pieces else message.text)
        else:
            answer = message.text if message.role == "user" else f"<tool_response>\n{message.text}\n</tool_response>"
            pieces.append(f"\nuser\n{answer}")
    return "".join(pieces)
