"""Rollouts about a shop of a chain: what they read of its sign, look up, and take."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tts.domain.hypothesis import Claim, Hypothesis
from tts.domain.tooling import Fact
from tts.domain.trajectory import Trajectory
from tts.eval.synthetic.atlas import Atlas
from tts.eval.synthetic.branches import Branch, page_of, place_of, search_both_lines
from tts.eval.synthetic.rollout_events import RolloutWriter
from tts.eval.synthetic.rollout_kinds import belief, point_near

_UNFOUNDED_REASONS = (
    "The facades do not fit, though. Back to {town}.",
    "But that line may be an advertisement. {town} remains more likely.",
    "On reflection the street looks more like {town}.",
)


def hasty_rollout(atlas: Atlas, rng: random.Random, taken: Branch, listed: Sequence[Branch]) -> Trajectory:
    """Looks up the big name and takes the first hit."""
    writer = RolloutWriter()
    if rng.random() < 0.5:
        facts: Sequence[Fact] = [place_of(one) for one in listed]
        call = writer.call(f"The sign says “{taken.name}”.", "poi_keyword_search", {"query": taken.name}, facts)
    else:
        query = f"{taken.name} {rng.choice(('address', 'opening hours', 'map'))}"
        facts = [page_of(one, i + 1, query) for i, one in enumerate(listed)]
        call = writer.call(f"The sign says “{taken.name}”.", "web_search", {"query": query}, facts)
    return writer.end(f"So this is in {taken.town.name}.", _cited_hypothesis(atlas, rng, taken, call))


def wavering_rollout(atlas: Atlas, rng: random.Random, seen: Branch, taken: Branch) -> Trajectory:
    """Finds one branch, believes it for a turn, and takes another in the end."""
    writer = RolloutWriter()
    call = search_both_lines(writer, seen)
    writer.believe(f"{seen.town.name}, then.", _cited_hypothesis(atlas, rng, seen, call))
    last = writer.call("And the name alone?", "poi_keyword_search", {"query": taken.name}, [place_of(taken)])
    return writer.end(
        rng.choice(_UNFOUNDED_REASONS).format(town=taken.town.name), _cited_hypothesis(atlas, rng, taken, last)
    )


def thorough_rollout(atlas: Atlas, rng: random.Random, ours: Branch) -> Trajectory:
    """Looks up both lines, and stays with what it found."""
    writer = RolloutWriter()
    call = search_both_lines(writer, ours)
    return writer.end("This page has the very line.", _cited_hypothesis(atlas, rng, ours, call))


def _cited_hypothesis(atlas: Atlas, rng: random.Random, branch: Branch, call: str) -> Hypothesis:
    claim = Claim(text=f"{branch.name} is in {branch.town.name}", call_id=call, quote=branch.name)
    return belief(
        atlas, branch.town, point_near(rng, branch.town.point, 1.0), confidence=rng.uniform(0.6, 0.95), claims=[claim]
    )
