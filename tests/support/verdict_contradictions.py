"""Checks the invariants of `tts/verify/assembly/radius_consistency.py` on a finished verdict."""

from collections.abc import Iterator

from tts.domain.answer import PhotoAnswer, Radius, Verdict
from tts.domain.geo import HALF_CIRCUMFERENCE_KM
from tts.domain.hypothesis import Level
from tts.verify.assembly.radius_consistency import level_of

_FINEST = {"region": Level.REGION, "city": Level.CITY, "place": Level.POINT, "country": Level.COUNTRY}


def contradictions_of(verdict: Verdict) -> list[str]:
    """What in a verdict contradicts something else in it, in words."""
    found = list(_of_answer(verdict, verdict.target_radius_km))
    for number, candidate in enumerate(verdict.candidates):
        found += [f"candidate {number}: {problem}" for problem in _of_radii(candidate.radius_km)]
    for photo in verdict.per_photo:
        found += [f"photo {photo.photo}: {problem}" for problem in _of_answer(photo, verdict.target_radius_km)]
    return found


def _of_answer(answer: Verdict | PhotoAnswer, target_km: float) -> Iterator[str]:
    if answer.abstained or answer.radius_km is None or answer.lat is None:
        if answer.radius_km is not None or answer.lat is not None or answer.lon is not None or answer.confidence > 0:
            yield "an abstention with a point, a radius or a confidence"
        if not answer.abstained:
            yield "no abstention, and no point or radius"
        return
    yield from _of_radii(answer.radius_km)
    if answer.level is not level_of(answer.radius_km.p50):
        yield f"level {answer.level} with a 50 % radius of {answer.radius_km.p50} km"
    if any(getattr(answer, name) for name, finest in _FINEST.items() if finest.rank > answer.level.rank):
        yield f"a name finer than level {answer.level}"
    yield from _of_confidence(answer.confidence, target_km, answer.radius_km)


def _of_radii(radius: Radius) -> Iterator[str]:
    if not 0 < radius.p50 < radius.p90 <= HALF_CIRCUMFERENCE_KM:
        yield f"radii of {radius.p50} and {radius.p90} km"


def _of_confidence(confidence: float, target_km: float, radius: Radius) -> Iterator[str]:
    low, high = (0.01, 0.49) if target_km < radius.p50 else (0.5, 0.89) if target_km < radius.p90 else (0.9, 0.99)
    if not low <= confidence <= high:
        yield f"confidence {confidence} within {target_km} km, with radii of {radius.p50} and {radius.p90} km"
