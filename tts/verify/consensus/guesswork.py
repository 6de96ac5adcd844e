"""Estimates whether a stated point is a guess.

A model that guesses often names a place where many people live, gives exactly the centre of a town, or gives a town and
a point that do not fit together. Each of these reduces the weight of a vote a little. The source of an answer is not
used.

The weights (`tts/data/weights/votes.yaml`) were chosen by hand after a random search over 6600 settings, with IMAGEO-2
(889 photos, four models) and MAPBench (2500 photos, three models) both in view, so that no threshold of either falls
below the log-distance medoid by more than 0.3 points. The penalty of crowds ends at 2.5 million people, because a set
of photos that were taken in large cities only says nothing beyond that.
"""

from __future__ import annotations

import math

from tts.decision_weights import weights
from tts.domain.geo import LatLon
from tts.verify.evidence.world import World

_W = weights("votes")
_MAX_TOWNS = int(_W["towns_counted"])
AROUND_KM = _W["around_km"]
NAMED_TOWN_KM = _W["named_town_km"]
CENTRE_KM = _W["centre_km"]
_MIN_APART_KM = _W["apart_from_km"]
CROWD = _W["crowd"]
_USUAL_CROWD_LOG = _W["usual_crowd"]
_MAX_CROWD_LOG = _W["largest_crowd"]
_ADDED_PEOPLE = _W["few_around"]
APART = _W["apart"]
ON_CENTRE = _W["on_centre"]


def people_log(point: LatLon, world: World) -> float:
    """`log_of_people` within 60 km of a point."""
    return log_of_people(world.gazetteer.people_near(point, max_km=AROUND_KM, towns=_MAX_TOWNS))


def log_of_people(count: int) -> float:
    """log10 of a number of people, plus a thousand: fewer than these say nothing."""
    return math.log10(count + _ADDED_PEOPLE)


def guess_log_odds(point: LatLon, town_offset_km: float | None, world: World) -> float:
    """What to add to the log-odds of a vote; below 0 for a point as guesses have it.

    `town_offset_km` is the distance to the centre of the town that was named there, None when no such town is known.
    """
    crowd = min(people_log(point, world), _MAX_CROWD_LOG) - _USUAL_CROWD_LOG
    apart_km = NAMED_TOWN_KM if town_offset_km is None else town_offset_km
    on_centre = town_offset_km is not None and town_offset_km < CENTRE_KM
    apart = math.log(max(apart_km, _MIN_APART_KM) / _MIN_APART_KM)
    return -CROWD * crowd - APART * apart - (ON_CENTRE if on_centre else 0.0)
