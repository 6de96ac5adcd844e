"""Decides whether more rollouts are needed: nothing found, no agreement, contradicting facts, or the model asks for
it."""

from __future__ import annotations

from collections.abc import Callable

from tts.decision_weights import weights
from tts.domain.answer import StopReason, Verdict
from tts.domain.plan import Depth, PlanDepth
from tts.domain.request import LocateOptions
from tts.domain.trajectory import Run

_MIN_CONFIDENCE = weights("watch")["doubtful"]


def reason_to_escalate(
    options: LocateOptions, depth: PlanDepth, run: Run, agreement: Callable[[], tuple[float, float]], verdict: Verdict
) -> str | None:
    """Only with depth `auto`. `agreement()`: witnesses at the fullest place, and all of them."""
    if options.depth is not Depth.AUTO or depth is PlanDepth.HOPELESS:
        return None
    if all(t.stop_reason is StopReason.FAILED for t in run.trajectories):
        return None  # an engine that is down is not helped by more work
    if verdict.contradictions and verdict.abstained:
        return None  # what speaks against the caller is found already, and more work finds it again
    if verdict.abstained or all(t.best is None or t.best.point is None for t in run.trajectories):
        return "nothing was found"
    best, total = agreement()
    if total >= 2.0 and best < 2.0:
        return f"no two of {total:.0f} independent answers agree within {options.target_radius_km:g} km"
    if depth is not PlanDepth.DEEP and _asks_for_depth(run):
        return "the model asks to think longer"
    against = [item.claim for item in verdict.evidence if not item.supports]
    if against and verdict.confidence < _MIN_CONFIDENCE:
        return f"a check contradicts the answer: {against[0]}"
    return None


def _asks_for_depth(run: Run) -> bool:
    """Most of the rollouts whose dialect says what depth a photo needs (Geo-ADAPT) say that it needs more."""
    wishes = [t.best.wants_depth for t in run.trajectories if t.best is not None and t.best.wants_depth is not None]
    return 2 * wishes.count("deep") > len(wishes)
