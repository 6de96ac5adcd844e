"""Makes a verdict from clusters and ledgers, with evidence that a person can check."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tts.clues.belief import Belief
from tts.decision_weights import weights
from tts.domain.answer import CONTINENT_KM, Candidate, Evidence, PhotoAnswer, Radius, Verdict
from tts.domain.geo import HALF_CIRCUMFERENCE_KM, Area, LatLon, distance_km
from tts.domain.hypothesis import Hypothesis, Level
from tts.geodata.names import normalise
from tts.verify.assembly.answer_names import names_at
from tts.verify.assembly.radius_consistency import exactness_of, level_of
from tts.verify.consensus.answer_regions import regions_of
from tts.verify.consensus.calibration import Calibration
from tts.verify.consensus.clusters import Cluster
from tts.verify.consensus.guesswork import CENTRE_KM
from tts.verify.consensus.peaks import peaks_of
from tts.verify.consensus.spread_features import Spread
from tts.verify.evidence.ledger import Finding, LedgerEntry, RolloutLedger
from tts.verify.evidence.shown_evidence import numbered_evidence
from tts.verify.evidence.world import World

_MAX_EVIDENCE = 24
_W = weights("verdict")
_MIN_POINT_GROUNDING = _W["tied"]
_MIN_TOWN_GROUNDING = _W["firm"]
_R = weights("radii")
_MIN_OTHER_P50_KM = _R["other_candidate_km"]
OTHER_CANDIDATE_90 = _R["other_candidate_90"]
_MAX_OTHER_P50_KM = HALF_CIRCUMFERENCE_KM / OTHER_CANDIDATE_90
_FINDING_RANKS = {Finding.SUPPORTED: 0, Finding.CONTRADICTED: 1, Finding.NOT_DONE: 1}
_SUBJECT_RANKS = {
    "point": 0,
    "phone": 1,
    "postcode": 1,
    "script": 1,
    "domain": 1,
    "language": 2,
    "country": 3,
    "name": 4,
}


def verdict_for(
    clusters: Sequence[Cluster],
    ledgers: Sequence[RolloutLedger],
    spread: Spread,
    calibration: Calibration,
    *,
    target_radius_km: float,
    world: World,
    within: Area | None = None,
    lines: Belief | None = None,
) -> Verdict:
    """The first cluster as the answer; an abstention when even its median error would be a continent. What the caller's
    area says by itself is no evidence. `lines` is the belief from what was read, where the rollouts state that."""
    winner = clusters[0]
    error_distribution = calibration.error_distribution(spread)
    if error_distribution.radius.p50 > CONTINENT_KM:
        return abstention(ledgers, target_radius_km, world)
    finest = max((v.ledger.hypothesis for v in (winner.anchor, *winner.members)), key=lambda h: h.level.rank)
    stated_level = finest.level
    grounding = max(vote.ledger.grounding for vote in winner.members)
    stands_for_area = grounding < _MIN_POINT_GROUNDING or (
        stated_level.rank <= Level.CITY.rank and _is_town_centre(winner.centre, finest, world)
    )
    exact = exactness_of(
        error_distribution,
        target_km=target_radius_km,
        stated=stated_level if stands_for_area else None,
        town_found=grounding >= _MIN_TOWN_GROUNDING
        and stated_level.rank >= Level.CITY.rank
        and not calibration.knows_tools,
    )
    regions = regions_of(peaks_of(clusters, lines, exact.radius.p90), exact.radius.p90, calibration.regions)
    names = names_at(winner.centre, exact.level, winner.anchor.ledger.hypothesis, world)
    return Verdict(
        lat=round(winner.centre.lat, 6),
        lon=round(winner.centre.lon, 6),
        radius_km=exact.radius,
        level=exact.level,
        abstained=False,
        **names,
        town_centre=bool(names["city"]) and not names["place"] and stated_level.rank <= Level.CITY.rank,
        confidence=exact.confidence,
        target_radius_km=target_radius_km,
        explanation=_explanation(clusters, ledgers, names["city"] or names["region"] or names["country"], within),
        candidates=tuple(_candidate(cluster, exact.radius, winner, world) for cluster in clusters),
        evidence=tuple(_evidence(winner, ledgers, within))[:_MAX_EVIDENCE],
        warnings=tuple(_warnings(ledgers)),
        region_50=regions.region_50 if regions is not None else None,
        region_90=regions.region_90 if regions is not None else None,
    )


def abstention(ledgers: Sequence[RolloutLedger], target_radius_km: float, world: World) -> Verdict:
    """No point; the country only when every rollout that names one names the same."""
    countries = {
        country.code
        for ledger in ledgers
        if (country := world.countries.find(ledger.hypothesis.country or ledger.hypothesis.country_code)) is not None
    }
    code = countries.pop() if len(countries) == 1 else ""
    return Verdict(
        lat=None,
        lon=None,
        radius_km=None,
        level=Level.COUNTRY if code else Level.NONE,
        abstained=True,
        country=world.countries.name(code) if code else "",
        country_code=code,
        confidence=0.0,
        target_radius_km=target_radius_km,
        explanation="Nothing that was found supports a place." if ledgers else "No rollout reached an answer.",
        warnings=tuple(_warnings(ledgers)),
    )


def _is_town_centre(point: LatLon, named: Hypothesis, world: World) -> bool:
    """Whether the point is the centre of the town that this hypothesis names, and no place in it is named. The point
    then stands for the whole town; a calibration that was fitted to centres of towns cannot know that."""
    at_centre = bool(named.city) and world.place_named(named.city, point, within_km=CENTRE_KM) is not None
    return at_centre and normalise(named.place) in ("", normalise(named.city))


def photo_answer(photo: int, found: Verdict) -> PhotoAnswer:
    """The verdict on one photo of several, as the answer carries it. No rollout answered for it alone, so that its
    reasons are what was read in it."""
    return PhotoAnswer(
        photo=photo, **{name: getattr(found, name) for name in PhotoAnswer.model_fields if name != "photo"}
    )


def _candidate(cluster: Cluster, radius: Radius, winner: Cluster, world: World) -> Candidate:
    hypothesis = cluster.anchor.ledger.hypothesis
    p50, p90 = radius.p50, radius.p90
    if cluster is not winner:
        p50 = min(_MAX_OTHER_P50_KM, max(p50, *(v.reach_km for v in cluster.members), _MIN_OTHER_P50_KM))
        p90 = min(HALF_CIRCUMFERENCE_KM, max(p90, OTHER_CANDIDATE_90 * p50))
    entries = [entry for vote in cluster.members for entry in vote.ledger.entries]
    against = [e.claim for e in entries if not e.supports]
    if cluster is not winner:
        away = distance_km(cluster.centre, winner.centre)
        more = winner.support > cluster.support
        against.insert(0, f"{'more of the evidence' if more else 'the chosen answer'} points {away:,.0f} km away")
    return Candidate(
        lat=round(cluster.centre.lat, 6),
        lon=round(cluster.centre.lon, 6),
        radius_km=Radius(p50=p50, p90=p90),
        **names_at(cluster.centre, level_of(p50), hypothesis, world),
        support=round(cluster.support, 4),
        rollouts=cluster.rollouts,
        dissent=tuple(dict.fromkeys(against))[:6],
    )


def _evidence(winner: Cluster, ledgers: Sequence[RolloutLedger], within: Area | None) -> Iterator[Evidence]:
    """For the answer first, firmest first; then what speaks against it; each statement once."""
    winner_ids = set(winner.rollouts)
    shown = [ledger for ledger in ledgers if ledger.rollout_id in winner_ids] or [v.ledger for v in winner.members]
    rows = [(ledger, entry) for ledger in shown for entry in ledger.entries if _is_evidence(entry, within)]
    rows.sort(key=lambda row: (_evidence_rank(row[1]), row[0].rollout_id))
    statements: dict[tuple[str, str], tuple[RolloutLedger, LedgerEntry]] = {}
    for ledger, entry in rows:
        statements.setdefault((entry.claim, entry.quote), (ledger, entry))
    for number, (ledger, entry) in enumerate(statements.values(), 1):
        yield numbered_evidence(entry, ledger, number)


def _is_evidence(entry: LedgerEntry, within: Area | None) -> bool:
    """Orders are none; nor are calls that distinguish no places. Where the caller asked for points in an area, nor is
    that a point lies in its country, nor what a tool says about a point that the rollout put in."""
    if entry.about == "order" or entry.finding is Finding.UNDECIDED:
        return False
    circular = within is not None and entry.finding is Finding.SUPPORTED
    return not (circular and (entry.about == "country" or entry.of_own_point))


def _evidence_rank(entry: LedgerEntry) -> tuple[int, int]:
    finding = 1 if entry.against else _FINDING_RANKS.get(entry.finding, 2)
    return finding, _SUBJECT_RANKS.get(entry.about, 5)


def _explanation(clusters: Sequence[Cluster], ledgers: Sequence[RolloutLedger], where: str, within: Area | None) -> str:
    winner = clusters[0]
    where = where or "this place"
    n, total = len(winner.rollouts), len(ledgers)
    entries = [entry for vote in winner.members for entry in vote.ledger.entries if _is_evidence(entry, within)]
    checked = [entry for entry in entries if entry.finding is Finding.SUPPORTED]
    if n:
        sentence = f"{n} of {total} rollout{'s' if total > 1 else ''} point{'s' if n == 1 else ''} to {where}"
    elif any(vote.ledger.is_unchosen for vote in winner.members):
        sentence = f"No rollout answered {where}; the verifier's own questions point there"
    else:
        sentence = f"The text that was read, taken together, points to {where}"
    if within is not None and not checked:
        text = f"{sentence}. Only the area you gave supports this."
    else:
        text = f"{sentence}. {_support_text(winner, checked)}"
    if n and any(vote.ledger.is_pooled for vote in winner.members):
        text += " The text that all rollouts read, taken together, points there too."
    others = len(clusters) - 1
    if others:
        text += f" There {f'are {others} other candidates' if others > 1 else 'is one other candidate'}."
    return text + _undecided_text(ledgers)


def _undecided_text(ledgers: Sequence[RolloutLedger]) -> str:
    """A sentence for each search of the verifier that distinguished no places."""
    claims = [e.claim for ledger in ledgers for e in ledger.entries if e.finding is Finding.UNDECIDED]
    return "".join(f" {claim[0].upper()}{claim[1:]}." for claim in dict.fromkeys(claims))


def _support_text(winner: Cluster, checked: Sequence[LedgerEntry]) -> str:
    """How far the point rests on what tools returned or on what was read, as a sentence."""
    firm = max(vote.ledger.grounding for vote in winner.members)
    if firm >= _MIN_POINT_GROUNDING:
        source = "results of tools" if any(entry.tool for entry in checked) else "the text in the photo"
        return f"The point rests on {source}."
    return "Only weak evidence supports the point." if firm > 0 else "No lookup confirmed this point."


def _warnings(ledgers: Sequence[RolloutLedger]) -> Iterator[str]:
    yield from sorted({entry.claim for ledger in ledgers for entry in ledger.entries if entry.about == "order"})
    for ledger in sorted(ledgers, key=lambda row: row.rollout_id):
        for entry in ledger.entries:
            if entry.finding is Finding.NOT_DONE:
                yield f"rollout {ledger.rollout_id} {entry.claim}"
