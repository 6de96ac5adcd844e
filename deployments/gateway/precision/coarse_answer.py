"""Makes an answer that contains nothing finer than a unit. It is made field by field, so a new field is left out.

The point is the centre of its unit. Radii are at least those of the unit, and rounded up, so that they do not reveal
how far from the centre the finer point was. Texts and evidence may name a street, so they are left out.
"""

from __future__ import annotations

import math
from typing import Any

from deployments.gateway.precision.coarse_check import coarse_check
from deployments.gateway.precision.units import FINEST_KM, Precision, Unit, Units
from tts.domain.answer import Answer, Candidate, Contradiction, PhotoAnswer, Radius, Verdict
from tts.domain.earlier_request import Change, EarlierRequest, change_of
from tts.domain.geo import CITY_KM, LatLon
from tts.domain.hypothesis import Level
from tts.verify.assembly.radius_consistency import rough_exactness

_ALLOWED_NAMES = {
    "city": ("country", "country_code", "region", "city"),
    "region": ("country", "country_code", "region"),
}
_RADIUS_STEP_RATIO = 1.5  # radii are rounded up to the next power of this


def coarse_answer(answer: Answer, precision: Precision, units: Units) -> Answer:
    """The same answer, as exact as the operator allows."""
    place = _unit_fields(answer.point, answer.radius_km, answer.target_radius_km, precision, units)
    route = answer.route
    if route is not None:
        locatability = route.locatability.model_copy(update={"why": ""})
        route = route.model_copy(update={"locatability": locatability})
    coarse = Answer(
        **(place or _coarse_abstention(answer, precision)),
        target_radius_km=answer.target_radius_km,
        town_centre=precision == "city" and place is not None,
        explanation=note_of(precision),
        candidates=_merge_by_unit([_coarse_candidate(one, precision, units) for one in answer.candidates]),
        contradictions=tuple(_coarse_contradiction(one) for one in answer.contradictions if one.about != "hint"),
        per_photo=tuple(
            _coarse_photo_answer(one, answer.target_radius_km, precision, units) for one in answer.per_photo
        ),
        calibration=answer.calibration,
        n=answer.n,
        route=route,
        stop_reason=answer.stop_reason,
        rollouts=tuple(status.model_copy(update={"error": ""}) for status in answer.rollouts),
        undone=answer.undone,
        usage=answer.usage,
        usage_by_model=answer.usage_by_model,
        timing=answer.timing,
        provenance=answer.provenance,
    )
    check = None if answer.check is None else coarse_check(answer.check, coarse, note_of(precision))
    return coarse.model_copy(update={"changed": _coarse_change(answer.changed, coarse), "check": check})


def _coarse_change(change: Change | None, coarse: Answer) -> Change | None:
    """Against the earlier answer, which left as coarse as this one does. What the caller said may be finer: it is left
    out."""
    if change is None:
        return None
    return change_of(EarlierRequest(request_id=change.continues, before=change.before, why=("what you added",)), coarse)


def note_of(precision: Precision) -> str:
    """What is said instead of the reasons."""
    return f"This service answers no finer than the {precision} (gateway.max_precision), without reasons and evidence."


def _unit_fields(
    point: LatLon | None, radius: Radius | None, target_km: float, precision: Precision, units: Units
) -> dict[str, Any] | None:
    """Point, radii, level, names and confidence of a unit; None where there is no point or no unit."""
    unit = None if point is None else units.unit_at(point, precision)
    if unit is None or radius is None:
        return None
    found = _coarse_radius(radius, unit, precision)
    exact = rough_exactness(found.p50, found.p90, target_km=target_km)
    return {
        "lat": round(unit.centre.lat, 6),
        "lon": round(unit.centre.lon, 6),
        "radius_km": exact.radius,
        "level": exact.level,
        "abstained": False,
        **_unit_names(unit, exact.level),
        "confidence": exact.confidence,
    }


def _coarse_radius(radius: Radius, unit: Unit, precision: Precision) -> Radius:
    """At least half of the unit and all of it: the true place may be anywhere in it."""
    p50 = max(FINEST_KM[precision], unit.reach_km / 2, _round_up(radius.p50))
    return Radius(p50=p50, p90=max(p50 * _RADIUS_STEP_RATIO, unit.reach_km, _round_up(radius.p90)))


def _round_up(km: float) -> float:
    return round(_RADIUS_STEP_RATIO ** math.ceil(math.log(max(1.0, km), _RADIUS_STEP_RATIO)), 2)


def _unit_names(unit: Unit, level: Level) -> dict[str, str]:
    names = {"country": unit.country, "country_code": unit.country_code}
    if level.rank >= Level.REGION.rank:
        names["region"] = unit.region
    if level.rank >= Level.CITY.rank:
        names["city"] = unit.city
    return names if level is not Level.NONE else {}


def _coarse_abstention(verdict: Verdict | PhotoAnswer, precision: Precision) -> dict[str, Any]:
    """An abstention with what is known of country, region and city, as far as a caller may see it."""
    kept = {name: getattr(verdict, name) for name in _ALLOWED_NAMES.get(precision, ("country", "country_code"))}
    known = [level for level in (Level.CITY, Level.REGION, Level.COUNTRY) if kept.get(level.value)]
    level = min((verdict.level, known[0] if known else Level.NONE), key=lambda one: one.rank)
    return {"lat": None, "lon": None, "radius_km": None, "level": level, "abstained": True, **kept, "confidence": 0.0}


def _coarse_candidate(candidate: Candidate, precision: Precision, units: Units) -> Candidate | None:
    place = _unit_fields(LatLon(lat=candidate.lat, lon=candidate.lon), candidate.radius_km, CITY_KM, precision, units)
    if place is None:
        return None
    kept = {name: value for name, value in place.items() if name in Candidate.model_fields}
    return Candidate(**kept, support=round(candidate.support, 1), rollouts=(), outside=candidate.outside)


def _merge_by_unit(candidates: list[Candidate | None]) -> tuple[Candidate, ...]:
    """One for each unit, with the support of all that lie in it."""
    by_centre: dict[tuple[float, float], Candidate] = {}
    for one in candidates:
        if one is None:
            continue
        key = (one.lat, one.lon)
        if (before := by_centre.get(key)) is None:
            by_centre[key] = one
        else:
            by_centre[key] = before.model_copy(update={"support": min(1.0, round(before.support + one.support, 1))})
    return tuple(by_centre.values())


def _coarse_photo_answer(photo: PhotoAnswer, target_km: float, precision: Precision, units: Units) -> PhotoAnswer:
    point = None if photo.lat is None or photo.lon is None else LatLon(lat=photo.lat, lon=photo.lon)
    place = _unit_fields(point, photo.radius_km, target_km, precision, units) or _coarse_abstention(photo, precision)
    return PhotoAnswer(photo=photo.photo, **place)


def _coarse_contradiction(contradiction: Contradiction) -> Contradiction:
    named = {"within": "the area that you gave", "photos": "that the photos show one place"}
    if contradiction.about == "not_there":
        return Contradiction(about="not_there", text="What was found points to a place that you ruled out.")
    return Contradiction(about=contradiction.about, text=f"What was found contradicts {named[contradiction.about]}.")
