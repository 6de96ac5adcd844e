"""The check of a claim as far as it follows from the coarse answer.

Odds, masses and shares change with the finer point, so a caller who tries many claims could find it from them. Only the
verdict is kept, and only about a place that is the unit of the answer, or that does not touch it.
"""

from __future__ import annotations

from tts.domain.answer import Answer
from tts.domain.claim import CheckedPlace, ClaimCheck, ClaimedPlace, ClaimVerdict
from tts.domain.geo import Circle, Countries, distance_km

_SAME_POINT_KM = 0.1


def coarse_check(check: ClaimCheck, answer: Answer, note: str) -> ClaimCheck:
    """The `check` beside a coarse `answer`, with a `note` in place of the reasons."""
    places = tuple(_coarse_place(place, answer) for place in check.places)
    verdicts = {place.verdict for place in places}
    verdict: ClaimVerdict = "not_decidable"
    if "supported" in verdicts:
        verdict = "supported"
    elif verdicts == {"contradicted"}:
        verdict = "contradicted"
    undecided = (check.kind or "inconclusive") if verdict == "not_decidable" else None
    return ClaimCheck(verdict=verdict, kind=undecided, text=f"{verdict.replace('_', ' ')}. {note}", places=places)


def _coarse_place(place: CheckedPlace, answer: Answer) -> CheckedPlace:
    is_unit = _is_unit(place, answer)
    kept = (place.verdict == "supported" and is_unit is True) or (place.verdict == "contradicted" and is_unit is False)
    verdict: ClaimVerdict = place.verdict if kept else "not_decidable"
    return CheckedPlace(**place.model_dump(include=set(ClaimedPlace.model_fields)), verdict=verdict)


def _is_unit(place: ClaimedPlace, answer: Answer) -> bool | None:
    """Whether the place is, or holds, the unit of the answer; False if it lies apart from it. None if that is not
    known, or if the place touches the unit: what is decided about its edge would tell where the finer point is."""
    codes = {code for area in place.areas if isinstance(area, Countries) for code in area.codes}
    if codes:
        if not answer.country_code or (place.region and not answer.region):
            return None
        return answer.country_code in codes and place.region in ("", answer.region)
    circles = [area for area in place.areas if isinstance(area, Circle)]
    if answer.point is None or answer.radius_km is None or len(circles) < len(place.areas):
        return None
    away = [(distance_km(circle.centre, answer.point), circle.radius_km) for circle in circles]
    if any(km <= _SAME_POINT_KM for km, _ in away):
        return True
    return False if all(km > reach + answer.radius_km.p90 for km, reach in away) else None
