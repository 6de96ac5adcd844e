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

from tts.domain.tooling import Fact
from tts.eval.synthetic.atlas import Atlas
from tts.eval.synthetic.branch_rollouts import hasty_rollout, thorough_rollout, wavering_rollout
from tts.eval.synthetic.branches import chain, page_of, place_of
from tts.eval.synthetic.cast import Cast

_THOROUGH_ONE_IN = 4


def left_behind(atlas: Atlas, rng: random.Random, *, easy: bool) -> Cast:
    """The truth is only in a middle turn, in a list of results, or behind an unasked question."""
    kind = rng.choice(("middle turn", "second hit", "unasked"))
    ours, theirs = chain(atlas, rng, rng.choice(("country line", "street line")))
    third = theirs.branch_in(atlas.plain_town(rng, away_from=ours.town), rng)
    lines = [ours.name, ours.small_print]
    unasked: list[Fact] = [place_of(one) for one in (ours, theirs, third)]
    unasked += [page_of(one, i + 1, one.name) for i, one in enumerate((ours, theirs, third))]
    if easy:
        kind = "answered"
        crowd = [thorough_rollout(atlas, rng, ours) for _ in range(rng.randint(2, 3))]
        crowd.append(wavering_rollout(atlas, rng, theirs, ours))
    else:
        crowd = [hasty_rollout(atlas, rng, theirs, [theirs]) for _ in range(rng.randint(2, 3))]
        crowd += [hasty_rollout(atlas, rng, third, [third]) for _ in range(rng.randint(0, 1))]
    if kind == "middle turn":
        crowd.append(wavering_rollout(atlas, rng, ours, theirs))
    elif kind == "second hit":
        crowd.append(hasty_rollout(atlas, rng, theirs, [theirs, third, ours]))
    thorough = rng.randrange(_THOROUGH_ONE_IN) == 0
    further = thorough_rollout(atlas, rng, ours) if thorough else hasty_rollout(atlas, rng, theirs, [theirs])
    return Cast(ours.town.point, crowd, lines, kind=kind, unasked=unasked, extra_rollout=further)
