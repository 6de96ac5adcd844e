"""How uncertain a set of votes is, in a handful of numbers that calibration turns into radii and probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean

import numpy as np

from tts.decision_weights import weights
from tts.domain.geo import Floats, LatLon, distance_km
from tts.domain.value import Value
from tts.geodata.gazetteer import Place
from tts.verify.consensus.clusters import Cluster
from tts.verify.consensus.guesswork import log_of_people, people_log
from tts.verify.consensus.votes import Vote
from tts.verify.evidence.ledger import Finding
from tts.verify.evidence.world import World

_W = weights("radii")
_MISSING_DISTANCE_KM = _W["far_km"]
_MAX_TOWN_KM = _W["division_km"]
_UNKNOWN_DIVISION_SIZE = (int(_W["no_division_people"]), _W["no_division_km"])


class Spread(Value):
    """Features of one verdict. Distances are log(1 + km) from the answer; shares and grounding lie in [0, 1].

    Towns tell much: a vote for a small town rests on something, a vote for a metropolis is what guesses look like.
    First-order divisions do too: guesses fall into the populous ones, and a large one has more room to be wrong.

    What rollouts state of themselves (`stated_*`) is noise in most engines: the general calibration gives it no weight.
    The embedded engine states the radius that holds 90 % of its belief, so its own calibration does. Where answers
    were drawn again, all draws share the weight of their vote; `draws_log_km` is how far off they lie, else None.
    """

    mean_log_km: float
    second_log_km: float
    third_log_km: float
    farthest_log_km: float
    share_25: float
    share_200: float
    share_400: float
    share_750: float
    share_1500: float
    same_division: float
    divisions: float
    town_log: float
    largest_town_log: float
    smallest_town_log: float
    named_towns: float
    town_offset_log_km: float
    people_log: float
    division_people_log: float
    division_reach_log_km: float
    votes_log: float
    silent_share: float
    grounding: float
    score: float
    contradictions: float
    reach_log_km: float
    stated_radius_log_km: float
    stated_confidence: float
    draws_log_km: float | None = None

    def vector(self) -> Floats:
        """(k,) features in the order of the fields; NaN for what is not known."""
        return np.array([getattr(self, name) for name in Spread.model_fields], dtype=np.float64)


def spread_of(winner: Cluster, votes: Sequence[Vote], rollouts: int, world: World) -> Spread:
    """`rollouts` counts all that ended, also those without an answer. Needs at least one vote."""
    km = np.array([distance_km(winner.centre, vote.point) for vote in votes])
    away_km, weight = _distances_and_shares(winner.centre, votes)
    nearest_log_km = [math.log1p(away) for away in (*sorted(km.tolist()), *[_MISSING_DISTANCE_KM] * 4)]
    ledgers = [vote.ledger for vote in winner.members]
    hypotheses = [ledger.hypothesis for ledger in ledgers if ledger.is_pooled] or [
        ledger.hypothesis for ledger in ledgers
    ]
    towns = [vote.town_log for vote in votes]
    answer_town = _nearest_town(winner.centre, world)
    divisions = [_division_name(_nearest_town(vote.point, world)) for vote in votes]
    people, reach_km = _division_size(winner.centre, answer_town, world)
    return Spread(
        mean_log_km=float((np.log1p(away_km) * weight).sum()),
        second_log_km=nearest_log_km[1],
        third_log_km=nearest_log_km[2],
        farthest_log_km=math.log1p(float(km.max())) if len(km) > 1 else math.log1p(_MISSING_DISTANCE_KM),
        **{f"share_{reach}": float(weight[away_km <= reach].sum()) for reach in (25, 200, 400, 750, 1500)},
        same_division=divisions.count(_division_name(answer_town)) / len(divisions),
        divisions=len(set(divisions)) / len(divisions),
        town_log=fmean(vote.town_log for vote in winner.members),
        largest_town_log=max(towns),
        smallest_town_log=min(towns),
        named_towns=sum(vote.town_offset_km is not None for vote in votes) / len(votes),
        town_offset_log_km=fmean(math.log1p(vote.town_offset_km or _W["no_town_km"]) for vote in votes),
        people_log=people_log(winner.centre, world),
        division_people_log=log_of_people(people),
        division_reach_log_km=math.log1p(reach_km),
        votes_log=math.log(len(votes)),
        silent_share=1.0 - len(votes) / max(rollouts, len(votes)),
        grounding=max(ledger.grounding for ledger in ledgers),
        score=math.log(max(vote.weight for vote in winner.members)),
        contradictions=float(min(ledger.count(Finding.CONTRADICTED) for ledger in ledgers)),
        reach_log_km=math.log1p(min(vote.reach_km for vote in winner.members)),
        stated_radius_log_km=fmean(
            math.log1p(hypothesis.radius_km or _MISSING_DISTANCE_KM) for hypothesis in hypotheses
        ),
        stated_confidence=fmean(hypothesis.confidence or 0.0 for hypothesis in hypotheses),
        draws_log_km=_draws_log_km(winner.centre, votes),
    )


def _distances_and_shares(centre: LatLon, votes: Sequence[Vote]) -> tuple[Floats, Floats]:
    """Distances in km of every draw of every vote, and their shares of all weight; without draws those of the votes."""
    km = [_distance_or_missing_km(centre, point) for vote in votes for point in (vote.point, *vote.draws)]
    weight = np.array([vote.weight / (1 + len(vote.draws)) for vote in votes for _ in (vote.point, *vote.draws)])
    return np.array(km), weight / weight.sum()


def _draws_log_km(centre: LatLon, votes: Sequence[Vote]) -> float | None:
    km = [_distance_or_missing_km(centre, point) for vote in votes for point in vote.draws]
    return fmean(math.log1p(away) for away in km) if km else None


def _distance_or_missing_km(centre: LatLon, point: LatLon | None) -> float:
    return _MISSING_DISTANCE_KM if point is None else distance_km(centre, point)


def _nearest_town(point: LatLon, world: World) -> Place | None:
    return world.gazetteer.nearest_town(point, max_km=_MAX_TOWN_KM)


def _division_name(town: Place | None) -> str:
    """The first-order division a town is in; empty far from any town."""
    return f"{town.country_code}.{town.admin1}" if town is not None else ""


def _division_size(point: LatLon, town: Place | None, world: World) -> tuple[int, float]:
    """The people of the first-order division at a point, and the km from there within which 90 % of its towns lie."""
    if town is None:
        return _UNKNOWN_DIVISION_SIZE
    division = world.gazetteer.division_of(town)
    return division.population, division.reach_km(point, _W["division_reach"])
