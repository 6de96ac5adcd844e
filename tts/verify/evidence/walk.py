"""Walks: photos of several places within reach of each other. Computes the belief of each photo, given the others.

The evidence is kept apart: the text of a photo counts for its own place. The other photos are a constraint: the place
lies within reach of theirs. Two photos contradict each other if their beliefs hardly fit within reach.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from tts.clues.belief import Belief
from tts.clues.clue_reader import ClueReader
from tts.clues.conclusion import conclusion, is_worth_a_point
from tts.clues.priors import Priors
from tts.decision_weights import weights
from tts.domain.geo import Floats, LatLon, distance_km, sphere_km_from_degrees
from tts.domain.hypothesis import Hypothesis, Level
from tts.domain.reach import Reach
from tts.domain.reading import Reading
from tts.domain.trajectory import Trajectory
from tts.geodata.gazetteer import Place
from tts.verify.evidence.joint_belief import APART_BELOW, JointBelief, Mask, Points, joint_belief, within_reach
from tts.verify.evidence.reading_belief import ReadBelief, about_photo
from tts.verify.evidence.several_photos import OnePhoto, one_photo, photo_with_ledger
from tts.verify.evidence.world import World

_SAME_PLACE_KM = weights("photos")["walk_place_km"]
_MIN_SHARE = weights("photos")["walk_relevant"]


@dataclass(frozen=True, slots=True)
class Walk:
    """The photos in their order. `contradicting`: pairs that cannot be within reach; then each is taken by itself."""

    photos: tuple[OnePhoto, ...]
    contradicting: tuple[tuple[int, int], ...] = ()


def walk_of(
    trajectories: Sequence[Trajectory], readings: Sequence[Reading], photos: int, reach: Reach, world: World
) -> Walk:
    """What each of the photos says, given the others. Needs a world that weighs lettering."""
    assert world.clues is not None
    single_photos = tuple(one_photo(trajectories, readings, number, world) for number in range(photos))
    readable = [one for one in single_photos if one.read is not None]
    if len(readable) < 2:
        return Walk(single_photos)
    priors = world.clues.weigher.priors
    beliefs, prior = _beliefs_and_prior(readable, priors)
    numbers = [one.number for one in readable]
    limits = reach.town_limits_km[np.ix_(numbers, numbers)]
    pairs = [
        (readable[i].number, readable[j].number)
        for i, j in combinations(range(len(readable)), 2)
        if _are_contradicting(readable[i], readable[j], float(limits[i, j]))
        or (
            readable[i].ledger is not None
            and readable[j].ledger is not None
            and within_reach(beliefs[i], beliefs[j], prior, float(limits[i, j])) < APART_BELOW
        )
    ]
    joint = joint_belief(beliefs, prior, limits)
    if pairs or not joint.possible:
        return Walk(single_photos, tuple(pairs) or tuple(combinations(numbers, 2)))
    conditioned_photos = {
        one.number: one for one in _condition_on_others(readable, joint, trajectories, readings, world)
    }
    return Walk(tuple(conditioned_photos.get(one.number, one) for one in single_photos))


def _are_contradicting(one: OnePhoto, other: OnePhoto, limit_km: float) -> bool:
    """Whether both name a town by themselves, and these lie too far apart."""
    a, b = _named_town_point(one), _named_town_point(other)
    return a is not None and b is not None and distance_km(a, b) > limit_km


def _named_town_point(one: OnePhoto) -> LatLon | None:
    found = one.read.hypothesis if one.read is not None else None
    return found.point if found is not None and found.level.rank >= Level.CITY.rank else None


def _beliefs_and_prior(readable: Sequence[OnePhoto], priors: Priors) -> tuple[list[Points], Points]:
    """The beliefs over points, and where photos are taken anyway. A place that one photo names is a point of every
    belief, with what that says of the country around: else a photo that names a country only could be at no village.
    """
    reads = [one.read for one in readable if one.read is not None]
    named_places = {place.id: place for read in reads for place, _ in read.belief.places}
    lat, lon, share = priors.all_towns
    new = [place for place in named_places.values() if not _is_among_points(place, lat, lon)]
    usual = np.array([priors.photo_share(place) for place in new])
    prior = Points(*_append_places(lat, lon, share, new, usual))
    beliefs = []
    for read in reads:
        belief = read.belief
        missing = [place for place in named_places.values() if not _is_among_points(place, belief.lat, belief.lon)]
        shares = np.array([belief.rest.get(place.country_code, 0.0) * priors.town_share(place) for place in missing])
        beliefs.append(Points.likeliest(*_append_places(belief.lat, belief.lon, belief.share, missing, shares)))
    return beliefs, prior


def _append_places(
    lat: Floats, lon: Floats, share: Floats, places: Sequence[Place], shares: Floats
) -> tuple[Floats, Floats, Floats]:
    more = [np.array([p.point.lat for p in places]), np.array([p.point.lon for p in places]), shares]
    whole = [np.concatenate([one, other]) for one, other in zip((lat, lon, share), more, strict=True)]
    return whole[0], whole[1], whole[2]


def _is_among_points(place: Place, lat: Floats, lon: Floats) -> bool:
    return bool((sphere_km_from_degrees(place.point, lat, lon) < _SAME_PLACE_KM).any())


def _condition_on_others(
    readable: Sequence[OnePhoto],
    joint: JointBelief,
    trajectories: Sequence[Trajectory],
    readings: Sequence[Reading],
    world: World,
) -> list[OnePhoto]:
    """Each photo with its belief given the others, and the ledger of the answer that this supports."""
    assert world.clues is not None
    places = {place.id: place for one in readable if one.read is not None for place, _ in one.read.belief.places}
    photos = []
    for one, points in zip(readable, joint.marginals, strict=True):
        assert one.read is not None
        read = _condition_reading(one.read, points, places, world.clues)
        turns = about_photo(trajectories, readings, one.number)
        photos.append(photo_with_ledger(one.number, read, turns, readings, world))
    return photos


def _condition_reading(read: ReadBelief, points: Points, places: Mapping[str, Place], reader: ClueReader) -> ReadBelief:
    countries: dict[str, float] = {}
    for lat, lon, share in zip(points.lat, points.lon, points.share, strict=True):
        at = reader.countries.country_at(LatLon(lat=float(lat), lon=float(lon))) if share >= _MIN_SHARE else None
        if at is not None:
            countries[at.code] = countries.get(at.code, 0.0) + float(share)
    at_places = [(place, float(points.share[_near_mask(place, points)].sum())) for place in places.values()]
    ranked = sorted((pair for pair in at_places if pair[1] > 0), key=lambda pair: (-pair[1], pair[0].id))
    belief = Belief(
        countries or read.belief.countries, tuple(ranked[:12]), points.lat, points.lon, points.share, len(ranked)
    )
    hypothesis: Hypothesis | None = (
        conclusion(belief, reader.countries) if is_worth_a_point(belief, read.leads) else None
    )
    return replace(read, belief=belief, hypothesis=hypothesis)


def _near_mask(place: Place, points: Points) -> Mask:
    return np.asarray(sphere_km_from_degrees(place.point, points.lat, points.lon) < _SAME_PLACE_KM)
