"""Builds the evidence ledger: every claim of a rollout tied to the event that supports it, or marked as unsupported.

What counts: a tool's own statements (places, web hits, text read off the photo). What does not: anything derived from
the rollout's own guess (a reverse geocode or a map of the point it already believed in), results that failed, and text
that gives orders to its reader. The ledger knows nothing of other rollouts except through `witnesses`, the names of the
tool statements it rests on: two rollouts that rest on the same one are one witness (`tts.verify.consensus.votes`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tts.domain.reading import Reading
from tts.domain.trajectory import Trajectory
from tts.verify.evidence.evidence_sources import read_lines, sources_of
from tts.verify.evidence.geographic_checks import check_citation, name_checks, place_checks, signal_checks
from tts.verify.evidence.grounding import ground_hypothesis
from tts.verify.evidence.ledger import Finding, LedgerEntry, RolloutLedger
from tts.verify.evidence.line_support import with_direction
from tts.verify.evidence.phantom_tool_use import phantom_tool_use
from tts.verify.evidence.prompt_injection import orders_in, speaks_to_the_model
from tts.verify.evidence.small_print import detail_checks
from tts.verify.evidence.world import World


def build_ledger(
    trajectory: Trajectory, readings: Sequence[Reading], world: World, hint: str | None = None
) -> RolloutLedger | None:
    """The ledger of one rollout; None when it never believed anything. A lookup of words that stand in the caller's
    hint and not in the photo repeats the hint and supports nothing."""
    best = trajectory.best
    if best is None:
        return None
    sources = list(sources_of(trajectory))
    lines = read_lines(sources, readings)
    sources = [source for source in sources if not source.repeats(hint, lines)] if hint else sources
    entries: list[LedgerEntry] = []
    grounding, witnesses = 0.0, frozenset[str]()
    if best.point is not None:
        point = best.point
        grounding, witnesses, found = ground_hypothesis(best, point, sources, lines, world)
        entries += found
        entries += detail_checks(best, point, sources, lines)
        entries += place_checks(best, point, world)
        entries += signal_checks(best, point, lines, world)
    entries += name_checks(best, sources, lines)
    cited = [check_citation(claim, trajectory, sources, lines) for claim in best.claims]
    entries += [with_direction(entry, best, world) for entry in cited]
    entries += [
        LedgerEntry(about="looked", claim=claim, finding=Finding.NOT_DONE) for claim in phantom_tool_use(trajectory)
    ]
    entries += _order_entries(trajectory, readings)
    return RolloutLedger(
        rollout_id=trajectory.rollout_id,
        hypothesis=best,
        entries=tuple(entries),
        grounding=round(grounding, 4),
        witnesses=witnesses,
        draws=trajectory.answer_draws,
    )


def _order_entries(trajectory: Trajectory, readings: Sequence[Reading]) -> Iterator[LedgerEntry]:
    """Text that gives orders to its reader, and was ignored: in the photo, or in what a tool returned."""
    if any(speaks_to_the_model(line.text) for reading in readings for line in reading.lines):
        claim = "text in the photo tries to give instructions to the model; it was ignored"
        yield LedgerEntry(about="order", claim=claim, finding=Finding.UNSUPPORTED)
    for result in trajectory.results:
        if (quote := orders_in(result)) is not None:
            yield LedgerEntry(
                about="order",
                claim=f"a result of {result.name} tries to give instructions to the model; it was ignored",
                finding=Finding.UNSUPPORTED,
                call_id=result.call_id,
                tool=result.name,
                quote=quote[:300],
                retrieved_at=result.retrieved_at,
            )
