"""What rollouts usually take, of an engine of which no runs were recorded."""

from __future__ import annotations

from tts.domain.plan import Limits, PlanDepth
from tts.domain.token_price import Price
from tts.domain.usage import Usage

# What a rollout of each depth takes on average, where the limits leave it: turns, tool calls, tokens it writes.
_USUAL = {
    PlanDepth.HOPELESS: (1.0, 0.0, 200.0),
    PlanDepth.DIRECT: (1.0, 0.0, 300.0),
    PlanDepth.STANDARD: (2.5, 3.0, 700.0),
    PlanDepth.DEEP: (4.0, 6.0, 1500.0),
}
# A turn's prompt on average: system text and tools 1,500, a photo of 2 megapixels 2,000, half of the results so far.
# Hand-set on 2026-11-23 from the golden conversations; nothing of it counted as cached.
USUAL_PROMPT_TOKENS = 4500


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
