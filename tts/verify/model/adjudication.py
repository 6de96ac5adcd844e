"""Adjudication: applies a model's opinion as far as the ledgers allow it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tts.decision_weights import weights
from tts.domain.geo import LatLon, distance_km
from tts.verify.consensus.votes import Vote, evidence_score
from tts.verify.evidence.grounding import NEAR_KM
from tts.verify.evidence.ledger import Finding, RolloutLedger
from tts.verify.model.dossier import Dossier, Exhibit
from tts.verify.model.opinion import NOBODY, Opinion

_W = weights("verdict")
_MIN_CONFIRMED_GROUNDING = _W["tied"]
_MAX_UNCONFIRMED_GROUNDING = _W["loose"]
_MAX_SCORE_GAP = _W["heavier"]


_POINT_NOT_USED = "the verifier model's own point was not used: it is near no candidate and near no evidence it cites"


@dataclass(frozen=True, slots=True)
class Adjudication:
    """What the verifier model's opinion comes to: a branch, perhaps a point of its own, reasons; or a problem. `city`
    and `country` are what it calls its own point, empty where it does not say."""

    chosen: RolloutLedger | None = None
    point: LatLon | None = None
    city: str = ""
    country: str = ""
    reasons: tuple[tuple[str, tuple[Exhibit, ...]], ...] = ()
    problem: str = ""
    warnings: tuple[str, ...] = ()


def adjudicate(dossier: Dossier, opinion: Opinion, votes: Sequence[Vote]) -> Adjudication:
    """Hold an opinion against the ledgers."""
    if opinion.choice == NOBODY:
        return Adjudication(problem="the verifier model found no candidate with enough evidence")
    branch = dossier.branch(opinion.choice)
    assert branch is not None
    if objection := _objection(branch.ledger, votes):
        return Adjudication(problem=f"the verifier model's choice was not used: {objection}")
    reasons = tuple(
        (reason.text, tuple(dossier.exhibits[name] for name in reason.evidence)) for reason in opinion.reasons
    )
    cited = [exhibit for _, exhibits in reasons for exhibit in exhibits]
    point = opinion.point
    warnings: tuple[str, ...] = ()
    if point is not None and not _is_near_evidence(point, branch.point, cited):
        point, warnings = None, (_POINT_NOT_USED,)
    return Adjudication(chosen=branch.ledger, point=point, reasons=reasons, warnings=warnings)


def _objection(chosen: RolloutLedger, votes: Sequence[Vote]) -> str:
    """Why the ledger does not allow this branch; empty when it does."""
    if chosen.count(Finding.CONTRADICTED, "country", "sea", "phone"):
        clean = [v for v in votes if not v.ledger.count(Finding.CONTRADICTED, "country", "sea", "phone")]
        if clean:
            return "its own evidence contradicts it"
    firmest = max((vote.ledger.grounding for vote in votes), default=0.0)
    if chosen.grounding <= _MAX_UNCONFIRMED_GROUNDING and firmest >= _MIN_CONFIRMED_GROUNDING:
        return "nothing confirms it, while a tool's result confirms another candidate"
    heaviest = max((evidence_score(vote.ledger) for vote in votes), default=0.0)
    if heaviest - evidence_score(chosen) > _MAX_SCORE_GAP:
        return "the evidence for another candidate is much stronger"
    return ""


def _is_near_evidence(point: LatLon, branch: LatLon, cited: Sequence[Exhibit]) -> bool:
    """A point of the model's own must lie at its branch, or at a branch whose supporting evidence it cites."""
    anchors = [branch]
    for exhibit in cited:
        other = exhibit.ledger.hypothesis.point
        if other is not None and exhibit.entry.finding is Finding.SUPPORTED:
            anchors.append(other)
    return any(distance_km(point, anchor) <= NEAR_KM for anchor in anchors)
