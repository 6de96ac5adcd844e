"""From a budget to a plan: the way to spend that was most often right in recorded runs, of those that fit the budget.

A row of the table fits when nine of ten recorded requests took no more. In the tenth, the limits of the request keep to
the budget. Of the rows that fit and are as good as the best, but for half a point, the cheapest is taken. If several
cost the same but for a tenth, the one with the fewest tokens is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tts.decision_weights import weights
from tts.domain.budget import Budget
from tts.domain.kind_of_n import FittedKind, KindOfN, kind_of_n
from tts.domain.plan import Limits, PlanDepth
from tts.domain.stop_table import band_of
from tts.domain.token_price import Price
from tts.domain.usage import Usage
from tts.domain.value import Value
from tts.routing.budget_table import POLICY, RADIUS_KM, Amount, BudgetRow, BudgetTable, PossibleWays, RightShare
from tts.routing.usual_cost import usual_tokens

_W = weights("depth")
_TOLERANCE_POINTS = _W["as_good"]
_COST_TOLERANCE = _W["as_cheap"]
_MIN_TOKENS = int(_W["fewest_tokens"])
_P90_TO_MEAN = _W["usual_spread"]
_MAX_ROLLOUTS_OF_UNKNOWN_COST = int(_W["unknown_cost_rollouts"])


class BudgetCost(Value):
    """What a request is expected to take; None where that is not known."""

    tokens: Amount
    seconds: Amount | None
    money_usd: Amount | None
    tool_calls: Amount | None = None

    def limited(self, budget: Budget) -> list[tuple[Amount, float]]:
        """Each cost that is known and that the budget limits, with the limit."""
        pairs = ((self.tokens, budget.tokens), (self.seconds, budget.seconds), (self.money_usd, budget.money_usd))
        return [(amount, float(most)) for amount, most in pairs if amount is not None and most is not None]


class BudgetChoice(Value):
    """The row that is taken. `runs` says what the table is from. `fits`: not even the cheapest does otherwise.
    `cost_is_known`: at least one of the amounts that the budget limits is.
    `transferred`: the runs are not of this engine, so that costs are those that any model usually has. `kind_of_n` is
    that of the planned rollouts, which `models` share; `fitted_on` is that of the runs of the table."""

    budget: Budget
    row: BudgetRow
    right: RightShare
    radius_km: float
    cost: BudgetCost
    fits: bool
    transferred: bool
    cost_is_known: bool = True
    runs: str = "recorded runs"
    models: int = 1
    kind_of_n: KindOfN = KindOfN.ONE_POLICY
    fitted_on: FittedKind = FittedKind.NOT_STATED

    @property
    def depth(self) -> PlanDepth:
        """One turn is an answer without tools."""
        return PlanDepth.DIRECT if self.row.turns == 1 else PlanDepth.DEEP

    def note_for(self, limits: Limits, *, use_tools: bool) -> str:
        """What the rollouts of a plan lack that those of the row had; empty for nothing."""
        if self.row.turns > 1 and not (use_tools and limits.max_tool_calls):
            return "; those rollouts had tools, and these have none"
        if limits.max_turns < self.row.turns:
            return f"; those rollouts had up to {self.row.turns} turns, and these have up to {limits.max_turns}"
        return ""

    @property
    def sentence(self) -> str:
        """Why this was planned, for people."""
        text = (
            f"the budget is {self.budget}; in {self.runs} {self.right} of {self.row.photos} answers lay "
            f"within {self.radius_km:g} km with this plan"
        )
        text += f" ({self.row.additions})" if self.row.additions else ""
        if self.fitted_on.is_other_than(self.kind_of_n):
            text += f"; those answers are of another kind of N: {self.fitted_on}, and this plan: {self.kind_of_n}"
        if not self.cost_is_known:
            text += "; it is not known what such a plan costs with this engine, so it is a small one"
        return text if self.fits else f"{text}; runs usually take more than the budget, so this one may be cut short"


@dataclass(frozen=True, eq=False)
class BudgetPlanner:
    """Pure. `engine` is the one that will work, `price` that of its model, where it has one. `models` share the
    rollouts. `possible` is what the installation can do."""

    table: BudgetTable
    engine: str = ""
    price: Price | None = None
    models: int = 1
    possible: PossibleWays = field(default_factory=PossibleWays)

    def with_table(self, table: BudgetTable) -> BudgetPlanner:
        """The same for another table."""
        return replace(self, table=table)

    def choose(
        self, budget: Budget, radius_km: float, *, keeps_turns: bool = False, possible: PossibleWays | None = None
    ) -> BudgetChoice:
        """The plan for a budget and a wanted radius. With `keeps_turns` only rows with the most turns count.
        `possible` is what the request can do.

        A request that already asks for the questions and the stop of its plan gets the same plan again: the choice is
        repeated among the rows with no more than those until it stays.
        """
        possible = self.possible.both(possible or PossibleWays())
        choice = self._choose_once(budget, radius_km, possible, keeps_turns=keeps_turns)
        while True:
            possible = possible.both(choice.row.possible_ways)
            again = self._choose_once(budget, radius_km, possible, keeps_turns=keeps_turns)
            if again.row == choice.row:
                return choice
            choice = again

    def _choose_once(
        self, budget: Budget, radius_km: float, possible: PossibleWays, *, keeps_turns: bool
    ) -> BudgetChoice:
        rows = possible.rows_of(self.table.rows)
        if keeps_turns:
            most = max(row.turns for row in rows)
            rows = tuple(row for row in rows if row.turns == most)
        choices = [self._make_choice(row, budget, radius_km) for row in rows]
        fitting = [choice for choice in choices if choice.fits]
        if not fitting:
            return min(choices, key=lambda choice: (choice.row.n, choice.cost.tokens.mean))
        return _cheapest_of_the_best(fitting)

    def cost(self, row: BudgetRow) -> BudgetCost:
        """As in the table, but no row is faster than one that does less.

        Of another engine: the usual tokens and no time. Made-up runs have the usual tokens already.
        """
        if not self._is_transferred or self.table.engine == POLICY:
            return BudgetCost(
                tokens=row.tokens,
                seconds=self.table.seconds_of(row),
                money_usd=self._money(row.tokens, row.prompt_tokens),
                tool_calls=row.tool_calls,
            )
        depth = PlanDepth.DIRECT if row.turns == 1 else PlanDepth.DEEP
        usual = usual_tokens(depth, row.n, Limits(max_turns=row.turns, answer_draws=row.answer_draws))
        tokens, prompts = _usual_amount(usual.written), _usual_amount(usual.read)
        return BudgetCost(tokens=tokens, seconds=None, money_usd=self._money(tokens, prompts))

    @property
    def _is_transferred(self) -> bool:
        return self.table.engine == POLICY or self.engine not in ("", self.table.engine)

    @property
    def _runs_text(self) -> str:
        if self.table.engine == POLICY:
            return "made-up runs"
        return "recorded runs of another engine" if self._is_transferred else "recorded runs"

    def _make_choice(self, row: BudgetRow, budget: Budget, radius_km: float) -> BudgetChoice:
        band = band_of(radius_km)
        cost = self.cost(row)
        limited = cost.limited(budget)
        is_small = bool(limited) or row.n <= _MAX_ROLLOUTS_OF_UNKNOWN_COST
        return BudgetChoice(
            budget=budget,
            row=row,
            right=row.right[band],
            radius_km=RADIUS_KM[band],
            cost=cost,
            fits=all(amount.p90 <= most for amount, most in limited) and _can_share(budget, row.n) and is_small,
            cost_is_known=bool(limited),
            transferred=self._is_transferred,
            runs=self._runs_text,
            models=self.models,
            kind_of_n=kind_of_n(row.n, min(row.n, self.models)),
            fitted_on=self.table.kind_of_n,
        )

    def _money(self, written: Amount, read: Amount) -> Amount | None:
        if self.price is None:
            return None
        mean, p90 = (
            self.price.cost_usd(Usage(prompt_tokens=round(prompts), completion_tokens=round(tokens)))
            for tokens, prompts in ((written.mean, read.mean), (written.p90, read.p90))
        )
        return Amount(mean=mean, p90=p90)


def _can_share(budget: Budget, n: int) -> bool:
    return budget.tokens is None or n * _MIN_TOKENS <= budget.tokens


def _cheapest_of_the_best(choices: Sequence[BudgetChoice]) -> BudgetChoice:
    best = max(choice.right.value for choice in choices)
    good = [choice for choice in choices if choice.right.value >= best - _TOLERANCE_POINTS]
    max_share = (1 + _COST_TOLERANCE) * min(_share(choice) for choice in good)
    cheap = [choice for choice in good if _share(choice) <= max_share]
    return min(cheap, key=lambda choice: (choice.cost.tokens.mean, _share(choice), choice.row.questions))


def _share(choice: BudgetChoice) -> float:
    """Of the budget that the plan takes on average, where it takes most."""
    return max((amount.mean / most for amount, most in choice.cost.limited(choice.budget)), default=0.0)


def _usual_amount(mean: float) -> Amount:
    return Amount(mean=mean, p90=_P90_TO_MEAN * mean)
