"""Counts the calls of a tool in the conversation, so that a rollout that moved to another replica has the count."""

from __future__ import annotations

from collections.abc import Sequence

from tts.domain.messages import Message
from tts.domain.tooling import ToolResult
from tts.errors import ToolErrorKind


def calls_made(messages: Sequence[Message], tool: str, *, failed_too: bool = True) -> int:
    """How often a tool was run in a conversation. Without `failed_too`, failed calls do not count."""
    results = (message.result for message in messages)
    return sum(
        result is not None and result.name == tool and (result.ok or (failed_too and not _is_refused(result)))
        for result in results
    )


def _is_refused(result: ToolResult) -> bool:
    return result.failure is not None and result.failure.kind is ToolErrorKind.BUDGET
