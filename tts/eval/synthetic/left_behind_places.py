"""A family: no rollout answers the right town, but the request has evidence for it, or could find some.

A shop of a chain bears its name and one line of small print. In `middle turn` one rollout found the branch with that
line and left it again; in `second hit` the right branch stood below the first in a list of results; in `unasked` nobody
looked the small print up. All rollouts end at other branches, most of them at the same one. Where a scenario is easy,
the crowd is right, has looked up both lines, and one rollout has left a wrong branch behind: nothing is to be
recovered, and a verifier that likes what was left behind loses.

`extra_rollout` is the rollout that the same calls would buy: of the same policy, which reads the small print in one of
four.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from tts.domain.hypothesis import Claim, Hypothesis
from tts.domain.tooling import Fact
from tts.domain.trajectory import Trajectory
from tts.eval.synthetic.atlas import Atlas
from tts.eval.synthetic.branches import Branch, chain, page_of, place_of
from tts.eval.synthetic.cast import Cast
from tts.eval.synthetic.rollout_events import RolloutWriter
from tts.eval.synthetic.rollout_kinds import belief, point_near

_THOROUGH_ONE_IN = 4
_WHIMS = (
    "The facades do not fit, though. Back to {town}.",
    "But that line may be an advertisement. {town} remains more likely.",
    "On reflection the street looks more like {town}.",
)


def left_behind(atlas: Atlas, rng: random.Random, *, easy: bool) -> Cast:
    """The truth is only in a middle turn, in a list of results, or behind an unasked question."""
    kind = rng.choice(("middle turn", "second hit", "unasked"))
    ours, theirs = chain(atlas, rng, rng.choice(("country line", "street line")))
    third = theirs.branch_in(atlas.plain_town(rng, away_from=ours.town), rng)
    lines = [ours.name, ours.small_print]
    unasked: list[Fact] = [place_of(one) for one in (ours, theirs, third)]
    unasked += [page_of(one, i + 1, one.name) for i, one in enumerate((ours, theirs, third))]
    if easy:
        rollouts = [_thorough_rollout(atlas, rng, ours) for _ in range(rng.randint(2, 3))]
        rollouts.append(_wavering_rollout(atlas, rng, theirs, ours))
        return Cast(
            ours.town.point,
            rollouts,
            lines,
            kind="answered",
            unasked=unasked,
            extra_rollout=_further_rollout(atlas, rng, ours, theirs),
        )
    crowd = [_hasty_rollout(atlas, rng, theirs, [theirs]) for _ in range(rng.randint(2, 3))]
    crowd += [_hasty_rollout(atlas, rng, third, [third]) for _ in range(rng.randint(0, 1))]
    if kind == "middle turn":
        crowd.append(_wavering_rollout(atlas, rng, ours, theirs))
    elif kind == "second hit":
        crowd.append(_hasty_rollout(atlas, rng, theirs, [theirs, third, ours]))
    return Cast(
        ours.town.point,
        crowd,
        lines,
        kind=kind,
        unasked=unasked,
        extra_rollout=_further_rollout(atlas, rng, ours, theirs),
    )


def _further_rollout(atlas: Atlas, rng: random.Random, ours: Branch, theirs: Branch) -> Trajectory:
    thorough = rng.randrange(_THOROUGH_ONE_IN) == 0
    return _thorough_rollout(atlas, rng, ours) if thorough else _hasty_rollout(atlas, rng, theirs, [theirs])


def _hasty_rollout(atlas: Atlas, rng: random.Random, taken: Branch, listed: Sequence[Branch]) -> Trajectory:
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


def _wavering_rollout(atlas: Atlas, rng: random.Random, seen: Branch, taken: Branch) -> Trajectory:
    """Finds one branch, believes it for a turn, and takes another in the end."""
    writer = RolloutWriter()
    query = f"{seen.name} {seen.small_print}"
    call = writer.call("Let me search for both lines.", "web_search", {"query": query}, [page_of(seen, 1, query)])
    writer.believe(f"{seen.town.name}, then.", _cited_hypothesis(atlas, rng, seen, call))
    last = writer.call("And the name alone?", "poi_keyword_search", {"query": taken.name}, [place_of(taken)])
    return writer.end(rng.choice(_WHIMS).format(town=taken.town.name), _cited_hypothesis(atlas, rng, taken, last))


def _thorough_rollout(atlas: Atlas, rng: random.Random, ours: Branch) -> Trajectory:
    """Looks up both lines, and stays with what it found."""
    writer = RolloutWriter()
    query = f"{ours.name} {ours.small_print}"
    call = writer.call("Let me search for both lines.", "web_search", {"query": query}, [page_of(ours, 1, query)])
    return writer.end("This page has the very line.", _cited_hypothesis(atlas, rng, ours, call))


def _cited_hypothesis(atlas: Atlas, rng: random.Random, branch: Branch, call: str) -> Hypothesis:
    claim = Claim(text=f"{branch.name} is in {branch.town.name}", call_id=call, quote=branch.name)
    return belief(
        atlas, branch.town, point_near(rng, branch.town.point, 1.0), confidence=rng.uniform(0.6, 0.95), claims=[claim]
    )
