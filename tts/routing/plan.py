"""From locatability and options to a plan: which depth, how many rollouts, how much each may spend."""

from __future__ import annotations

from tts.domain.plan import Depth, Limits, Locatability, Plan, PlanDepth
from tts.domain.request import LocateOptions
from tts.ports import Routing

_DIRECT = Limits(max_turns=1, max_tool_calls=0)
_STANDARD = Limits(max_turns=4)
_STANDARD_ROLLOUTS = 2


class DepthRouter:
    """Pure. `auto` treats the caller's n as a ceiling; any other depth runs exactly that many."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def plan(self, options: LocateOptions, routing: Routing) -> Plan:
        depth, reason = _choose(options.depth, routing.locatability)
        limits, n = self._limits, options.n_parallel
        if depth in (PlanDepth.DIRECT, PlanDepth.HOPELESS):
            limits = limits.tighten(_DIRECT)
        elif depth is PlanDepth.STANDARD:
            limits = limits.tighten(_STANDARD)
        if options.depth is Depth.AUTO:
            n = {PlanDepth.DIRECT: 1, PlanDepth.HOPELESS: 1, PlanDepth.STANDARD: min(n, _STANDARD_ROLLOUTS)}.get(
                depth, n
            )
        return Plan(
            depth=depth,
            n_asked=options.n_parallel,
            n_planned=n,
            limits=_within_request(limits, options, n),
            use_tools=depth not in (PlanDepth.DIRECT, PlanDepth.HOPELESS),
            reason=reason,
        )


def _choose(asked: Depth, locatability: Locatability) -> tuple[PlanDepth, str]:
    if asked is not Depth.AUTO:
        return PlanDepth(asked.value), "the caller asked for it"
    if locatability.method == "fixed" or locatability.score >= 0.3:
        return PlanDepth.DEEP, f"there is something to search for: {locatability.why}"
    if locatability.score > 0.12:
        return PlanDepth.STANDARD, f"little to search for: {locatability.why}"
    return PlanDepth.HOPELESS, f"nothing to search for: {locatability.why}"


def _within_request(limits: Limits, options: LocateOptions, n: int) -> Limits:
    """Share the request's totals evenly among the rollouts."""
    tokens, calls = limits.max_tokens, limits.max_tool_calls
    if options.max_tokens_total is not None:
        tokens = min(tokens, max(16, options.max_tokens_total // n))
    if options.max_tool_calls is not None:
        calls = min(calls, options.max_tool_calls // n)
    return Limits(max_turns=limits.max_turns, max_tool_calls=calls, max_tokens=tokens)
