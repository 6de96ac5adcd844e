"""The verdict after the choice of a verifier model: its branch and reasons, with calibrated radii, names and
evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tts.domain.answer import Evidence, Verdict
from tts.ports.verification import VerifyRequest
from tts.verify.assembly.verdict import verdict_for
from tts.verify.consensus.clusters import Cluster
from tts.verify.consensus.spread_features import spread_of
from tts.verify.consensus.votes import Vote
from tts.verify.evidence.ledger import RolloutLedger
from tts.verify.evidence.shown_evidence import numbered_evidence
from tts.verify.model.adjudication import Adjudication
from tts.verify.model.dossier import Exhibit
from tts.verify.model.own_point import ledgers_at, own_point
from tts.verify.verifiers.consensus import ConsensusVerifier, Judgement


def verdict_for_branch(
    consensus: ConsensusVerifier, request: VerifyRequest, judgement: Judgement, adjudication: Adjudication
) -> Verdict:
    """The verdict for the branch that a verifier model chose. `judgement` is what `consensus` made of the request.
    Radius and confidence stay calibrated."""
    point, options, world = own_point(adjudication), request.options, consensus.world
    moved = (
        ledgers_at(point, adjudication, request.trajectories, request.readings, world, options.hint)
        if point is not None
        else {}
    )
    winner = _winner_of(adjudication, judgement, moved)
    winner_ids = {vote.ledger.rollout_id for vote in winner.members}
    others = [c for c in judgement.clusters if not winner_ids & {vote.ledger.rollout_id for vote in c.members}]
    verdict = verdict_for(
        [winner, *others],
        [moved.get(one.rollout_id, one) if one.rollout_id in winner_ids else one for one in judgement.ledgers],
        spread_of(winner, judgement.votes, len(request.trajectories), world),
        consensus.calibration,
        target_radius_km=options.target_radius_km,
        world=world,
        within=options.within,
        lines=judgement.lines,
    )
    evidence = list(verdict.evidence)
    explanation = "\n".join(_cite_evidence(text, exhibits, evidence) for text, exhibits in adjudication.reasons)
    verdict = verdict.model_copy(
        update={
            "explanation": explanation or verdict.explanation,
            "evidence": tuple(evidence),
            "warnings": (*verdict.warnings, *adjudication.warnings),
        }
    )
    return consensus.answering_the_caller(request, judgement, verdict, winner)


def _winner_of(adjudication: Adjudication, judgement: Judgement, moved: Mapping[int, RolloutLedger]) -> Cluster:
    """The cluster of the branch that the model chose: its centre where the model said. `moved` has the ledgers of the
    rollouts at a point of the model's own (`tts.verify.model.own_point`)."""
    chosen = next(vote for vote in judgement.votes if adjudication.chosen is vote.ledger)
    centre = adjudication.point or chosen.point
    for cluster in judgement.clusters:
        if any(vote is chosen for vote in cluster.members):
            return Cluster(centre, _members_at_answer(cluster.members, moved), cluster.support, cluster.utility)
    total = sum(vote.weight for vote in judgement.votes)
    return Cluster(centre, _members_at_answer((chosen,), moved), chosen.weight / total, 0.0)


def _members_at_answer(members: Sequence[Vote], moved: Mapping[int, RolloutLedger]) -> tuple[Vote, ...]:
    """The members with what their ledgers say of the answer; what was read together speaks of its own point only."""
    if not moved:
        return tuple(members)
    rollouts = [replace(v, ledger=moved[v.ledger.rollout_id]) for v in members if v.ledger.rollout_id in moved]
    return tuple(rollouts) or tuple(members)


def _cite_evidence(text: str, exhibits: Sequence[Exhibit], evidence: list[Evidence]) -> str:
    """The reason with the ids that its evidence has in the answer; what the answer lacks is added to it."""
    ids = []
    for exhibit in exhibits:
        entry = exhibit.entry
        known = next((e for e in evidence if (e.claim, e.quote) == (entry.claim, entry.quote)), None)
        if known is None:
            known = numbered_evidence(entry, exhibit.ledger, len(evidence) + 1)
            evidence.append(known)
        ids.append(known.id)
    return f"{text} [{', '.join(dict.fromkeys(ids))}]" if ids else text
