"""Finds evidence for places that the caller ruled out.

They get no vote and no answer. A rejection is a constraint of the caller, like an area, and it is no evidence. If the
photo or the tools support such a place more than all others, the answer says this first. It still gives the best of the
other places, because a caller who rejects an answer asks for the next one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tts.clues.ruled_out_places import RuledOut
from tts.decision_weights import weights
from tts.domain.answer import Contradiction, Verdict
from tts.domain.claim import ClaimedPlace
from tts.verify.consensus.area_constraint import FIRM, HEAVIER
from tts.verify.consensus.votes import Vote, evidence_score
from tts.verify.evidence.ledger import RolloutLedger
from tts.verify.evidence.reading_belief import ReadBelief
from tts.verify.evidence.world import World

_MIN_READ_MASS = weights("checks")["read_there"]
_READ_RADIUS_KM = weights("checks")["read_there_km"]


@dataclass(frozen=True, slots=True)
class RejectedPlace:
    """A place that was ruled out and that something points to. `is_firm`: more than to any place that is left."""

    place: ClaimedPlace
    read: bool
    is_firm: bool


def rejected_of(
    ledgers: Sequence[RolloutLedger], votes: Sequence[Vote], read: ReadBelief | None, ruled_out: RuledOut, world: World
) -> RejectedPlace | None:
    """The place that was ruled out and has the most for it; `votes` are those for places that are left."""
    found = read.hypothesis.point if read is not None and read.hypothesis is not None else None
    ruled_out_place = None if found is None else ruled_out.place_at(found, world)
    if read is not None and found is not None and ruled_out_place is not None:
        is_firm = read.names(found) and read.belief.mass(found, _READ_RADIUS_KM) >= _MIN_READ_MASS
        return RejectedPlace(ruled_out_place, read.names(found), is_firm)
    pointed = [
        (ledger, held) for ledger in ledgers if (held := ruled_out_place_of(ledger, ruled_out, world)) is not None
    ]
    if not pointed:
        return None
    best, place = max(pointed, key=lambda pair: (evidence_score(pair[0]), pair[1].place))
    best_remaining = max((evidence_score(vote.ledger) for vote in votes), default=0.0)
    return RejectedPlace(place, False, best.grounding >= FIRM and evidence_score(best) - best_remaining > HEAVIER)


def ruled_out_place_of(ledger: RolloutLedger, ruled_out: RuledOut, world: World) -> ClaimedPlace | None:
    """The place that was ruled out and holds the point of a ledger."""
    point = ledger.hypothesis.point
    return None if point is None or not ruled_out else ruled_out.place_at(point, world)


def with_rejected(verdict: Verdict, rejected: RejectedPlace | None) -> Verdict:
    """The verdict, which says first what speaks for a place that was ruled out."""
    if rejected is None or not (rejected.is_firm or verdict.abstained):
        return verdict
    text = f"The photo {'says' if rejected.read else 'points to'} {rejected.place.place}, which you ruled out."
    added = (Contradiction(about="not_there", text=text),) if rejected.is_firm else ()
    update = {
        "explanation": f"{text} {verdict.explanation}".strip(),
        "contradictions": (*verdict.contradictions, *added),
    }
    return verdict.model_copy(update=update)
