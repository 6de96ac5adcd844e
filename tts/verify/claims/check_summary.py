"""The result of a check in a few sentences for a person."""

from __future__ import annotations

from tts.domain.answer import Candidate
from tts.domain.claim import ClaimCheck, RolloutAgreement

WHY = {
    "indeterminate": "The evidence points both ways: some of it speaks for the claim, and some against it.",
    "inconclusive": "There is too little evidence to decide it.",
    "not_feasible": "Nothing in the photo says where it was taken.",
}
NO_ODDS = (
    "No odds are given: nothing was calibrated for this engine and its tools (`geotts accept` does it). "
    "Only the evidence is shown."
)


def check_text(check: ClaimCheck) -> str:
    """Verdict, odds, alternative and agreement, as far as there are any."""
    parts = [_verdict_text(check)]
    if check.odds is not None and check.mass is not None:
        parts.append(f"The probability that it was taken there is {_format_percent(check.mass)}.")
    if not check.calibrated:
        parts.append(NO_ODDS)
    if check.verdict != "supported" and check.alternative is not None:
        parts.append(f"The best place elsewhere is {_candidate_name(check.alternative)}.")
    parts += [text for text in (_agreement_text(check.blind, "that did not get the claim"),) if text]
    parts += [text for text in (_agreement_text(check.testing, "asked to test it"),) if text]
    return " ".join(parts)


def _verdict_text(check: ClaimCheck) -> str:
    if len(check.places) > 1 and check.likeliest is not None and check.verdict == "supported":
        return f"Of the {len(check.places)} places, the photo supports {check.places[check.likeliest].place}."
    where = check.places[0].place if len(check.places) == 1 else f"any of the {len(check.places)} places"
    if check.verdict == "supported":
        return f"The photo supports the claim: {where}."
    if check.verdict == "contradicted":
        return f"The photo contradicts the claim: {where}."
    which = f"whether it is {where}" if len(check.places) == 1 else f"which of the {len(check.places)} places it is"
    return f"It cannot be decided {which}. {WHY[check.kind or 'inconclusive']}"


def _agreement_text(rollouts: RolloutAgreement, which: str) -> str:
    if not rollouts.answered:
        return ""
    noun = "rollout" if rollouts.answered == 1 else "rollouts"
    return f"{rollouts.inside} of {rollouts.answered} {noun} {which} answered with a claimed place."


def _candidate_name(candidate: Candidate) -> str:
    names = [name for name in (candidate.place, candidate.city, candidate.region, candidate.country) if name]
    return ", ".join(list(dict.fromkeys(names))[:2]) or "without a name"


def _format_percent(share: float) -> str:
    return "below 1 %" if share < 0.01 else "above 99 %" if share > 0.99 else f"{share:.0%}".replace("%", " %")
