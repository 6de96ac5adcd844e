"""What one rollout may still spend. A rollout with a spent budget stops; this is not an error."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from tts.decision_weights import weights
from tts.domain.plan import Limits
from tts.domain.token_price import Price
from tts.domain.usage import Usage
from tts.ports.rollout_groups import Checkpoint

Spent = Literal["turn budget", "tool budget", "token budget", "money budget"]

_W = weights("rollouts")
_MAX_RESERVED_TOKENS = int(_W["answer_tokens"])
_RESERVE_DIVISOR = int(_W["answer_parts"])
_FINAL_TURN_TIME_SHARE = _W["final_turn_time"]
_FINAL_TURN_MAX_S = _W["final_turn_most_s"]


@dataclass(frozen=True, slots=True)
class RolloutBudget:
    """Limits against usage so far; immutable, so a checkpoint carries its whole state.

    `observed_tokens` are those of tool results and other turns than the model's, for dialects whose token limit covers
    them: everything after the first prompt (`prompt_tokens`) counts then. `price` is the model's, where it has one.
    """

    limits: Limits
    usage: Usage = Usage()
    prompt_tokens: int = 0
    observed_tokens: int = 0
    price: Price | None = None

    def spend(self, more: Usage) -> RolloutBudget:
        """A budget with this usage added."""
        usage = self.usage + more
        return self if usage is self.usage else replace(self, usage=usage)

    def resume(self, saved: Checkpoint) -> RolloutBudget:
        """A budget with what a rollout had used at its checkpoint."""
        spent = self.spend(saved.usage)
        return replace(spent, prompt_tokens=saved.prompt_tokens, observed_tokens=saved.observed_tokens)

    def observe(self, turn: Usage) -> RolloutBudget:
        """Take the length of the trajectory from the number of prompt tokens that the engine reports after a
        generation."""
        first = self.prompt_tokens or turn.prompt_tokens
        trajectory = turn.prompt_tokens + turn.completion_tokens - first
        return replace(self, prompt_tokens=first, observed_tokens=max(0, trajectory - self.usage.completion_tokens))

    @property
    def calls_left(self) -> int:
        """Tool calls the rollout may still make."""
        return max(0, self.limits.max_tool_calls - self.usage.tool_calls)

    @property
    def tokens_left(self) -> int:
        """Tokens the model may still write."""
        return max(0, self.limits.max_tokens - self.usage.completion_tokens - self.observed_tokens)

    @property
    def answer_tokens(self) -> int:
        """Tokens kept back for the final answer: 512, or a quarter of the token limit where that is less."""
        return min(_MAX_RESERVED_TOKENS, self.limits.max_tokens // _RESERVE_DIVISOR)

    @property
    def last_turn(self) -> bool:
        """Whether the turn limit allows no turn after the next one."""
        return self.usage.turns + 1 >= self.limits.max_turns

    @property
    def money_left_usd(self) -> float | None:
        """None without a limit."""
        most = self.limits.max_cost_usd
        return None if most is None else max(0.0, most - self.usage.cost_usd)

    def affordable_tokens(self, prompt_tokens: int) -> int:
        """Tokens the next turn may write, money included; `prompt_tokens` is what it will have to read."""
        money = self.money_left_usd
        if money is None or self.price is None:
            return self.tokens_left
        return min(self.tokens_left, self.price.affordable_tokens(money, prompt_tokens))

    def spent_limit(self) -> Spent | None:
        """The limit that ends the rollout now, or None. Tool calls are not checked here; a money limit of 0 never ends
        it."""
        if self.usage.turns >= self.limits.max_turns:
            return "turn budget"
        if self.tokens_left <= 0:
            return "token budget"
        if self.limits.max_cost_usd is not None and self.usage.cost_usd >= self.limits.max_cost_usd > 0:
            return "money budget"
        return None


def final_turn_s(remaining_s: float) -> float:
    """Seconds kept for the last turn of a rollout that begins with `remaining_s` left."""
    return min(_FINAL_TURN_MAX_S, _FINAL_TURN_TIME_SHARE * remaining_s)
