"""Samples of one policy with a known posterior, and a parameter for the dependence of their errors.

A photo has six candidate towns, four of them in one country, with random probabilities; the true town is drawn from
them, so the policy is calibrated. Every rollout looks something up and takes a town from that. With probability √ρ it
takes the one draw that the request shares (same look-up, same town), else a draw of its own: two rollouts share their
draw with probability ρ. One in four states no look-up at all, so that shared draws are not always to be seen.

An answer that is drawn again from the same conversation keeps its town with probability ρ, and is else a draw from the
posterior: at ρ = 1 such draws tell nothing.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

from tts.domain.trajectory import Trajectory
from tts.eval.labelled_cases import LabelledCase
from tts.eval.synthetic.atlas import Atlas
from tts.eval.synthetic.businesses import business
from tts.eval.synthetic.rollout_kinds import follower, guesser
from tts.geodata.gazetteer import Place

RHOS = (0.0, 0.3, 0.6, 0.9)
_DIRICHLET_ALPHA = 0.4  # of the Dirichlet distribution that the posterior is drawn from
_SILENT_ONE_IN = 4


def policy_cases(atlas: Atlas, rho: float, count: int, n: int, seed: int, draws: int = 0) -> Iterator[LabelledCase]:
    """`count` photos with `n` samples each. Photo k is the same for every ρ; the samples are not.

    The answer of each sample is drawn again `draws` times; the samples are the same for every number of draws.
    """
    for number in range(count):
        key = f"{seed}/{number}"
        photo = random.Random(key)
        towns = _draw_candidates(atlas, photo)
        weights = [photo.gammavariate(_DIRICHLET_ALPHA, 1.0) + 1e-6 for _ in towns]
        truth = photo.choices(towns, weights)[0]
        rng = random.Random(f"{key}/{rho}")
        shared = rng.choices(towns, weights)[0]
        samples = [_policy_sample(atlas, rng, i, shared, towns, weights, rho) for i in range(n)]
        again = random.Random(f"{key}/{rho}/draws")
        samples = [_add_answer_draws(again, run, towns, weights, rho, draws) for run in samples]
        yield LabelledCase(f"{rho}/{key}", truth.point, tuple(samples))


def _add_answer_draws(
    rng: random.Random, run: Trajectory, towns: list[Place], weights: list[float], rho: float, draws: int
) -> Trajectory:
    own = None if run.answer is None else run.answer.point
    points = [own if rng.random() < rho else rng.choices(towns, weights)[0].point for _ in range(draws)]
    return run.model_copy(update={"answer_draws": tuple(points)})


def _policy_sample(
    atlas: Atlas, rng: random.Random, number: int, shared: Place, towns: list[Place], weights: list[float], rho: float
) -> Trajectory:
    copies = rng.random() < math.sqrt(rho)
    town = shared if copies else rng.choices(towns, weights)[0]
    silent = rng.randrange(_SILENT_ONE_IN) == 0
    name = "shared" if copies else f"{number}"
    if silent:
        run = guesser(atlas, rng, town)
    else:
        found = business(f"made-up:{town.id}:{name}", f"Hotel {name}, {town.name}", town)
        run = follower(atlas, rng, town, f"Hotel {name}", [found])
    return run.model_copy(update={"rollout_id": number})


def _draw_candidates(atlas: Atlas, rng: random.Random) -> list[Place]:
    home = rng.choice([code for code, towns in atlas.towns.items() if len(towns) >= 4])
    near = rng.sample(atlas.towns[home], 4)
    return [*near, *(atlas.town(rng, away_from=near[0]) for _ in range(2))]
