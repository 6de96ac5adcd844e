"""A budget table for engines of which no runs were recorded, from made-up samples (`tts.eval.synthetic.policies`).

It says what more rollouts are worth, at each correlation of their errors, all mixed. Costs are those that any model
usually has; there is no time.
"""

from __future__ import annotations

from collections.abc import Sequence

from tts.domain.geo import distance_km
from tts.domain.kind_of_n import FittedKind
from tts.domain.plan import Limits, PlanDepth
from tts.eval.budget_fitting import right_share
from tts.eval.labelled_cases import LabelledCase
from tts.eval.synthetic.atlas import Atlas
from tts.eval.synthetic.policies import RHOS, policy_cases
from tts.routing.budget_table import POLICY, RADIUS_KM, Amount, BudgetRow, BudgetTable
from tts.routing.usual_cost import USUAL_PROMPT_TOKENS, predicted_cost
from tts.verify.evidence.world import World
from tts.verify.verifiers.consensus import judge

_NS = (1, 2, 4, 8, 16)
_TURNS = 8


def policy_table(world: World, count: int, seed: int = 0) -> BudgetTable:
    """A row for each number of rollouts, over `count` photos for each correlation."""
    atlas = Atlas(world.gazetteer, world.countries)
    cases = [case for rho in RHOS for case in policy_cases(atlas, rho, count, max(_NS), seed)]
    rhos = ", ".join(f"{rho:g}" for rho in RHOS)
    return BudgetTable(
        origin=f"made-up samples of one policy with tools, correlations {rhos}, {count} photos each, seed {seed}",
        command=f"geotts plan --policy {count}",
        kind_of_n=FittedKind.ONE_POLICY,
        engine=POLICY,
        rows=tuple(_row(n, cases, world) for n in _NS),
    )


def _row(n: int, cases: Sequence[LabelledCase], world: World) -> BudgetRow:
    errors_km = [_error_km(case, n, world) for case in cases]
    usual = predicted_cost(PlanDepth.DEEP, n, Limits(max_turns=_TURNS))
    tokens, read = usual["completion_tokens"], usual["turns"] * USUAL_PROMPT_TOKENS
    return BudgetRow(
        n=n,
        turns=_TURNS,
        photos=len(cases),
        right={band: right_share([error < km for error in errors_km]) for band, km in RADIUS_KM.items()},
        tokens=Amount(mean=tokens, p90=tokens),
        prompt_tokens=Amount(mean=read, p90=read),
    )


def _error_km(case: LabelledCase, n: int, world: World) -> float:
    clusters = judge(case.trajectories[:n], (), world).clusters
    return distance_km(clusters[0].centre, case.truth) if clusters else float("inf")
