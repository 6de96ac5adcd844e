"""Samples of one policy about shops of a chain, where the verifier's questions can find what the samples miss.

As in the family `left_behind`, the sign bears the name of a chain and one line of small print, which only the right
branch bears. One rollout in four looks up both lines and is right. The others look up the name alone, and take a branch
that is listed first; some of them saw the right one. The samples depend on each other as in `policies`: with
probability √ρ a rollout is the one draw that the request shares. An answer that is drawn again stays with probability
ρ, and is else the answer of another draw.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import NamedTuple

from tts.domain.geo import LatLon
from tts.domain.tooling import Fact
from tts.domain.trajectory import Trajectory
from tts.eval.synthetic.atlas import Atlas
from tts.eval.synthetic.branch_rollouts import hasty_rollout, thorough_rollout, wavering_rollout
from tts.eval.synthetic.branches import Branch, chain, page_of, place_of
from tts.eval.synthetic.rollout_events import reading_of
from tts.eval.synthetic.scenario import Scenario
from tts.geodata.gazetteer import Place

FAMILY = "chain_policy"
# Of 24 rollouts; hand-set on 2026-11-29. Those that are not thorough are as frequent as in the scenarios of
# `left_behind`, roughly.
_KIND_WEIGHTS = {"thorough": 6, "hasty": 12, "third branch": 2, "middle turn": 2, "second hit": 2}


class _Chain(NamedTuple):
    """The right branch, the one that most rollouts take, and a third."""

    ours: Branch
    theirs: Branch
    third: Branch


def chain_scenarios(atlas: Atlas, rho: float, count: int, n: int, seed: int, draws: int = 0) -> Iterator[Scenario]:
    """`count` photos with `n` samples each; each answer is drawn again `draws` times.

    Photo k is the same for every ρ.
    """
    for number in range(count):
        key = f"{seed}/chain/{number}"
        photo = random.Random(key)
        ours, theirs = chain(atlas, photo, photo.choice(("country line", "street line")))
        branches = _Chain(ours, theirs, theirs.branch_in(atlas.plain_town(photo, away_from=ours.town), photo))
        rng = random.Random(f"{key}/{rho}")
        shared = _draw_rollout(atlas, rng, branches)
        copied = math.sqrt(rho)
        samples = [shared if rng.random() < copied else _draw_rollout(atlas, rng, branches) for _ in range(n)]
        again = random.Random(f"{key}/{rho}/draws")
        runs = [
            run.model_copy(update={"rollout_id": i, "answer_draws": _draw_again(again, run, branches, rho, draws)})
            for i, run in enumerate(samples)
        ]
        known: list[Fact] = [place_of(one) for one in branches]
        known += [page_of(one, i + 1, one.name) for i, one in enumerate(branches)]
        lines = reading_of([ours.name, ours.small_print])
        yield Scenario(f"{rho}/{key}", FAMILY, "", ours.town.point, tuple(runs), lines, unasked=tuple(known))


def _draw_rollout(atlas: Atlas, rng: random.Random, branches: _Chain) -> Trajectory:
    ours, theirs, third = branches
    match _choose_kind(rng):
        case "thorough":
            return thorough_rollout(atlas, rng, ours)
        case "third branch":
            return hasty_rollout(atlas, rng, third, [third])
        case "middle turn":
            return wavering_rollout(atlas, rng, ours, theirs)
        case "second hit":
            return hasty_rollout(atlas, rng, theirs, [theirs, third, ours])
        case _:
            return hasty_rollout(atlas, rng, theirs, [theirs])


def _choose_kind(rng: random.Random) -> str:
    return rng.choices([*_KIND_WEIGHTS], [*_KIND_WEIGHTS.values()])[0]


def _draw_again(
    rng: random.Random, run: Trajectory, branches: _Chain, rho: float, draws: int
) -> tuple[LatLon | None, ...]:
    own = None if run.answer is None else run.answer.point
    return tuple(own if rng.random() < rho else _town_of(_choose_kind(rng), branches).point for _ in range(draws))


def _town_of(kind: str, branches: _Chain) -> Place:
    return {"thorough": branches.ours, "third branch": branches.third}.get(kind, branches.theirs).town
