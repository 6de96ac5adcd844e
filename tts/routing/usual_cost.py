"""What rollouts usually take, of an engine of which no runs were recorded."""

from __future__ import annotations

from tts.decision_weights import weights
from tts.domain.plan import Limits, PlanDepth
from tts.domain.token_price import Price
from tts.domain.usage import Usage

_W = weights("depth")
# What a rollout of each depth takes on average, where the limits leave it: turns, tool calls, tokens it writes.
_USUAL = {
    PlanDepth.HOPELESS: (1.0, 0.0, _W["usual_hopeless_tokens"]),
    PlanDepth.DIRECT: (1.0, 0.0, _W["usual_direct_tokens"]),
    PlanDepth.STANDARD: (_W["usual_standard_turns"], _W["usual_standard_calls"], _W["usual_standard_tokens"]),
    PlanDepth.DEEP: (_W["usual_deep_turns"], _W["usual_deep_calls"], _W["usual_deep_tokens"]),
}
USUAL_PROMPT_TOKENS = int(_W["usual_prompt_tokens"])
"""The prompt of a turn on average; nothing of it counted as cached."""


def predicted_cost(depth: PlanDepth, n: int, limits: Limits, price: Price | None = None) -> dict[str, float]:
    """What `n` rollouts are expected to take, all together; money where the model has a price."""
    turns, calls, tokens = _USUAL[depth]
    expected = {
        "rollouts": float(n),
        "turns": n * min(turns, limits.max_turns),
        "tool_calls": n * min(calls, limits.max_tool_calls),
        "completion_tokens": n * min(tokens, limits.max_tokens),
    }
    if price is not None:
        read = expected["turns"] * USUAL_PROMPT_TOKENS
        usage = Usage(prompt_tokens=round(read), completion_tokens=round(expected["completion_tokens"]))
        expected["cost_usd"] = round(price.cost_usd(usage), 4)
    return expected
