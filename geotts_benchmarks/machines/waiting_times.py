"""How long the requests of a run waited, and how many of each phase were not answered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from geotts_benchmarks.harness import median, percentile
from geotts_benchmarks.machines.clients import ClientRequest


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of a run, in moments of `time.monotonic()`."""

    name: str
    started_at: float
    ended: float

    def overlaps(self, one: ClientRequest) -> bool:
        """Whether the request was under way at any moment of it."""
        return one.started_at <= self.ended and one.ended >= self.started_at


def undisturbed_s(seen: Sequence[ClientRequest], calm: Phase) -> float:
    """Median seconds to an answer of the requests that began and ended in a phase without a fault."""
    return median(
        [one.ended - one.started_at for one in seen if calm.started_at <= one.started_at and one.ended <= calm.ended]
    )


def extra_waits_s(seen: Iterable[ClientRequest], phases: Sequence[Phase], usual_s: float) -> list[float]:
    """For each answered request that was under way in one of the phases: how much longer than usual it took."""
    concerned = [one for one in seen if one.outcome == "answered" and any(phase.overlaps(one) for phase in phases)]
    return [max(0.0, one.ended - one.started_at - usual_s) for one in concerned]


def phase_row(seen: Sequence[ClientRequest], phase: Phase, usual_s: float) -> dict[str, float | int]:
    """Figures of one phase: requests under way in it, those not answered, and extra waits in seconds."""
    waits = extra_waits_s(seen, [phase], usual_s)
    concerned = [one for one in seen if phase.overlaps(one)]
    return {
        "requests": len(concerned),
        "not_answered": sum(one.outcome != "answered" for one in concerned),
        "extra_wait_p50_s": round(percentile(waits, 0.5), 2),
        "extra_wait_p95_s": round(percentile(waits, 0.95), 2),
        "extra_wait_worst_s": round(max(waits, default=0.0), 2),
        "seconds": round(phase.ended - phase.started_at, 1),
    }
