"""Builds the evidence ledger: every claim of a rollout tied to the event that supports it, or marked as unsupported.

What counts: a tool's own statements (places, web hits, text read off the photo). What does not: anything derived from
the rollout's own guess (a reverse geocode or a map of the point it already believed in), results that failed, and text
that gives orders to its reader. The ledger knows nothing of other rollouts except through `witnesses`, the names of the
tool statements it rests on: two rollouts that rest on the same one are one witness (`tts.verify.weights`).
"""

from __future__ import annotations

from collections.abc import Iterable

from tts.domain.reading import Reading
from tts.domain.trajectory import Trajectory
from tts.verify.checks import check_citation, name_checks, place_checks, signal_checks
from tts.verify.grounding import ground
from tts.verify.ledger import Finding, LedgerEntry, RolloutLedger
from tts.verify.looks import phantom_looks
from tts.verify.sources import read_lines, sources_of
from tts.verify.world import World


def build_ledger(trajectory: Trajectory, readings: Iterable[Reading], world: World) -> RolloutLedger | None:
    """The ledger of one rollout; None when it never believed anything."""
    best = trajectory.best
    if best is None:
        return None
    sources = list(sources_of(trajectory))
    read = read_lines(sources, readings)
    entries: list[LedgerEntry] = []
    grounding, witnesses = 0.0, frozenset[str]()
    if best.point is not None:
        grounding, witnesses, found = ground(best, best.point, sources, read, world)
        entries += found
        entries += place_checks(best, best.point, world)
        entries += signal_checks(best, best.point, read, world)
    entries += name_checks(best, sources, read)
    entries += [check_citation(claim, trajectory, sources, read) for claim in best.claims]
    entries += [
        LedgerEntry(about="looked", claim=claim, finding=Finding.NOT_DONE) for claim in phantom_looks(trajectory)
    ]
    return RolloutLedger(
        rollout_id=trajectory.rollout_id,
        hypothesis=best,
        entries=tuple(entries),
        grounding=round(grounding, 4),
        witnesses=witnesses,
    )
