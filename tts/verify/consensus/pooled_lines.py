"""Combines the lines that all rollouts read into one belief, because each rollout may have only a part of the evidence.

Rollouts that state the lines they go by (`Hypothesis.read`) each followed some of them, enlarged one or another, or had
one read as another language. Their answers are votes; their lines are evidence, and evidence adds up where votes only
outnumber each other: a name that one rollout could read fits the country that another knew. A line counts that
perception or a tool read, or that two rollouts state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tts.clues.belief import Belief
from tts.clues.belief_with_caller import belief_with_caller
from tts.clues.clue_reader import ClueReader, Leads
from tts.clues.conclusion import conclusion, is_worth_a_point
from tts.clues.hints import Hint
from tts.clues.lookups import pair_lookups
from tts.clues.ruled_out_places import RuledOut
from tts.decision_weights import weights
from tts.domain.geo import Area
from tts.domain.hypothesis import Hypothesis
from tts.domain.reading import Reading, TextLine
from tts.domain.trajectory import Trajectory
from tts.verify.consensus.votes import Vote, votes_from
from tts.verify.evidence.ledger import POOLED
from tts.verify.evidence.ledger_builder import build_ledger
from tts.verify.evidence.prompt_injection import line_speaks_to_the_model
from tts.verify.evidence.reading_belief import ReadBelief, text_facts
from tts.verify.evidence.world import World

_MIN_ROLLOUTS = 2
# in units of all votes of the rollouts whose lines it pools
_POOLED_VOTE_WEIGHT = weights("verdict")["pooled"]


@dataclass(frozen=True, slots=True)
class PooledVote:
    """What all lines together lead to: one more vote, or none. `doubted` when they say too little to answer and most
    of the rollouts that state them found so too: then the few that guessed do not decide. `belief` is what the lines
    say, where they say enough to answer; lines of one rollout give a belief and no vote."""

    vote: Vote | None = None
    doubted: bool = False
    belief: Belief | None = None


def pool_lines(
    trajectories: Sequence[Trajectory],
    readings: Sequence[Reading],
    votes: Sequence[Vote],
    world: World,
    within: Area | None = None,
    hint: Hint | None = None,
    statement: str | None = None,
    ruled_out: RuledOut | None = None,
) -> PooledVote:
    """Weigh the lines of all rollouts that state any; they have to be two. The vote has the evidence of all of them.
    The caller's hint counts as far as the caller is believed, and never without a line. `statement` is the hint in the
    caller's words."""
    stating_rollouts = [t for t in trajectories if t.best is not None and t.best.read]
    if world.clues is None or not stating_rollouts:
        return PooledVote()
    lines = list(_counted_lines(stating_rollouts, readings))
    leads = _pooled_leads(lines, stating_rollouts, world.clues)
    whole_belief = belief_with_caller(leads, world.clues, within, hint, ruled_out)
    belief = whole_belief if is_worth_a_point(whole_belief, leads) else None
    if len(stating_rollouts) < _MIN_ROLLOUTS:
        return PooledVote(belief=belief)
    stating_ids = {t.rollout_id for t in stating_rollouts}
    their_votes = [vote for vote in votes if vote.ledger.rollout_id in stating_ids]
    if belief is None:
        return PooledVote(doubted=len(their_votes) == len(votes) and 2 * len(their_votes) < len(stating_rollouts))
    found = conclusion(belief, world.clues.countries).model_copy(update={"read": tuple(lines)})
    vote = _vote_for(found, stating_rollouts, readings, world, statement)
    weight = sum(vote.weight for vote in their_votes) or 1.0
    return PooledVote(replace(vote, weight=_POOLED_VOTE_WEIGHT * weight) if vote is not None else None, belief=belief)


def read_vote(
    trajectories: Sequence[Trajectory], readings: Sequence[Reading], read: ReadBelief | None, world: World
) -> Vote | None:
    """The vote of what was read by itself, with the evidence of all rollouts; None where that gives no answer."""
    if read is None or read.hypothesis is None:
        return None
    return _vote_for(read.hypothesis, trajectories, readings, world)


def _vote_for(
    answer: Hypothesis,
    trajectories: Sequence[Trajectory],
    readings: Sequence[Reading],
    world: World,
    statement: str | None = None,
) -> Vote | None:
    """The vote of some rollouts together, as if one with all their turns had given the answer."""
    turns = tuple(turn for trajectory in trajectories for turn in trajectory.turns)
    ledger = build_ledger(Trajectory(rollout_id=POOLED, turns=turns, answer=answer), readings, world, statement)
    votes = votes_from([ledger], world) if ledger is not None else []
    return votes[0] if votes else None


def _pooled_leads(lines: Sequence[TextLine], trajectories: Sequence[Trajectory], reader: ClueReader) -> Leads:
    """What the lines of some rollouts point to together."""
    lookups = [pair for t in trajectories for turn in t.turns for pair in pair_lookups(turn.calls, turn.results)]
    leads = reader.leads(reader.lines.texts(lines), lookups, beside=reader.lines.neighbours_of_lines(lines))
    mentions = {mention.name: mention for mention in leads.mentions}
    return Leads(leads.clues, tuple(mentions[name] for name in sorted(mentions)))


def _counted_lines(stating_rollouts: Sequence[Trajectory], readings: Sequence[Reading]) -> Iterator[TextLine]:
    """Each line once, in an order that does not depend on that of the rollouts."""
    shown_texts = {line.text for reading in readings for line in reading.lines}
    shown_texts |= {fact.text for fact in text_facts(stating_rollouts)}
    rollout_counts = Counter(line for t in stating_rollouts if t.best is not None for line in set(t.best.read))
    for line in sorted(rollout_counts, key=lambda line: (line.language, -line.box.area, line.model_dump_json())):
        counts = line.text in shown_texts or rollout_counts[line] >= _MIN_ROLLOUTS
        if counts and not line_speaks_to_the_model(line):
            yield line
