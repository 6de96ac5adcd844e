"""Compares the caller's area with the photo: votes inside it, and the result if the photo contradicts the area.

A constraint is never evidence for itself. If the text of the photo contradicts the area, or if a vote with firm
evidence outside outweighs all votes inside, the verdict gives no point inside; it names the best place outside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tts.clues.ruled_out_places import RuledOut
from tts.clues.scope import scope_of
from tts.decision_weights import weights
from tts.domain.answer import Contradiction, Verdict
from tts.domain.geo import Area, Countries, LatLon, lies_in
from tts.domain.hypothesis import Level
from tts.domain.request import LocateOptions
from tts.geodata import countries
from tts.verify.consensus.clusters import Cluster
from tts.verify.consensus.spread_features import Spread
from tts.verify.consensus.votes import Vote, evidence_score
from tts.verify.evidence.contradiction_texts import area_words, what_the_photo_says
from tts.verify.evidence.ledger import RolloutLedger
from tts.verify.evidence.reading_belief import ReadBelief
from tts.verify.evidence.world import World, is_near_country

FIRM = weights("verdict")["tied"]  # grounding from which a vote rests on something outside itself
_BORDER_TOLERANCE_KM = weights("checks")["area_border_km"]
HEAVIER = weights("verdict")["heavier"]  # log-odds by which a firm vote outside outweighs every vote inside
BLANK_PLACE: Mapping[str, object] = {  # the fields of an answer without a place
    **dict.fromkeys(("lat", "lon", "radius_km")),
    **dict.fromkeys(("country", "country_code", "region", "city", "place"), ""),
    "level": Level.NONE,
    "abstained": True,
    "confidence": 0.0,
}


@dataclass(frozen=True, slots=True)
class ResultsOutsideArea:
    """What is found outside the caller's area where nothing inside is answered: if anything, clusters and a spread.
    `contradicted`: the photo speaks against the area; else it says too little to tell."""

    contradicted: bool
    clusters: tuple[Cluster, ...] = ()
    spread: Spread | None = None


def lies_inside(ledger: RolloutLedger, within: Area | None, world: World) -> bool:
    """Whether a ledger has a point, and that lies in the area; borders are tolerated by two kilometres."""
    hypothesis = ledger.hypothesis
    return hypothesis.point is not None and (
        within is None or in_caller_area(hypothesis.point, within, world.countries)
    )


def contradicts_area(
    within: Area, inside: Sequence[Vote], outside: Sequence[Vote], read: ReadBelief | None, world: World
) -> bool:
    """Whether the photo contradicts the area."""
    if read is not None and world.clues is not None:
        fit = scope_of(within).fit(read.belief, world.clues.weigher.priors)
        if fit.contradicts:
            return True
        if fit.agrees:
            return False
    firm = [evidence_score(vote.ledger) for vote in outside if vote.ledger.grounding >= FIRM]
    best_inside = max((evidence_score(vote.ledger) for vote in inside), default=0.0)
    return bool(firm) and max(firm) - best_inside > HEAVIER


def may_answer(point: LatLon, options: LocateOptions, world: World) -> bool:
    """Whether the caller's area holds a point, and none of the places that the caller ruled out does."""
    inside = options.within is None or in_caller_area(point, options.within, world.countries)
    return inside and RuledOut.from_options(options).place_at(point, world) is None


def outside_verdict(
    found: Verdict | None, within: Area, read: ReadBelief | None, blank: Verdict, world: World, *, contradicted: bool
) -> Verdict:
    """The abstention that says so first. `found` is the verdict without the area; None when there is no point."""
    area = area_words(within, world)
    if found is None or found.point is None:
        if not contradicted:
            return blank
        text = f"The text in the photo contradicts {area}."
        explanation = f"{text} Nothing that was found supports another place."
        contradiction = Contradiction(about="within", text=text)
        return blank.model_copy(update={"explanation": explanation, "contradictions": (contradiction,)})
    says = what_the_photo_says(found, read=read is not None and read.names(found.point))
    text = f"The photo {says}, outside {area}."
    contradictions = (Contradiction(about="within", text=text),)
    if not contradicted:
        text = f"The photo {says}, outside {area}, but this is too weak to rule that area out."
    candidates = tuple(candidate.model_copy(update={"outside": True}) for candidate in found.candidates)
    return found.model_copy(
        update={
            **BLANK_PLACE,
            **dict.fromkeys(("region_50", "region_90")),
            "town_centre": False,
            "explanation": f"{text} Nothing that was found supports a place inside that area. {found.explanation}",
            "candidates": candidates,
            "contradictions": contradictions if contradicted else (),
        }
    )


def in_caller_area(point: LatLon, within: Area, outlines: countries.Countries) -> bool:
    """Whether a point lies in the area, or within two kilometres of one that consists of countries."""
    if isinstance(within, Countries):
        return any(is_near_country(point, code, outlines, tolerance_km=_BORDER_TOLERANCE_KM) for code in within.codes)
    return lies_in(point, within)
