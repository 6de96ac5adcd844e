"""The candidates of the verifier's questions: final answers, and places that no rollout chose.

Three kinds are unchosen: what a rollout believed in an earlier turn, a place whose tool statement repeats a line of the
photo, and the town of a page that repeats one. The last two count only where the leading answer is not known to repeat
that line. None of them has a vote: questions decide whether it gets one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tts.clues.ruled_out_places import RuledOut
from tts.decision_weights import weights
from tts.domain.geo import Area, LatLon, distance_km
from tts.domain.hypothesis import Hypothesis, Level
from tts.domain.reading import Reading
from tts.domain.tooling import PlaceFact, WebFact
from tts.domain.trajectory import Trajectory
from tts.geodata.gazetteer import Place
from tts.geodata.names import normalise
from tts.verify.consensus.area_constraint import lies_inside
from tts.verify.consensus.clusters import Cluster
from tts.verify.consensus.ruled_out_evidence import ruled_out_place_of
from tts.verify.consensus.votes import Vote, point_of, votes_from
from tts.verify.evidence.grounding import NEAR_KM
from tts.verify.evidence.ledger_builder import build_ledger
from tts.verify.evidence.world import World
from tts.verify.inquiry.question import MOST_PLACES
from tts.verify.inquiry.tool_statements import ToolStatement, ToolStatements, contains_phrase

_MAX_UNCHOSEN = 2
_MAX_TOWN_KM = weights("inquiry")["town_km"]
_NOTHING_RULED_OUT = RuledOut()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A place with the votes for it. An unchosen one has a single vote, which counts once questions admit it.

    `searched_lines` are the lines whose search led to it: that a tool returns it for such a line again says nothing
    new.
    """

    point: LatLon
    city: str
    country_code: str
    votes: tuple[Vote, ...]
    is_unchosen: bool = False
    searched_lines: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The town as people read it; the point where there is none."""
        return self.city or str(self.point)

    def is_named_in(self, statement: ToolStatement) -> bool:
        """Whether a statement is about this place: about a point within 25 km of it, or a page that names its town."""
        return statement.is_about(self.point, self.city)


@dataclass(frozen=True, slots=True)
class CandidateInputs:
    """What candidates are made from: the rollouts of a request, what was read, and where an answer may lie."""

    trajectories: tuple[Trajectory, ...]
    readings: tuple[Reading, ...]
    world: World
    within: Area | None = None
    ruled_out: RuledOut = _NOTHING_RULED_OUT


def final_candidates(clusters: Sequence[Cluster], stated: ToolStatements, world: World) -> list[Candidate]:
    """The leading final answers, the first of them the answer as it stands."""
    found = []
    for cluster in clusters[:MOST_PLACES]:
        best = cluster.anchor.ledger.hypothesis
        city, code = _town_and_country_code(cluster.centre, best.city, best.country_code, world)
        found.append(_with_searched_lines(Candidate(cluster.centre, city, code, cluster.members), stated))
    return found


def unchosen_candidates(
    inputs: CandidateInputs, stated: ToolStatements, beside: Sequence[Candidate]
) -> list[Candidate]:
    """The best places that no rollout answers, at most two. `beside` are the final answers."""
    leader = stated.repeated_lines(beside[0].is_named_in)
    candidates: list[Candidate] = []
    for rollout_id, hypothesis in [*_believed_places(inputs), *_named_places(inputs, stated, leader)]:
        if all(distance_km(point_of(hypothesis), other.point) > NEAR_KM for other in [*beside, *candidates]):
            candidate = _candidate(inputs, stated, rollout_id, hypothesis)
            candidates += [candidate] if candidate is not None else []
    candidates.sort(
        key=lambda one: (-len(stated.repeated_lines(one.is_named_in) - leader), -one.votes[0].weight, one.name)
    )
    return candidates[:_MAX_UNCHOSEN]


def places_of(statement: ToolStatement, world: World) -> Iterator[Hypothesis]:
    """The place that a tool stated, or the town that a page is about."""
    fact = statement.fact
    if isinstance(fact, PlaceFact) and fact.point is not None:
        is_town = fact.place_kind == "city"
        city, code = _town_and_country_code(fact.point, fact.name if is_town else "", fact.country_code, world)
        yield Hypothesis(
            point=fact.point, city=city, country_code=code, region=fact.admin1, place="" if is_town else fact.name
        )
    elif isinstance(fact, WebFact) and (town := _town_of_page(statement, world)) is not None:
        yield Hypothesis(
            point=town.point, city=town.name, country_code=town.country_code, region=town.admin1, level=Level.CITY
        )


def _town_of_page(page: ToolStatement, world: World) -> Place | None:
    """The town that a page is about: one that it names beside its region or country, else the most telling name. Words
    of a line of the photo are no town: a street may be called after one."""
    fact = page.fact
    if world.clues is None or not isinstance(fact, WebFact):
        return None
    towns: list[tuple[bool, Place]] = []
    for mention in world.clues.leads({fact.title: 1.0, fact.snippet: 1.0}).mentions:
        if any(contains_phrase(normalise(line), mention.name) for line in page.lines):
            continue
        for place in (match.place for match in mention.matches if match.place.kind == "city"):
            names_area = contains_phrase(page.words, place.admin1) or contains_phrase(
                page.words, world.countries.name(place.country_code)
            )
            towns.append((not names_area, place))
    return min(towns, key=lambda found: found[0], default=(True, None))[1]


def _believed_places(inputs: CandidateInputs) -> Iterator[tuple[int, Hypothesis]]:
    """What rollouts believed in a turn and left."""
    for trajectory in inputs.trajectories:
        for turn in trajectory.turns:
            for hypothesis in turn.hypotheses:
                if hypothesis.point is not None and hypothesis != trajectory.best:
                    yield trajectory.rollout_id, hypothesis


def _named_places(
    inputs: CandidateInputs, stated: ToolStatements, leader: frozenset[str]
) -> Iterator[tuple[int, Hypothesis]]:
    """Places in tool results that repeat a line which the leader is not known to repeat, most lines first."""
    statements = [one for one in stated.statements if one.lines - leader]
    for one in sorted(statements, key=lambda one: (-len(one.lines - leader), one.words, one.rollout_id)):
        for hypothesis in places_of(one, inputs.world):
            yield one.rollout_id, hypothesis


def _candidate(
    inputs: CandidateInputs, stated: ToolStatements, rollout_id: int, hypothesis: Hypothesis
) -> Candidate | None:
    """With the ledger that its rollout would have had, had it answered this; None outside the caller's
    area, and in a place that the caller ruled out."""
    turns = next((t.turns for t in inputs.trajectories if t.rollout_id == rollout_id), ())
    trajectory = Trajectory(rollout_id=rollout_id, turns=turns, answer=hypothesis)
    ledger = build_ledger(trajectory, inputs.readings, inputs.world)
    if ledger is None or not lies_inside(ledger, inputs.within, inputs.world):
        return None
    if ruled_out_place_of(ledger, inputs.ruled_out, inputs.world) is not None:
        return None
    vote = votes_from([ledger.model_copy(update={"is_unchosen": True})], inputs.world)[0]
    city, code = _town_and_country_code(vote.point, hypothesis.city, hypothesis.country_code, inputs.world)
    return _with_searched_lines(Candidate(vote.point, city, code, (vote,), is_unchosen=True), stated)


def _with_searched_lines(candidate: Candidate, stated: ToolStatements) -> Candidate:
    return replace(candidate, searched_lines=stated.lines_leading_to(candidate.city, candidate.is_named_in))


def _town_and_country_code(point: LatLon, city: str, code: str, world: World) -> tuple[str, str]:
    """The town and the ISO code of the country at a point, where a statement leaves them open."""
    near = world.gazetteer.nearest_town(point, max_km=_MAX_TOWN_KM)
    country = world.country_near(point)
    return city or (near.name if near is not None else ""), (country.code if country is not None else code)
