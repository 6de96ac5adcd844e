"""Computes how probable a claimed place is, from the text in the photo and from blind rollouts.

Two distributions answer: that of the blind rollouts' votes under the calibration of the engine, and that of the
lettering that was read (`tts.verify.evidence.reading_belief`). The claim enters neither. Their mass in the claimed
area is used; a calibration that was fitted to drawn scenes turns it into a probability
(`tts.verify.claims.claim_calibration`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tts.decision_weights import weights
from tts.domain.claim import ClaimedPlace
from tts.domain.geo import Circle, Countries, Floats, LatLon, sphere_km_from_degrees
from tts.verify.claims.claimed_area import Mask, centre_of, points_inside, prior_of, reach_km
from tts.verify.consensus.calibration import Calibration
from tts.verify.consensus.clusters import Cluster
from tts.verify.consensus.place_belief import PlaceBelief, belief_of_reading, belief_of_votes, mix_beliefs
from tts.verify.consensus.spread_features import Spread
from tts.verify.evidence.reading_belief import ReadBelief
from tts.verify.evidence.world import World

_LETTERING_SHARE = weights("claims")["read_share"]
_MAX_POINTS = 1500  # that are looked at: the rest holds next to nothing
_MIN_RIVAL_RADIUS_KM = weights("claims")["rival_km"]


@dataclass(frozen=True, slots=True)
class WeighedPlace:
    """`mass` in [0, 1] of the belief in the place; `prior` of all photos; `best` is its likeliest point, if any."""

    place: ClaimedPlace
    mass: float
    prior: float
    best: LatLon | None

    @property
    def bayes_factor(self) -> float:
        """How much likelier the place is than before the photo was seen, odds over odds."""
        return _odds(self.mass) / _odds(self.prior)


@dataclass(frozen=True, slots=True)
class Rival:
    """The likeliest place outside everything that is claimed, of about the size of the claim, and its mass."""

    point: LatLon
    km: float
    mass: float


@dataclass(frozen=True, slots=True)
class Weighing:
    """All that is said of the claimed places together; `belief` is None where nothing was read and nothing answered."""

    places: tuple[WeighedPlace, ...]
    rival: Rival | None
    belief: PlaceBelief | None

    @property
    def mass(self) -> float:
        """Of all claimed places together."""
        return min(1.0, sum(place.mass for place in self.places))


def belief_about(
    clusters: Sequence[Cluster], spread: Spread | None, read: ReadBelief | None, calibration: Calibration
) -> PlaceBelief | None:
    """What rollouts and lettering say together; None when neither says anything."""
    votes = None
    if clusters and spread is not None:
        votes = belief_of_votes(clusters, calibration.error_distribution(spread))
    lettering = belief_of_reading(read.belief) if read is not None else None
    if votes is None or lettering is None:
        return votes or lettering
    return mix_beliefs(lettering, votes, _LETTERING_SHARE)


def weigh_claim(places: Sequence[ClaimedPlace], belief: PlaceBelief | None, world: World) -> Weighing:
    """The mass of each place, and of the best place outside all of them."""
    assert world.clues is not None
    priors = world.clues.weigher.priors
    top_points = belief.largest(_MAX_POINTS) if belief is not None else None
    weighed, claimed = [], np.zeros(0 if top_points is None else len(top_points.share), dtype=np.bool_)
    for place in places:
        mass, best = 0.0, None
        if top_points is not None:
            mask = points_inside(place, top_points.lat, top_points.lon, world)
            mass, best = _share_inside(place, top_points, mask, world), _likeliest_point(top_points, mask)
            claimed |= mask
        weighed.append(WeighedPlace(place, mass, prior_of(place, priors, world), best))
    return Weighing(tuple(weighed), _find_rival(places, top_points, ~claimed, world), belief)


def _share_inside(place: ClaimedPlace, belief: PlaceBelief, mask: Mask, world: World) -> float:
    """The share inside; of countries and regions among the points that lie in any country, as borders end at coasts."""
    share = float(belief.share[mask].sum())
    if share and all(isinstance(area, Countries) for area in place.areas):
        land = sum(
            float(s)
            for a, b, s in zip(belief.lat, belief.lon, belief.share, strict=True)
            if world.countries.country_at(LatLon(lat=float(a), lon=float(b))) is not None
        )
        return min(1.0, share / land) if land else 0.0
    return min(1.0, share)


def _likeliest_point(belief: PlaceBelief, mask: Mask) -> LatLon | None:
    at = np.flatnonzero(mask)
    if not len(at):
        return None
    best = int(at[np.argmax(belief.share[at])])
    return LatLon(lat=float(belief.lat[best]), lon=float(belief.lon[best]))


def _find_rival(
    places: Sequence[ClaimedPlace], belief: PlaceBelief | None, outside: Mask, world: World
) -> Rival | None:
    """The fullest disc outside, centred on one of the likeliest points. Its mass is that of a whole country, where a
    country in which nothing is claimed holds more."""
    if belief is None or not outside.any():
        return None
    lat, lon, share = belief.lat[outside], belief.lon[outside], belief.share[outside]
    km = max([_MIN_RIVAL_RADIUS_KM, *(reach_km(place) for place in places)])
    top = np.argsort(-share, kind="stable")[:40]
    options = [LatLon(lat=float(lat[i]), lon=float(lon[i])) for i in top]
    masses = [float(share[sphere_km_from_degrees(point, lat, lon) <= km].sum()) for point in options]
    best = int(np.argmax(masses))
    return Rival(
        options[best], km, min(1.0, max(masses[best], _largest_unclaimed_country_share(places, lat, lon, share, world)))
    )


def _largest_unclaimed_country_share(
    places: Sequence[ClaimedPlace], lat: Floats, lon: Floats, share: Floats, world: World
) -> float:
    """The largest share of one country in which none of the claimed places lies."""
    claimed = set[str]()
    for place in places:
        claimed |= {code for area in place.areas if isinstance(area, Countries) for code in area.codes}
        centres = [area.centre for area in place.areas if isinstance(area, Circle)]
        centres += [point for point in (centre_of(place),) if point is not None]
        claimed |= {country.code for point in centres if (country := world.country_near(point)) is not None}
    found: dict[str, float] = {}
    for a, b, part in zip(lat, lon, share, strict=True):
        country = world.countries.country_at(LatLon(lat=float(a), lon=float(b)))
        if country is not None and country.code not in claimed:
            found[country.code] = found.get(country.code, 0.0) + float(part)
    return max(found.values(), default=0.0)


def _odds(share: float) -> float:
    bounded = min(1.0 - 1e-6, max(1e-9, share))
    return bounded / (1.0 - bounded)
