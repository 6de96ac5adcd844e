"""Makes the result of a check from the weighed claim and its evidence.

`supported` needs a high probability that is above the prior probability of the place. `contradicted` needs a low
probability, and a photo that contradicts the place or clearly shows another one. Everything else is not decidable, and
the result gives the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tts.decision_weights import weights
from tts.domain.answer import Candidate, Evidence, Radius, Verdict
from tts.domain.claim import CheckedPlace, ClaimCheck, ClaimedPlace, ClaimVerdict, RolloutAgreement, Undecided
from tts.domain.geo import LatLon, distance_km
from tts.domain.hypothesis import Hypothesis, Level
from tts.domain.trajectory import Trajectory
from tts.verify.assembly.answer_names import names_at
from tts.verify.assembly.verdict import OTHER_CANDIDATE_90
from tts.verify.claims.check_summary import check_text
from tts.verify.claims.claim_calibration import ClaimCalibration
from tts.verify.claims.claim_weighing import Rival, WeighedPlace, Weighing
from tts.verify.claims.claimed_area import contains_point
from tts.verify.evidence.world import World

_W = weights("claims")
SUPPORTED_FROM = _W["supported_from"]
CONTRADICTED_TO = _W["contradicted_to"]
_MIN_SUPPORTED_BAYES_FACTOR = _W["gain_from"]
_MAX_CONTRADICTED_BAYES_FACTOR = _W["gain_to"]
_MIN_RIVAL_MASS = _W["rival_from"]
_SAME_PLACE_KM = _W["same_km"]


@dataclass(frozen=True, slots=True)
class ClaimFindings:
    """What a check rests on: the verdict of the blind rollouts, the weighed places and the evidence."""

    verdict: Verdict
    weighing: Weighing
    evidence_for: tuple[Evidence, ...]
    evidence_against: tuple[Evidence, ...]
    blind: Sequence[Trajectory]
    testing: Sequence[Trajectory]


def judge_claim(findings: ClaimFindings, calibration: ClaimCalibration | None, world: World) -> ClaimCheck:
    """The check. Without a calibration there are no odds and no verdict beyond what the evidence says."""
    places = tuple(_checked_place(one, findings.weighing, calibration) for one in findings.weighing.places)
    several = len(places) > 1
    if several and calibration is not None and findings.weighing.belief is not None:
        places = _with_shares(places, findings.weighing)
    likeliest = _likeliest_index(places) if several else None
    first = places[likeliest or 0]
    verdict = _joint_verdict(places) if several else first.verdict
    kind = _undecided_kind(verdict, findings)
    claimed = tuple(one.place for one in findings.weighing.places)
    alternative = _alternative_candidate(findings.weighing.rival, findings.verdict, claimed, world)
    check = ClaimCheck(
        verdict=verdict,
        kind=kind,
        text="-",
        odds=first.odds,
        mass=None if first.mass is None else round(_total_mass(places), 4),
        places=places,
        likeliest=likeliest if first.mass is not None else None,
        alternative=alternative,
        evidence_for=findings.evidence_for,
        evidence_against=findings.evidence_against,
        blind=_rollout_agreement(findings.blind, claimed, world),
        testing=_rollout_agreement(findings.testing, claimed, world),
        calibrated=calibration is not None,
    )
    return check.model_copy(update={"text": check_text(check)})


def _checked_place(one: WeighedPlace, weighing: Weighing, calibration: ClaimCalibration | None) -> CheckedPlace:
    fields = one.place.model_dump()
    if calibration is None or weighing.belief is None:
        return CheckedPlace(**fields, verdict="not_decidable")
    rival = weighing.rival.mass if weighing.rival is not None else 0.0
    p = calibration.probability(one.mass)
    return CheckedPlace(**fields, verdict=_place_verdict(p, one, rival), odds=round(p / (1.0 - p), 4), mass=round(p, 4))


def _place_verdict(p: float, one: WeighedPlace, rival_mass: float) -> ClaimVerdict:
    if p >= SUPPORTED_FROM and one.bayes_factor >= _MIN_SUPPORTED_BAYES_FACTOR:
        return "supported"
    if p <= CONTRADICTED_TO and (one.bayes_factor <= _MAX_CONTRADICTED_BAYES_FACTOR or rival_mass >= _MIN_RIVAL_MASS):
        return "contradicted"
    return "not_decidable"


def _with_shares(places: Sequence[CheckedPlace], weighing: Weighing) -> tuple[CheckedPlace, ...]:
    """With the share of each among those that are compared. What the photo says counts, not how many photos are taken
    there: places are compared by their Bayes factors."""
    factors = [max(1e-9, one.bayes_factor) for one in weighing.places]
    total = sum(factors)
    return tuple(
        place.model_copy(update={"share": round(factor / total, 4)})
        for place, factor in zip(places, factors, strict=True)
    )


def _likeliest_index(places: Sequence[CheckedPlace]) -> int:
    return max(range(len(places)), key=lambda i: (places[i].mass or 0.0, places[i].share or 0.0, -i))


def _total_mass(places: Sequence[CheckedPlace]) -> float:
    return min(1.0, sum(place.mass or 0.0 for place in places))


def _joint_verdict(places: Sequence[CheckedPlace]) -> ClaimVerdict:
    """Of several places: one is supported, or all are contradicted."""
    verdicts = {place.verdict for place in places}
    if "supported" in verdicts:
        return "supported"
    return "contradicted" if verdicts == {"contradicted"} else "not_decidable"


def _undecided_kind(verdict: ClaimVerdict, findings: ClaimFindings) -> Undecided | None:
    if verdict != "not_decidable":
        return None
    if findings.weighing.belief is None and not findings.evidence_for and not findings.evidence_against:
        return "not_feasible"
    return "indeterminate" if findings.evidence_for and findings.evidence_against else "inconclusive"


def _alternative_candidate(
    rival: Rival | None, verdict: Verdict, claimed: Sequence[ClaimedPlace], world: World
) -> Candidate | None:
    """The candidate of the verdict that the rival stands for, else the rival itself."""
    if rival is None:
        return None
    for candidate in verdict.candidates:
        at = LatLon(lat=candidate.lat, lon=candidate.lon)
        if distance_km(at, rival.point) <= _SAME_PLACE_KM and not any(
            contains_point(place, at, world) for place in claimed
        ):
            return candidate
    point = rival.point
    return Candidate(
        lat=round(point.lat, 6),
        lon=round(point.lon, 6),
        radius_km=Radius(p50=rival.km, p90=OTHER_CANDIDATE_90 * rival.km),
        **names_at(point, Level.CITY, Hypothesis(point=point), world),
        support=round(rival.mass, 4),
        rollouts=(),
    )


def _rollout_agreement(
    trajectories: Sequence[Trajectory], places: Sequence[ClaimedPlace], world: World
) -> RolloutAgreement:
    points = [t.best.point for t in trajectories if t.best is not None and t.best.point]
    return RolloutAgreement(
        rollouts=tuple(trajectory.rollout_id for trajectory in trajectories),
        answered=len(points),
        inside=sum(any(contains_point(place, point, world) for place in places) for point in points),
    )
