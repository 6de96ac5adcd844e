"""The verifier without a model: ledgers, weighted votes, clusters, calibrated radii.

Deterministic, indifferent to the order of rollouts, works from one rollout up, and never takes a rollout's own
confidence at face value.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from tts.clues.belief import Belief
from tts.clues.hints import hint_of
from tts.clues.ruled_out_places import RuledOut
from tts.domain.answer import PhotoAnswer, Verdict
from tts.domain.geo import Area, Countries
from tts.domain.reach import reach_of
from tts.domain.reading import Reading
from tts.domain.trajectory import Trajectory
from tts.ports.verification import VerdictText, VerifyRequest
from tts.verify.assembly.verdict import abstention, photo_answer, verdict_for
from tts.verify.consensus.area_constraint import (
    FIRM,
    ResultsOutsideArea,
    contradicts_area,
    lies_inside,
    outside_verdict,
)
from tts.verify.consensus.calibration import Calibration
from tts.verify.consensus.clusters import Cluster, clusters_of
from tts.verify.consensus.pooled_lines import PooledVote, pool_lines, read_vote
from tts.verify.consensus.reliability import Reliability
from tts.verify.consensus.ruled_out_evidence import RejectedPlace, rejected_of, ruled_out_place_of, with_rejected
from tts.verify.consensus.spread_features import Spread, spread_of
from tts.verify.consensus.votes import Vote, votes_from
from tts.verify.evidence.hint_check import check_hint, with_hint
from tts.verify.evidence.ledger import RolloutLedger
from tts.verify.evidence.ledger_builder import build_ledger
from tts.verify.evidence.reading_belief import ReadBelief, read_belief
from tts.verify.evidence.several_photos import DifferentPlaces, OnePhoto, find_different_places
from tts.verify.evidence.world import World
from tts.verify.verifiers.photos_and_caller import photos_verdict

_NOTHING_RULED_OUT = RuledOut()
_MIN_CHARS_FOR_THREAD = 100_000  # a verdict on less takes some milliseconds: going to a thread and back costs as much


@dataclass(frozen=True, slots=True)
class Judgement:
    """Everything between trajectories and verdict; calibration is fitted on it. Without votes there are no clusters.

    `outside` is set when nothing in the caller's area is answered, `different_places` when the photos are not of one
    place: then there are no clusters either. `rejected` is a place that the caller ruled out and something points to.
    `read` is what the photo says without the caller, where the caller said something.
    `lines` is the belief from what the rollouts state that they read, inside the caller's area.
    """

    ledgers: tuple[RolloutLedger, ...]
    votes: tuple[Vote, ...]
    clusters: tuple[Cluster, ...]
    spread: Spread | None
    outside: ResultsOutsideArea | None = None
    different_places: DifferentPlaces | None = None
    read: ReadBelief | None = None
    rejected: RejectedPlace | None = None
    lines: Belief | None = None


@dataclass(frozen=True, eq=False)
class ConsensusVerifier:
    """The `Verifier` port over a world and a calibration."""

    world: World
    calibration: Calibration
    reliability: Reliability | None = None

    async def verify(self, request: VerifyRequest) -> AsyncIterator[VerdictText | Verdict]:
        """Yields the whole explanation, then the verdict. Long trajectories are judged in a thread."""
        is_long = sum(len(trajectory.text) for trajectory in request.trajectories) > _MIN_CHARS_FOR_THREAD
        verdict = await asyncio.to_thread(self.decide, request) if is_long else self.decide(request)
        yield VerdictText(text=verdict.explanation)
        yield verdict

    def judge(self, request: VerifyRequest) -> Judgement:
        """Ledgers, votes and clusters of a request, before calibration."""
        return judge(
            request.trajectories,
            request.readings,
            self.world,
            within=request.options.within,
            hint=request.options.hint,
            photos=1 if reach_of(request.options, len(request.photos)) else max(1, len(request.photos)),
            ruled_out=RuledOut.from_options(request.options),
            trust=trust_in(request.trajectories, self.reliability),
        )

    def decide(self, request: VerifyRequest, judgement: Judgement | None = None) -> Verdict:
        """The verdict. `judgement` saves the work where `judge` was called before for this request."""
        judgement = judgement or self.judge(request)
        winner = judgement.clusters[0] if judgement.clusters else None
        return self.answering_the_caller(request, judgement, self._verdict_from_judgement(request, judgement), winner)

    def answering_the_caller(
        self, request: VerifyRequest, judgement: Judgement, verdict: Verdict, winner: Cluster | None
    ) -> Verdict:
        """The verdict with what became of the hint, and of the places that were ruled out. `winner` has the votes for
        the answer. Photos that are not of one place have been compared with them already, each by itself."""
        if judgement.different_places is not None:
            return verdict
        verdict = with_rejected(verdict, judgement.rejected)
        hint = request.options.hint
        if not hint or self.world.clues is None:
            return verdict
        votes = winner.members if winner is not None else ()
        firm = any(vote.ledger.grounding >= FIRM for vote in votes)
        outcome = check_hint(hint_of(hint, self.world.clues), verdict, judgement.read, firm=firm, world=self.world)
        return with_hint(verdict, outcome, hint)

    def _verdict_from_judgement(self, request: VerifyRequest, judgement: Judgement) -> Verdict:
        world, options, within = self.world, request.options, request.options.within
        target_km = options.target_radius_km
        make = partial(verdict_for, calibration=self.calibration, target_radius_km=target_km, world=world)
        if (different := judgement.different_places) is not None:
            answers = [answer_for_photo(one, self.calibration, target_km, world) for one in different.photos]
            return photos_verdict(answers, different.photos, different.sentence_start, options, world)
        if (outside := judgement.outside) is not None and within is not None:
            found = make(outside.clusters, judgement.ledgers, outside.spread) if outside.spread else None
            blank = abstention((), target_km, world)
            return outside_verdict(found, within, judgement.read, blank, world, contradicted=outside.contradicted)
        if judgement.spread is None:
            return abstention(judgement.ledgers, target_km, world)
        return make(judgement.clusters, judgement.ledgers, judgement.spread, within=within, lines=judgement.lines)


def answer_for_photo(photo: OnePhoto, calibration: Calibration, target_km: float, world: World) -> PhotoAnswer:
    """The answer for one of several photos by itself: the whole way from its ledger to a verdict."""
    judgement = weigh([photo.ledger] if photo.ledger is not None else [], 1, world)
    clusters, ledgers, spread = judgement.clusters, judgement.ledgers, judgement.spread
    if spread is None:
        return photo_answer(photo.number, abstention(ledgers, target_km, world))
    return photo_answer(
        photo.number, verdict_for(clusters, ledgers, spread, calibration, target_radius_km=target_km, world=world)
    )


def trust_in(
    trajectories: Sequence[Trajectory], reliability: Reliability | None
) -> Mapping[int, tuple[float, ...]] | None:
    """How reliable the source of each rollout is; None where nothing is known of sources."""
    if reliability is None:
        return None
    return {one.rollout_id: reliability.factors_of(one.source) for one in trajectories if one.source} or None


def judge(
    trajectories: Sequence[Trajectory],
    readings: Sequence[Reading],
    world: World,
    *,
    within: Area | None = None,
    hint: str | None = None,
    photos: int = 1,
    trust: Mapping[int, tuple[float, ...]] | None = None,
    ruled_out: RuledOut = _NOTHING_RULED_OUT,
) -> Judgement:
    """Weigh trajectories. Votes outside the area the caller named, and those in places that were ruled out, do not
    count; where the photo speaks against the area, those inside do not either. `photos` counts those of the request.
    `trust` has the reliability of the source of each rollout (`tts.verify.consensus.reliability`), where sources are
    known."""
    parsed_hint = hint_of(hint, world.clues) if hint and world.clues is not None else None
    built = [build_ledger(trajectory, readings, world, hint) for trajectory in trajectories]
    ledgers = tuple(ledger for ledger in built if ledger is not None)
    if different_places := find_different_places(trajectories, readings, photos, world):
        return Judgement(ledgers, (), (), None, different_places=different_places)
    has_caller_input = within is not None or bool(hint) or bool(ruled_out)
    read = read_belief(trajectories, readings, world.clues) if has_caller_input and world.clues is not None else None
    allowed = [ledger for ledger in ledgers if ruled_out_place_of(ledger, ruled_out, world) is None]
    votes = votes_from([ledger for ledger in allowed if lies_inside(ledger, within, world)], world)
    votes = [replace(vote, trust=(trust or {}).get(vote.ledger.rollout_id, ())) for vote in votes] if trust else votes
    rejected = rejected_of(ledgers, votes, read, ruled_out, world) if ruled_out else None
    outside: ResultsOutsideArea | None = None
    if within is not None:
        outside_ledgers = [
            row for row in allowed if lies_inside(row, None, world) and not lies_inside(row, within, world)
        ]
        outside_votes = votes_from(outside_ledgers, world)
        outside = _results_outside_area(trajectories, readings, outside_votes, read, within, world)
        if contradicts_area(within, votes, outside_votes, read, world):
            return Judgement(ledgers, (), (), None, outside=replace(outside, contradicted=True), read=read)
    pooled = pool_lines(trajectories, readings, votes, world, within, parsed_hint, hint, ruled_out)
    if pooled.vote is not None and not _may_have_vote(pooled.vote.ledger, within, ruled_out, world):
        pooled = PooledVote()
    found = weigh_votes(ledgers, [] if pooled.doubted else votes, pooled.vote, len(trajectories), world)
    lines = None if within is not None and not isinstance(within, Countries) else pooled.belief
    outside = None if found.clusters else outside
    return replace(found, read=read, outside=outside, rejected=rejected, lines=lines)


def _may_have_vote(ledger: RolloutLedger, within: Area | None, ruled_out: RuledOut, world: World) -> bool:
    return lies_inside(ledger, within, world) and ruled_out_place_of(ledger, ruled_out, world) is None


def weigh(ledgers: Sequence[RolloutLedger], rollouts: int, world: World, *, within: Area | None = None) -> Judgement:
    """From ledgers on: votes, clusters, spread. `rollouts` counts all that ended, also those without a ledger."""
    votes = votes_from([ledger for ledger in ledgers if lies_inside(ledger, within, world)], world)
    return weigh_votes(ledgers, votes, None, rollouts, world)


def weigh_votes(
    ledgers: Sequence[RolloutLedger], votes: Sequence[Vote], together: Vote | None, rollouts: int, world: World
) -> Judgement:
    """From votes on. The agreement of votes is that of the rollouts, as far as there are any; `together` is the
    vote of what all of them read."""
    every = [*votes, together] if together is not None else list(votes)
    if not every:
        return Judgement(tuple(ledgers), (), (), None)
    clusters = clusters_of(every, world)
    spread = spread_of(clusters[0], votes or every, rollouts, world)
    return Judgement(tuple(ledgers), tuple(every), tuple(clusters), spread)


def _results_outside_area(
    trajectories: Sequence[Trajectory],
    readings: Sequence[Reading],
    outside_votes: Sequence[Vote],
    read: ReadBelief | None,
    within: Area,
    world: World,
) -> ResultsOutsideArea:
    """What votes outside the area and everything that was read lead to, weighed as if no area had been given."""
    vote_of_text = read_vote(trajectories, readings, read, world)
    counts = vote_of_text is not None and not lies_inside(vote_of_text.ledger, within, world)
    found = weigh_votes((), outside_votes, vote_of_text if counts else None, len(trajectories), world)
    return ResultsOutsideArea(False, found.clusters, found.spread)
