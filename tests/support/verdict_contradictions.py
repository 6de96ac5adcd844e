"""Checks the invariants of `tts/verify/assembly/radius_consistency.py` on a finished verdict, and its title."""

import re
from collections.abc import Iterator
from html import unescape

from tts.domain.answer import Answer, PhotoAnswer, Radius, RunCount, StopReason, Timing, Verdict
from tts.domain.geo import HALF_CIRCUMFERENCE_KM
from tts.domain.hypothesis import Level
from tts.report.sections import headline
from tts.verify.assembly.radius_consistency import level_of

_LEVEL_BY_FIELD = {"region": Level.REGION, "city": Level.CITY, "place": Level.POINT, "country": Level.COUNTRY}
_CONTINENT_KM = 2500.0  # a place is named with “Perhaps” where the 90 % radius is wider


def contradictions_of(verdict: Verdict) -> list[str]:
    """What in a verdict contradicts something else in it, in words."""
    found = list(_answer_contradictions(verdict, verdict.target_radius_km))
    for number, candidate in enumerate(verdict.candidates):
        found += [f"candidate {number}: {problem}" for problem in _radius_contradictions(candidate.radius_km)]
    for photo in verdict.per_photo:
        found += [
            f"photo {photo.photo}: {problem}" for problem in _answer_contradictions(photo, verdict.target_radius_km)
        ]
    return [*found, *_title_contradictions(verdict)]


def title_of(verdict: Verdict) -> str:
    """The title of a report on this verdict."""
    answer = verdict if isinstance(verdict, Answer) else _answer_of(verdict)
    (title,) = re.findall("<h1>(.*?)</h1>", str(headline(answer)))
    return unescape(title)


def _answer_of(verdict: Verdict) -> Answer:
    count = RunCount(asked=1, planned=1, run=1, answered=1)
    return Answer(**dict(verdict), n=count, stop_reason=StopReason.ANSWERED, timing=Timing(total_s=1.0))


def _title_contradictions(verdict: Verdict) -> Iterator[str]:
    """An abstention says why; an answer names what its level allows, and says “Perhaps” where it may be anywhere."""
    title, about = title_of(verdict), {contradiction.about for contradiction in verdict.contradictions}
    if verdict.radius_km is None:
        expected = (
            "These photos do not fit one place" if "photos" in about
            else "The photo does not fit the area you gave" if "within" in about
            else "It is not known where this is"
        )  # fmt: skip
        if title != expected:
            yield f"title {title!r} of an abstention, with contradictions about {sorted(about) or 'nothing'}"
        return
    names = [verdict.place, verdict.city, verdict.region, verdict.country]
    levels = (Level.POINT, Level.CITY, Level.REGION, Level.COUNTRY)
    allowed = [name for name, level in zip(names, levels, strict=True) if name and level.rank <= verdict.level.rank]
    if allowed and title.startswith("Perhaps ") is not (verdict.radius_km.p90 > _CONTINENT_KM):
        yield f"title {title!r} with a 90 % radius of {verdict.radius_km.p90} km"
    if title.removeprefix("Perhaps ") != (", ".join(dict.fromkeys(allowed)) or "An unnamed place"):
        yield f"title {title!r} with level {verdict.level}"


def _answer_contradictions(answer: Verdict | PhotoAnswer, target_km: float) -> Iterator[str]:
    if answer.abstained or answer.radius_km is None or answer.lat is None:
        if answer.radius_km is not None or answer.lat is not None or answer.lon is not None or answer.confidence > 0:
            yield "an abstention with a point, a radius or a confidence"
        if not answer.abstained:
            yield "no abstention, and no point or radius"
        return
    yield from _radius_contradictions(answer.radius_km)
    if answer.level is not level_of(answer.radius_km.p50):
        yield f"level {answer.level} with a 50 % radius of {answer.radius_km.p50} km"
    if any(getattr(answer, name) for name, finest in _LEVEL_BY_FIELD.items() if finest.rank > answer.level.rank):
        yield f"a name finer than level {answer.level}"
    yield from _confidence_contradictions(answer.confidence, target_km, answer.radius_km)


def _radius_contradictions(radius: Radius) -> Iterator[str]:
    if not 0 < radius.p50 < radius.p90 <= HALF_CIRCUMFERENCE_KM:
        yield f"radii of {radius.p50} and {radius.p90} km"


def _confidence_contradictions(confidence: float, target_km: float, radius: Radius) -> Iterator[str]:
    low, high = (0.01, 0.49) if target_km < radius.p50 else (0.5, 0.89) if target_km < radius.p90 else (0.9, 0.99)
    if not low <= confidence <= high:
        yield f"confidence {confidence} within {target_km} km, with radii of {radius.p50} and {radius.p90} km"
