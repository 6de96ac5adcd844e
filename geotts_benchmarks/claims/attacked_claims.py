"""Every adversarial family of the consensus bench with a claim: the place that the attack wants as the answer.

A claim that joins an attack must not help it: the answer stays where it was, and the false place is not supported more
often than the attack alone makes the verifier wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from tts.domain.answer import Verdict
from tts.domain.calibration import CalibrationState
from tts.domain.claim import CheckOptions, ClaimCheck, ClaimedPlace
from tts.domain.geo import Circle, LatLon, distance_km
from tts.domain.photo import Photo
from tts.domain.request import RequestContext
from tts.domain.value import Value
from tts.eval.synthetic.scenario import RIGHT_KM, Scenario
from tts.ports.verification import VerifyRequest

_FITTED_STATE = CalibrationState(state="fitted", origin="made-up trajectories")


class Checks(Protocol):
    """What makes a verdict, and a check beside it."""

    def decide(self, request: VerifyRequest) -> Verdict:
        """The verdict of the blind rollouts."""
        ...

    def check(self, request: VerifyRequest, verdict: Verdict) -> ClaimCheck:
        """The check of what is claimed."""
        ...


class AttackedClaims(Value):
    """Percentages of scenarios that have a wrong place to claim. `wrong`: the answer lies there without any claim."""

    count: int
    supported: float
    wrong: float
    moved: float


def attacked_claims(scenarios: Iterable[Scenario], checks: Checks, photo: Photo) -> AttackedClaims:
    """How often the wrong place of a scenario is supported, and how often claiming it moves the answer."""
    count = supported = wrong = moved = 0
    for scenario in scenarios:
        place = _wrong_place(scenario)
        if place is None:
            continue
        count += 1
        options = CheckOptions(claim=(place.areas[0],))
        context = RequestContext(id="made-up", remaining_s=60.0)
        plain = VerifyRequest(context, (photo,), options, scenario.trajectories, scenario.readings)
        claiming = VerifyRequest(context, (photo,), options, scenario.trajectories, scenario.readings, (place,))
        without, with_claim = checks.decide(plain), checks.decide(claiming)
        check = checks.check(claiming, with_claim.model_copy(update={"calibration": _FITTED_STATE}))
        supported += check.verdict == "supported"
        wrong += _is_near(without.point, place)
        moved += without.point != with_claim.point
    return AttackedClaims(
        count=count, supported=_percent(supported, count), wrong=_percent(wrong, count), moved=_percent(moved, count)
    )


def _wrong_place(scenario: Scenario) -> ClaimedPlace | None:
    """Where most of the rollouts that are wrong stand; None where all are right or silent."""
    points = [t.best.point for t in scenario.trajectories if t.best is not None and t.best.point is not None]
    far = sorted((p for p in points if distance_km(p, scenario.truth) > 2 * RIGHT_KM), key=lambda p: (p.lat, p.lon))
    if not far:
        return None
    centre = max(far, key=lambda point: _count_near(point, far))
    return ClaimedPlace(place="the wrong place", kind="area", areas=(Circle(centre=centre, radius_km=RIGHT_KM),))


def _count_near(point: LatLon, points: Sequence[LatLon]) -> int:
    return sum(distance_km(point, other) <= RIGHT_KM for other in points)


def _is_near(point: LatLon | None, place: ClaimedPlace) -> bool:
    area = place.areas[0]
    return point is not None and isinstance(area, Circle) and distance_km(point, area.centre) <= area.radius_km


def _percent(part: int, whole: int) -> float:
    return round(100.0 * part / max(1, whole), 2)
