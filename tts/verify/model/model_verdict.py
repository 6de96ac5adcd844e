"""The verdict after the choice of a verifier model: its branch and reasons, with calibrated radii, names and
evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tts.clues.belief import Belief
from tts.domain.answer import Evidence, Verdict
from tts.domain.geo import Area
from tts.verify.assembly.verdict import verdict_for
from tts.verify.consensus.calibration import Calibration
from tts.verify.consensus.clusters import Cluster
from tts.verify.consensus.spread_features import spread_of
from tts.verify.consensus.votes import Vote
from tts.verify.evidence.ledger import RolloutLedger
from tts.verify.evidence.shown_evidence import numbered_evidence
from tts.verify.evidence.world import World
from tts.verify.model.adjudication import Adjudication
from tts.verify.model.dossier import Exhibit


def verdict_of_model(
    adjudication: Adjudication,
    winner: Cluster,
    *,
    clusters: Sequence[Cluster],
    votes: Sequence[Vote],
    ledgers: Sequence[RolloutLedger],
    rollouts: int,
    calibration: Calibration,
    target_radius_km: float,
    world: World,
    within: Area | None = None,
    moved: Mapping[int, RolloutLedger] | None = None,
    lines: Belief | None = None,
) -> Verdict:
    """The chosen cluster (`winner_of`) first. Radius and confidence stay calibrated. `moved` has the ledgers of the
    rollouts at a point of the model's own (`tts.verify.model.own_point`)."""
    moved = moved or {}
    ledgers = [moved.get(ledger.rollout_id, ledger) if _is_in_cluster(winner, ledger) else ledger for ledger in ledgers]
    winner_ids = {vote.ledger.rollout_id for vote in winner.members}
    others = [c for c in clusters if not winner_ids & {vote.ledger.rollout_id for vote in c.members}]
    spread = spread_of(winner, votes, rollouts, world)
    verdict = verdict_for(
        [winner, *others],
        ledgers,
        spread,
        calibration,
        target_radius_km=target_radius_km,
        world=world,
        within=within,
        lines=lines,
    )
    evidence = list(verdict.evidence)
    explanation = "\n".join(_cite_evidence(text, exhibits, evidence) for text, exhibits in adjudication.reasons)
    return verdict.model_copy(
        update={
            "explanation": explanation or verdict.explanation,
            "evidence": tuple(evidence),
            "warnings": (*verdict.warnings, *adjudication.warnings),
        }
    )


def _is_in_cluster(cluster: Cluster, ledger: RolloutLedger) -> bool:
    return any(vote.ledger.rollout_id == ledger.rollout_id for vote in cluster.members)


def winner_of(
    adjudication: Adjudication,
    clusters: Sequence[Cluster],
    votes: Sequence[Vote],
    moved: Mapping[int, RolloutLedger],
) -> Cluster:
    """The cluster of the branch that the model chose: its centre where the model said, its ledgers those of `moved`."""
    chosen = next(vote for vote in votes if adjudication.chosen is vote.ledger)
    centre = adjudication.point or chosen.point
    for cluster in clusters:
        if any(vote is chosen for vote in cluster.members):
            return Cluster(centre, _members_at_answer(cluster.members, moved), cluster.support, cluster.utility)
    total = sum(vote.weight for vote in votes)
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
