"""A budget table for engines of which no runs were recorded, from made-up samples of one policy.

It says what rollouts, answer draws, questions of the verifier and stops are worth, at each correlation of the samples,
all mixed (`tts.eval.synthetic.policies`, and `chain_policies` for one photo in twenty). Consensus, questions and stops
are the production code. Costs are those that any model usually has; there is no time. A draw writes as much as a turn
and reads the conversation again. A question is a tool call. A stop saves what the stopped rollouts had not written yet:
rollouts run side by side, and their lengths differ.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tts.domain.geo import distance_km
from tts.domain.kind_of_n import FittedKind
from tts.domain.plan import PlanDepth
from tts.domain.stop_experience import StopExperience
from tts.domain.stop_policy import StopPolicy
from tts.domain.trajectory import Trajectory
from tts.ensemble.consensus_watch import ConsensusWatch
from tts.eval.budget_fitting import HEADROOM, Way, amount, right_share
from tts.eval.synthetic.atlas import Atlas
from tts.eval.synthetic.chain_policies import chain_scenarios
from tts.eval.synthetic.policies import RHOS, policy_cases
from tts.eval.synthetic.scenario import Scenario
from tts.eval.synthetic.scenario_inquiry import decide_with_questions
from tts.routing.budget_table import POLICY, RADIUS_KM, BudgetRow, BudgetTable
from tts.routing.usual_cost import USUAL_DRAW_PROMPT_TOKENS, USUAL_PROMPT_TOKENS, usual_turn
from tts.verify.evidence.world import World

# Hand-set on 2026-11-29: the ways to spend that a budget chooses from, and what the made-up rollouts are like.
_ROLLOUT_COUNTS = (1, 2, 4, 8, 16)
_ANSWER_DRAWS = 4  # so many of a rollout show a spread, and cost less than a rollout
_QUESTIONS = 4  # as many as `left_behind` needs to be recovered
_STOP_POLICY = "loss:1.0"
_MIN_ROLLOUTS_FOR_STOP = 8  # rollouts; fewer save little
_MAX_ROLLOUTS_WITH_DRAWS = 8  # rollouts; with more, draws cost more than any budget needs
_MAX_TURNS = 8  # at most, as in the depth deep
_CHAIN_ONE_IN = 20  # how often questions find what rollouts miss is not known of photos
_TURN_COUNTS = (2, 3, 4, 5, 6)  # turns of a rollout, equally often; on average those of a usual rollout of depth deep
_TARGET_RADIUS_KM = 25.0  # where a town is wanted


@dataclass(frozen=True, slots=True)
class _Photo:
    """A photo with all its samples, each with all its draws, and the turns of each sample."""

    scenario: Scenario
    turns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Outcome:
    """One photo: how far off the answer is, and what it took. `longest_tokens` are those of the longest rollout."""

    error_km: float
    tokens: float
    longest_tokens: float
    prompt_tokens: float
    tool_calls: float


async def policy_table(world: World, count: int, seed: int = 0) -> BudgetTable:
    """A row for each way to spend, over `count` photos for each correlation."""
    atlas = Atlas(world.gazetteer, world.countries)
    photos = list(_photos(atlas, count, seed))
    rhos = ", ".join(f"{rho:g}" for rho in RHOS)
    return BudgetTable(
        origin=f"made-up samples of one policy with tools, correlations {rhos}, {count} photos each, seed {seed}; "
        f"one photo in {_CHAIN_ONE_IN} shows a shop of a chain, whose small print decides",
        command=f"geotts plan --policy {count}",
        kind_of_n=FittedKind.ONE_POLICY,
        engine=POLICY,
        rows=tuple([await _row(way, photos, world) for way in _ways()]),
    )


def _ways() -> Iterator[Way]:
    for n in _ROLLOUT_COUNTS:
        for stop in ("none", _STOP_POLICY) if n >= _MIN_ROLLOUTS_FOR_STOP else ("none",):
            for questions in (0, _QUESTIONS):
                for draws in (1, _ANSWER_DRAWS) if n <= _MAX_ROLLOUTS_WITH_DRAWS else (1,):
                    yield Way(n, _MAX_TURNS, draws, questions, stop)


def _photos(atlas: Atlas, count: int, seed: int) -> Iterator[_Photo]:
    """Photos of every correlation in turn, so that a stop policy does not learn one after the other."""
    chains = count // _CHAIN_ONE_IN
    of_rhos = [
        [
            *(Scenario(one.key, POLICY, "", one.truth, one.trajectories, one.readings)
              for one in policy_cases(atlas, rho, count - chains, max(_ROLLOUT_COUNTS), seed, _ANSWER_DRAWS - 1)),
            *chain_scenarios(atlas, rho, chains, max(_ROLLOUT_COUNTS), seed, _ANSWER_DRAWS - 1),
        ]
        for rho in RHOS
    ]  # fmt: skip
    for scenarios in zip(*of_rhos, strict=True):
        for scenario in scenarios:
            rng = random.Random(f"{seed}/{scenario.key}/turns")
            yield _Photo(scenario, tuple(rng.choice(_TURN_COUNTS) for _ in scenario.trajectories))


async def _row(way: Way, photos: Sequence[_Photo], world: World) -> BudgetRow:
    experience = StopExperience()
    found = [await _outcome(way, photo, world, experience) for photo in photos]
    needed = [HEADROOM * way.n * one.longest_tokens for one in found]
    return BudgetRow(
        **way._asdict(),
        photos=len(found),
        right={band: right_share([one.error_km < km for one in found]) for band, km in RADIUS_KM.items()},
        tokens=amount([one.tokens for one in found]).model_copy(update={"p90": amount(needed).p90}),
        prompt_tokens=amount([one.prompt_tokens for one in found]),
        tool_calls=amount([one.tool_calls for one in found]),
    )


async def _outcome(way: Way, photo: _Photo, world: World, experience: StopExperience) -> _Outcome:
    samples = photo.scenario.trajectories[: way.n]
    if way.answer_draws == 1:
        samples = tuple(run.model_copy(update={"answer_draws": ()}) for run in samples)
    order = sorted(range(way.n), key=lambda i: photo.turns[i])
    watch = ConsensusWatch(StopPolicy.parse(way.stop), _TARGET_RADIUS_KM, experience=experience)
    ended = order[: _count_ended(watch, [samples[i] for i in order])]
    seen = replace(photo.scenario, trajectories=tuple(samples[i] for i in sorted(ended)))
    point, questions = await decide_with_questions(seen, world, way.questions)
    turns = [min(photo.turns[i], photo.turns[ended[-1]]) for i in range(way.n)]
    draws = way.answer_draws - 1
    usual = usual_turn(PlanDepth.DEEP)
    return _Outcome(
        error_km=float("inf") if point is None else distance_km(point, photo.scenario.truth),
        tokens=usual.tokens * (sum(turns) + draws * len(ended)),
        longest_tokens=usual.tokens * (max(turns) + draws),
        prompt_tokens=sum(turns) * USUAL_PROMPT_TOKENS + draws * len(ended) * USUAL_DRAW_PROMPT_TOKENS,
        tool_calls=usual.tool_calls * sum(turns) + questions,
    )


def _count_ended(watch: ConsensusWatch, runs: Sequence[Trajectory]) -> int:
    """How many of them end, one after the other, before the stop policy stops the rest."""
    if watch.active:
        for width in range(1, len(runs)):
            if watch.look(runs[:width], len(runs)).decided:
                return width
    return len(runs)
