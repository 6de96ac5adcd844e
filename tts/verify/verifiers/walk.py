"""Answers for photos of several places within reach of each other, one for each (ADR 0032)."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass

from tts.decision_weights import weights
from tts.domain.answer import PhotoAnswer, Verdict
from tts.domain.geo import HALF_CIRCUMFERENCE_KM, LatLon, distance_km
from tts.domain.reach import Reach, reach_of
from tts.ports.verification import VerifyRequest
from tts.verify.assembly.radius_consistency import rough_exactness, widen_radius, without_names_beyond
from tts.verify.consensus.area_constraint import may_answer
from tts.verify.consensus.calibration import Calibration
from tts.verify.evidence.several_photos import OnePhoto, own_answers_text
from tts.verify.evidence.walk import Walk, walk_of
from tts.verify.evidence.world import World
from tts.verify.verifiers.consensus import answer_for_photo
from tts.verify.verifiers.photos_and_caller import allowed_answers, photos_verdict, with_excluded
from tts.verify.verifiers.verdict_changer import VerdictChanger

_MIN_ADDED_KM = weights("photos")["walk_least_km"]
_SAME_TOWN_KM = weights("photos")["walk_same_town_km"]


@dataclass(frozen=True, eq=False)
class WalkVerifier(VerdictChanger):
    """A `Verifier` in front of another, whose verdict is that of all photos together. Requests whose photos are of one
    place pass through."""

    world: World
    calibration: Calibration

    async def change(self, request: VerifyRequest, verdict: Verdict) -> Verdict:
        """The verdict with an answer for each photo."""
        reach = reach_of(request.options, len(request.photos))
        if reach is None or self.world.clues is None:
            return verdict
        return await asyncio.to_thread(self.apply, request, reach, verdict)

    def apply(self, request: VerifyRequest, reach: Reach, verdict: Verdict) -> Verdict:
        """The verdict with an answer for each photo, or with the photos that contradict each other."""
        walk = walk_of(request.trajectories, request.readings, len(request.photos), reach, self.world)
        target_km = request.options.target_radius_km
        answers = [answer_for_photo(one, self.calibration, target_km, self.world) for one in walk.photos]
        if walk.contradicting:
            return photos_verdict(answers, walk.photos, _contradiction_text(walk, reach), request.options, self.world)
        if all(one.lat is None for one in answers):
            return _widen_to(verdict, float(reach.limits_km.max()))
        photos_with_names = {
            one.number for one in walk.photos if _names_its_place(one) and answers[one.number].lat is not None
        }
        allowed_numbers = {
            n for n in photos_with_names if may_answer(_point_of(answers[n]), request.options, self.world)
        }
        firm_answers = {number: answers[number] for number in allowed_numbers}
        photo_answers = tuple(
            one if one.photo in photos_with_names else _answer_from_other_photo(one, firm_answers, reach, target_km)
            for one in answers
        )
        distances_km = [
            distance_km(verdict.point, _point_of(one)) for one in photo_answers if verdict.point and one.lat is not None
        ]
        photo_answers, excluded = allowed_answers(photo_answers, walk.photos, request.options, self.world)
        text = f"{verdict.explanation} {own_answers_text(photo_answers)}".strip()
        found = _widen_to(verdict, max(distances_km, default=0.0)).model_copy(
            update={"per_photo": photo_answers, "explanation": text}
        )
        return with_excluded(found, excluded)


def _contradiction_text(walk: Walk, reach: Reach) -> str:
    """Which photos contradict each other, counted from 1, and how far apart they could be."""
    first, second = walk.contradicting[0]
    one = f"Photos {first + 1} and {second + 1} cannot be within {reach.between(first, second):,.3g} km of each other"
    others = [f"{a + 1} and {b + 1}" for a, b in walk.contradicting[1:]]
    return f"{one}, nor can {', '.join(others)} be within reach" if others else one


def _names_its_place(one: OnePhoto) -> bool:
    """Whether the photo itself has the name of a place where its answer is."""
    found = one.read.hypothesis.point if one.read is not None and one.read.hypothesis is not None else None
    return one.read is not None and found is not None and one.read.names(found)


def _answer_from_other_photo(
    own_answer: PhotoAnswer, firm_answers: dict[int, PhotoAnswer], reach: Reach, target_km: float
) -> PhotoAnswer:
    """Where a photo is by the nearest other that names its place: there, as much wider as the two can be apart. Its own
    answer where there is no other."""
    others = [one for one in firm_answers.values() if one.radius_km is not None]
    other = min(others, key=lambda one: (_p90_from_other_photo_km(own_answer, one, reach), one.photo), default=None)
    limit_km = reach.between(own_answer.photo, other.photo) if other is not None else math.inf
    if other is None or other.radius_km is None or limit_km == math.inf:
        return own_answer
    p50, p90 = (
        other.radius_km.p50 + max(_MIN_ADDED_KM, limit_km / 2),
        other.radius_km.p90 + max(_MIN_ADDED_KM, limit_km),
    )
    p90 = min(HALF_CIRCUMFERENCE_KM, p90)
    exact = rough_exactness(min(p50, p90), p90, target_km=target_km)
    finest = ("city",) if limit_km <= _SAME_TOWN_KM else ()  # farther away it may be in another town
    text = f"This photo says little by itself; it lies within {limit_km:,.3g} km of photo {other.photo + 1}."
    names = {name: getattr(other, name) for name in ("country", "country_code", "region", *finest)}
    return own_answer.model_copy(
        update={
            "evidence": (),
            "lat": other.lat,
            "lon": other.lon,
            "radius_km": exact.radius,
            "level": exact.level,
            "abstained": False,
            "confidence": min(exact.confidence, other.confidence),
            "explanation": text,
            "city": "",
            "place": "",
            **names,
            **without_names_beyond(exact.level),
        }
    )


def _p90_from_other_photo_km(own_answer: PhotoAnswer, other: PhotoAnswer, reach: Reach) -> float:
    """How wide the answer for a photo is that rests on another one."""
    assert other.radius_km is not None
    return other.radius_km.p90 + reach.between(own_answer.photo, other.photo)


def _widen_to(verdict: Verdict, km: float) -> Verdict:
    """The answer for all photos stands for all of their places."""
    return verdict if km == math.inf else widen_radius(verdict, km)


def _point_of(one: PhotoAnswer) -> LatLon:
    assert one.lat is not None
    assert one.lon is not None
    return LatLon(lat=one.lat, lon=one.lon)
