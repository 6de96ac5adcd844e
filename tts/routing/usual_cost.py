"""What rollouts usually take, of an engine of which no runs were recorded."""

from __future__ import annotations

from typing import NamedTuple

from tts.decision_weights import weights
from tts.domain.plan import Limits, PlanDepth
from tts.domain.token_price import Price
from tts.domain.usage import Usage

_W = weights("depth")
# What a rollout of each depth takes on average, where the limits leave it: turns, tool calls, tokens it writes.
_MEAN_USE_BY_DEPTH = {
    PlanDepth.HOPELESS: (1.0, 0.0, _W["usual_hopeless_tokens"]),
    PlanDepth.DIRECT: (1.0, 0.0, _W["usual_direct_tokens"]),
    PlanDepth.STANDARD: (_W["usual_standard_turns"], _W["usual_standard_calls"], _W["usual_standard_tokens"]),
    PlanDepth.DEEP: (_W["usual_deep_turns"], _W["usual_deep_calls"], _W["usual_deep_tokens"]),
}
USUAL_PROMPT_TOKENS = int(_W["usual_prompt_tokens"])
"""The prompt of a turn on average; nothing of it counted as cached."""
USUAL_DRAW_PROMPT_TOKENS = int(_W["usual_draw_prompt_tokens"])
"""The prompt of an answer draw. Each draw counts: an endpoint that refuses `n` gets a request for each of them."""


class TurnCost(NamedTuple):
    """What one turn of a rollout takes on average. An answer draw writes as many tokens."""

    tokens: float
    tool_calls: float


class TokenCost(NamedTuple):
    """Tokens that all rollouts of a request write, and that they read."""

    written: float
    read: float


def usual_turn(depth: PlanDepth) -> TurnCost:
    """A turn of a rollout of this depth."""
    turns, calls, tokens = _MEAN_USE_BY_DEPTH[depth]
    return TurnCost(tokens=tokens / turns, tool_calls=calls / turns)


def usual_tokens(depth: PlanDepth, n: int, limits: Limits) -> TokenCost:
    """What `n` rollouts are expected to write and to read, their answer draws included."""
    turns, _, tokens = _MEAN_USE_BY_DEPTH[depth]
    draws = (limits.answer_draws or 1) - 1
    written = min(tokens + draws * usual_turn(depth).tokens, limits.max_tokens)
    read = min(turns, limits.max_turns) * USUAL_PROMPT_TOKENS + draws * USUAL_DRAW_PROMPT_TOKENS
    return TokenCost(written=n * written, read=n * read)


def predicted_cost(depth: PlanDepth, n: int, limits: Limits, price: Price | None = None) -> dict[str, float]:
    """What `n` rollouts are expected to take, all together; money where the model has a price."""
    turns, calls, _ = _MEAN_USE_BY_DEPTH[depth]
    tokens = usual_tokens(depth, n, limits)
    expected = {
        "rollouts": float(n),
        "turns": n * min(turns, limits.max_turns),
        "tool_calls": n * min(calls, limits.max_tool_calls),
        "completion_tokens": tokens.written,
    }
    if price is not None:
        usage = Usage(prompt_tokens=round(tokens.read), completion_tokens=round(tokens.written))
        expected["cost_usd"] = round(price.cost_usd(usage), 4)
    return expected
