"""Makes votes from ledgers: the weight of each rollout's point, and the area for which it counts.

A vote is weighed by its evidence (log-odds, added up) and shared with the rollouts that rest on the same tool
statements. Nothing about a rollout's order, number, confidence or style enters.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tts.decision_weights import weights
from tts.domain.geo import LatLon, distance_km
from tts.domain.hypothesis import Hypothesis, Level
from tts.geodata.gazetteer import Place
from tts.verify.consensus.guesswork import NAMED_TOWN_KM, guess_log_odds
from tts.verify.evidence.grounding import NEAR_KM
from tts.verify.evidence.ledger import About, Finding, RolloutLedger
from tts.verify.evidence.page_dedup import merge_same_pages
from tts.verify.evidence.world import World

_W = weights("votes")
_GROUNDING_WEIGHT = _W["grounded"]
_SIGNAL_WEIGHT = _W["signal"]
_CITATION_WEIGHT = _W["cited"]
_SMALL_PRINT_WEIGHT = _W["detail"]
_WRONG_COUNTRY_WEIGHT = _W["wrong_country"]
_WRONG_PHONE_WEIGHT = _W["wrong_phone"]
_WRONG_SIGNAL_WEIGHT = _W["wrong_signal"]
_WRONG_NAME_WEIGHT = _W["wrong_name"]
_PHANTOM_USE_WEIGHT = _W["phantom"]
_EVIDENCE_TERMS: tuple[tuple[float, int, Finding, tuple[About, ...]], ...] = (  # each counts so many times at most
    (_SIGNAL_WEIGHT, int(_W["signal_times"]), Finding.SUPPORTED, ("phone", "postcode", "script", "domain", "language")),
    (_CITATION_WEIGHT, int(_W["cited_times"]), Finding.SUPPORTED, ("cited",)),
    (_SMALL_PRINT_WEIGHT, int(_W["detail_times"]), Finding.SUPPORTED, ("detail",)),
    (_WRONG_COUNTRY_WEIGHT, 1, Finding.CONTRADICTED, ("country", "sea")),
    (_WRONG_PHONE_WEIGHT, 1, Finding.CONTRADICTED, ("phone",)),
    (
        _WRONG_SIGNAL_WEIGHT,
        int(_W["wrong_signal_times"]),
        Finding.CONTRADICTED,
        ("postcode", "script", "domain", "language"),
    ),
    (_WRONG_NAME_WEIGHT, 1, Finding.CONTRADICTED, ("name",)),
    (_PHANTOM_USE_WEIGHT, int(_W["phantom_times"]), Finding.NOT_DONE, ("looked",)),
)
_TERM_INDEX = {(finding, about): i for i, (_, _, finding, abouts) in enumerate(_EVIDENCE_TERMS) for about in abouts}

_CORROBORATION_WEIGHT = _W["corroborated"]
_REPEATED_WITNESS_SHARE = _W["repeated"]
_SPECIFICITY_WEIGHT = _W["specific"]
_USUAL_TOWN_LOG = _W["usual_town"]
_ADDED_PEOPLE = _W["few_in_town"]
_REACH_KM_BY_LEVEL = {
    Level.POINT: 0.0,
    Level.CITY: _W["city_reach_km"],
    Level.REGION: _W["region_reach_km"],
    Level.COUNTRY: _W["country_reach_km"],
    Level.NONE: _W["no_level_reach_km"],
}


@dataclass(frozen=True, slots=True)
class Vote:
    """One rollout's point with its weight and the radius in km over which it claims to hold.

    `town_log` is log10 of the people in the town it names there (4.3 when that is unknown), `town_offset_km` the
    distance of its point from that town's centre. `trust` has a factor for each scale of `clusters.SCALES`, from the
    reliability of its source; empty where sources are not known. `draws` are the points of its answer drawn again
    (None: no point); the weight is shared among all its draws.
    """

    point: LatLon
    weight: float
    reach_km: float
    town_log: float
    town_offset_km: float | None
    ledger: RolloutLedger
    trust: tuple[float, ...] = ()
    draws: tuple[LatLon | None, ...] = ()


def votes_from(ledgers: Sequence[RolloutLedger], world: World) -> list[Vote]:
    """A vote for every ledger that has a point, in an order that depends on what they say only."""
    ledgers_with_point = sorted((ledger for ledger in ledgers if ledger.hypothesis.point is not None), key=_sort_key)
    witness_sets = merge_same_pages([ledger.witnesses for ledger in ledgers_with_point])
    ledgers_with_point = [
        ledger.model_copy(update={"witnesses": found})
        for ledger, found in zip(ledgers_with_point, witness_sets, strict=True)
    ]
    shares = _witness_shares(ledgers_with_point)
    without_evidence = not any(_has_evidence(ledger) for ledger in ledgers_with_point)
    votes = []
    for ledger, share in zip(ledgers_with_point, shares, strict=True):
        point = point_of(ledger.hypothesis)
        town = _named_town(ledger.hypothesis, point, world)
        town_log = _USUAL_TOWN_LOG if town is None else math.log10(town.population + _ADDED_PEOPLE)
        score = evidence_score(ledger) + _CORROBORATION_WEIGHT * min(2, len(_other_sources(ledger, ledgers_with_point)))
        offset = None if town is None else distance_km(town.point, point)
        place_score = (
            guess_log_odds(point, offset, world)
            if without_evidence
            else -_SPECIFICITY_WEIGHT * (town_log - _USUAL_TOWN_LOG)
        )
        weight = math.exp(score + place_score) * share
        votes.append(
            Vote(point, weight, _reach_km(ledger.hypothesis, world), town_log, offset, ledger, draws=ledger.draws)
        )
    return votes


def _has_evidence(ledger: RolloutLedger) -> bool:
    """Whether there is more than a point and names: then evidence decides, and what a guess looks like does not."""
    return ledger.grounding > 0 or bool(ledger.witnesses) or any(e.about in ("looked", "order") for e in ledger.entries)


def point_of(hypothesis: Hypothesis) -> LatLon:
    """The point of a hypothesis that has one, in WGS-84."""
    assert hypothesis.point is not None
    return hypothesis.point


def evidence_score(ledger: RolloutLedger) -> float:
    """Log-odds for the point of a ledger; 0 for a bare claim."""
    counts = [0] * len(_EVIDENCE_TERMS)
    for entry in ledger.entries:
        if (term := _TERM_INDEX.get((entry.finding, entry.about))) is not None:
            counts[term] += 1
    score = _GROUNDING_WEIGHT * ledger.grounding
    for (weight, most, _, _), n in zip(_EVIDENCE_TERMS, counts, strict=True):
        score += weight * min(most, n)
    return score


def _witness_shares(ledgers: Sequence[RolloutLedger]) -> list[float]:
    """1 for a witness of its own; m rollouts on the same statements share little more than one."""
    shares = []
    for ledger in ledgers:
        same = sum(_overlap(ledger, other) for other in ledgers)
        shares.append((1.0 + _REPEATED_WITNESS_SHARE * math.log2(same)) / same if ledger.witnesses else 1.0)
    return shares


def _other_sources(ledger: RolloutLedger, ledgers: Sequence[RolloutLedger]) -> frozenset[str]:
    """Places and pages that lead other rollouts to the same town and are not what this one rests on."""
    point, own = point_of(ledger.hypothesis), _sources(ledger)
    if not own:
        return frozenset()
    near = [other for other in ledgers if distance_km(point_of(other.hypothesis), point) <= NEAR_KM]
    return frozenset().union(*(_sources(other) for other in near)) - own


def _sources(ledger: RolloutLedger) -> frozenset[str]:
    """Witnesses without the words they were asked with; a line of the photo is the same for all and is none."""
    return frozenset(
        witness.rpartition(":")[0] if witness.startswith("place:") else witness
        for witness in ledger.witnesses
        if not witness.startswith("read:")
    )


def _overlap(a: RolloutLedger, b: RolloutLedger) -> float:
    """1 for itself and for the same statements, the common share for partly the same ones."""
    if a is b:
        return 1.0
    if not a.witnesses or not b.witnesses:
        return 0.0
    return len(a.witnesses & b.witnesses) / min(len(a.witnesses), len(b.witnesses))


def _named_town(hypothesis: Hypothesis, point: LatLon, world: World) -> Place | None:
    return world.place_named(hypothesis.city, point, within_km=NAMED_TOWN_KM) if hypothesis.city else None


def _reach_km(hypothesis: Hypothesis, world: World) -> float:
    if hypothesis.level is Level.COUNTRY:
        country = world.countries.get(hypothesis.country_code) or world.countries.find(hypothesis.country)
        if country is not None and country.area_km2 > 0:
            return max(_W["least_country_km"], _W["country_extent"] * float(math.sqrt(country.area_km2)))
    return _REACH_KM_BY_LEVEL[hypothesis.level]


def _sort_key(ledger: RolloutLedger) -> str:
    return ledger.hypothesis.model_dump_json() + "".join(sorted(ledger.witnesses))
