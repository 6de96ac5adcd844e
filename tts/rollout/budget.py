"""What one rollout may still spend. A spent budget is a reason to stop, not an error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tts.domain.plan import Limits
from tts.domain.usage import Usage

Spent = Literal["turn budget", "tool budget", "token budget"]


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits against usage so far; immutable, so a checkpoint carries its whole state in `usage`."""

    limits: Limits
    usage: Usage = Usage()

    def spend(self, more: Usage) -> Budget:
        return Budget(self.limits, self.usage + more)

    @property
    def calls_left(self) -> int:
        return max(0, self.limits.max_tool_calls - self.usage.tool_calls)

    @property
    def tokens_left(self) -> int:
        """Tokens the model may still write. Prompts do not count: they are mostly cached."""
        return max(0, self.limits.max_tokens - self.usage.completion_tokens)

    @property
    def last_turn(self) -> bool:
        return self.usage.turns + 1 >= self.limits.max_turns

    def spent(self) -> Spent | None:
        if self.usage.turns >= self.limits.max_turns:
            return "turn budget"
        if self.tokens_left <= 0:
            return "token budget"
        return None
