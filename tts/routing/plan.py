"""From locatability and options to a plan: which depth, how many rollouts, how much each may spend.

Limits are the least of what the request, the plan and (in the loop) the dialect allow. Under `auto` the caller's n is a
ceiling over everything that is ever started; any other depth runs exactly n and is never escalated.
"""

from __future__ import annotations

from tts.domain.plan import Depth, Limits, Locatability, Plan, PlanDepth
from tts.domain.request import LocateOptions
from tts.domain.usage import Usage
from tts.ports import Routing

_DIRECT = Limits(max_turns=1, max_tool_calls=0)
_STANDARD = Limits(max_turns=4)
_STANDARD_ROLLOUTS = 2
_DEEPER = {PlanDepth.DIRECT: PlanDepth.STANDARD, PlanDepth.STANDARD: PlanDepth.DEEP}
_DEEP_FROM = 0.5  # probability of the deep label above which search is worth its price
_CLEAR_FROM = 0.8
_HOPELESS_BELOW = 0.12

# What a rollout of each depth takes on average, where the limits leave it: turns, tool calls, tokens it writes.
_USUAL = {
    PlanDepth.HOPELESS: (1.0, 0.0, 200.0),
    PlanDepth.DIRECT: (1.0, 0.0, 300.0),
    PlanDepth.STANDARD: (2.5, 3.0, 700.0),
    PlanDepth.DEEP: (4.0, 6.0, 1500.0),
}


class DepthRouter:
    """Pure."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def plan(self, options: LocateOptions, routing: Routing) -> Plan:
        depth, reason = _choose(options, routing.locatability)
        n = options.n_parallel
        if options.depth is Depth.AUTO:
            n = min(
                n, {PlanDepth.DIRECT: 1, PlanDepth.HOPELESS: 1, PlanDepth.STANDARD: _STANDARD_ROLLOUTS}.get(depth, n)
            )
        return self._plan(depth, n, options, reason, Usage())

    def escalate(self, plan: Plan, options: LocateOptions, *, started: int, spent: Usage) -> Plan | None:
        """More rollouts at the same depth first (half of what is left), then the rest a level deeper."""
        left = options.n_parallel - started
        if left <= 0 or _exhausted(options, spent):
            return None
        if started > plan.n_planned or plan.depth is PlanDepth.DIRECT:  # more of the same was tried, or cannot help
            deeper = _DEEPER.get(plan.depth, plan.depth)
            added = min(left, _STANDARD_ROLLOUTS) if deeper is PlanDepth.STANDARD else left
            return self._plan(deeper, added, options, "the shallower plan was not enough", spent)
        return self._plan(plan.depth, (left + 1) // 2, options, "more rollouts are needed", spent)

    def _plan(self, depth: PlanDepth, n: int, options: LocateOptions, reason: str, spent: Usage) -> Plan:
        limits = self._limits
        if depth in (PlanDepth.DIRECT, PlanDepth.HOPELESS):
            limits = limits.tighten(_DIRECT)
        elif depth is PlanDepth.STANDARD:
            limits = limits.tighten(_STANDARD)
        limits = _within_request(limits, options, n, spent)
        return Plan(
            depth=depth,
            n_asked=options.n_parallel,
            n_planned=n,
            limits=limits,
            use_tools=depth not in (PlanDepth.DIRECT, PlanDepth.HOPELESS),
            reason=reason,
            predicted_cost=predicted_cost(depth, n, limits),
        )


def predicted_cost(depth: PlanDepth, n: int, limits: Limits) -> dict[str, float]:
    """What `n` rollouts are expected to take, all together."""
    turns, calls, tokens = _USUAL[depth]
    return {
        "rollouts": float(n),
        "turns": n * min(turns, limits.max_turns),
        "tool_calls": n * min(calls, limits.max_tool_calls),
        "completion_tokens": n * min(tokens, limits.max_tokens),
    }


def _choose(options: LocateOptions, locatability: Locatability) -> tuple[PlanDepth, str]:
    """The visual part of a locatability never decides: it cannot tell a hopeless photo from one that needs thought."""
    if options.depth is not Depth.AUTO:
        return PlanDepth(options.depth.value), "the caller asked for it"
    parts, why = locatability.parts, locatability.why
    if locatability.method == "fixed":
        return PlanDepth.DEEP, f"nothing is known about the photo: {why}"
    if locatability.method == "visual" and "deep" not in parts:
        return PlanDepth.STANDARD, f"what is pictured alone does not say how hard it is: {why}"
    deep = parts.get("deep", 0.0)
    if deep >= _DEEP_FROM:
        return PlanDepth.DEEP, f"search should help: {why}"
    if locatability.score < _HOPELESS_BELOW:
        return PlanDepth.HOPELESS, f"nothing to search for: {why}"
    if locatability.score >= _CLEAR_FROM and deep <= 1.0 - _CLEAR_FROM:
        return PlanDepth.DIRECT, f"it can be told at sight: {why}"
    return PlanDepth.STANDARD, f"some search should do: {why}"


def _exhausted(options: LocateOptions, spent: Usage) -> bool:
    tokens, calls = options.max_tokens_total, options.max_tool_calls
    return (tokens is not None and spent.completion_tokens >= tokens) or (
        calls is not None and 0 < calls <= spent.tool_calls
    )


def _within_request(limits: Limits, options: LocateOptions, n: int, spent: Usage) -> Limits:
    """Share what is left of the request's totals evenly among the rollouts."""
    tokens, calls = limits.max_tokens, limits.max_tool_calls
    if options.max_tokens_total is not None:
        tokens = min(tokens, max(16, (options.max_tokens_total - spent.completion_tokens) // n))
    if options.max_tool_calls is not None:
        calls = min(calls, max(0, options.max_tool_calls - spent.tool_calls) // n)
    return Limits(max_turns=limits.max_turns, max_tool_calls=calls, max_tokens=tokens)
