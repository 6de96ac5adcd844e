"""How far apart the places of two photos of a walk can be, by the distance, times and speed that the caller states."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tts.decision_weights import weights
from tts.domain.geo import Floats
from tts.domain.request import LocateOptions

_SLACK_KM = weights("photos")["walk_slack_km"]


@dataclass(frozen=True, slots=True)
class Reach:
    """`limits_km`: (n, n), for each pair of photos, as the caller says it."""

    limits_km: Floats

    def between(self, one: int, other: int) -> float:
        """The farthest that two photos can be apart, in km."""
        return float(self.limits_km[one, other])

    @property
    def town_limits_km(self) -> Floats:
        """(n, n) the limits at which centres of towns are compared."""
        return np.asarray(self.limits_km + _SLACK_KM)


def reach_of(options: LocateOptions, photos: int) -> Reach | None:
    """The reach that a request states for its photos; None if they show one place, or if there is one photo.

    With times and a speed, a pair can be as far apart as the speed allows; with a distance too, the smaller one counts.
    """
    if photos < 2 or (options.within_km is None and options.max_speed_kmh is None):
        return None
    limits = np.full((photos, photos), np.inf if options.within_km is None else options.within_km)
    if options.max_speed_kmh is not None and len(options.taken_at) == photos:
        hours = np.array([at.timestamp() for at in options.taken_at]) / 3600.0
        limits = np.minimum(limits, options.max_speed_kmh * np.abs(hours[:, None] - hours[None, :]))
    return Reach(limits)


def widest_km(options: LocateOptions, photos: int) -> float | None:
    """How far apart any two photos of a request can be; None if they show one place."""
    reach = reach_of(options, photos)
    return None if reach is None else float(reach.limits_km.max())


def walk_problem(options: LocateOptions, photos: int) -> tuple[str, str] | None:
    """The option that does not fit the photos of a request, with the reason; None if all options fit."""
    if options.within_km is not None and photos < 2:
        return "within_km", "is for several photos"
    if bool(options.taken_at) != (options.max_speed_kmh is not None):
        return ("max_speed_kmh" if options.taken_at else "taken_at"), "times and a speed go together"
    if options.taken_at and len(options.taken_at) != photos:
        return "taken_at", f"has {len(options.taken_at)} times for {photos} photos"
    return None
