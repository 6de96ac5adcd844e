"""From locatability and options to a plan: which depth, how many rollouts, how much each may spend.

Limits are the least of what the request, the plan and (in the loop) the dialect allow. Under `auto` the caller's n is a
ceiling over everything that is ever started; any other depth runs exactly n and is never escalated.

What a photo is worth depends on who looks. An engine that only reads has nothing to do without text. One that sees
pictures starts from all rollouts with all tools; less is spent only where something positive says so. The budget of a
published dialect is part of the system that was measured: only a caller who asks for `direct` goes below it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tts.decision_weights import weights
from tts.domain.abilities import Abilities
from tts.domain.plan import Depth, Limits, Locatability, Plan, PlanDepth
from tts.domain.request import LocateOptions
from tts.domain.token_price import Price
from tts.domain.usage import Usage
from tts.domain.value import Value
from tts.ports.locator import UNRATED, Routing
from tts.routing.budget_planner import BudgetChoice, BudgetPlanner
from tts.routing.budget_table import POLICY, shipped_budget_table, ways_of_request
from tts.routing.empty_photo import CONTENT_FROM
from tts.routing.reasons import NO_DRAWS, SHOWS_NOTHING, plan_sentence, to_reason_about
from tts.routing.usual_cost import predicted_cost

_DIRECT_LIMITS = Limits(max_turns=1, max_tool_calls=0)
_W = weights("depth")
_STANDARD_LIMITS = Limits(max_turns=int(_W["standard_turns"]))
_STANDARD_ROLLOUTS = int(_W["standard_rollouts"])
_MAX_TESTING_ROLLOUTS = int(_W["most_testing"])
_MIN_TOKENS = int(_W["fewest_tokens"])
_DEEPER_DEPTH = {PlanDepth.DIRECT: PlanDepth.STANDARD, PlanDepth.STANDARD: PlanDepth.DEEP}
_MIN_DEEP_PROBABILITY = _W["deep_from"]
_MIN_CLEAR_SCORE = _W["clear_from"]
_MIN_SCORE = _W["hopeless_below"]
_MIN_VISUAL_RATING = _W["visual_from"]


class DialectBudget(Value):
    """What one rollout of a dialect may spend; `published`: a model was trained and measured with it. `draws_answers`:
    its answers can be drawn again."""

    limits: Limits
    published: bool = False
    draws_answers: bool = True


BudgetOf = Callable[[str | None], DialectBudget]
"""The budget of the dialect with a name, or of the configured one. Raises ConfigError for a name there is not."""

NO_PRICE = "the money limit cannot be kept: no price is known for this model (set engine.price)"


class DepthRouter:
    """Pure. `limits` are the operator's; a limit that was left unset is that of a published dialect. `price` is that of
    the model, where it has one. `planner` decides about requests that have a budget; without one, made-up samples of a
    policy do. `models` is the number of models that share the rollouts.
    """

    def __init__(
        self,
        limits: Limits,
        abilities: Abilities | None = None,
        budget_of: BudgetOf | None = None,
        price: Price | None = None,
        planner: BudgetPlanner | None = None,
        models: int = 1,
    ) -> None:
        self._limits = limits
        self._abilities = abilities or Abilities()
        self._budget_of = budget_of
        self._price = price
        self._planner = planner or BudgetPlanner(shipped_budget_table(POLICY), POLICY, price, models)
        self._models = models

    def within_budget(self, options: LocateOptions) -> LocateOptions:
        """The options with what follows from their budget, where they have one. Again, they stay as they are.

        Raises ConfigError for an unknown dialect.
        """
        budget, choice = options.budget, self._plan_budget(options)
        if budget is None or choice is None:
            return options
        asked = options.verifier_questions
        decided: dict[str, object] = {
            "n_parallel": choice.row.n,
            "stop": options.stop or choice.row.stop,
            "verifier_questions": choice.row.questions if asked is None else asked,
            "max_tokens_total": _smallest_limit(options.max_tokens_total, budget.tokens),
            "max_cost_usd": _smallest_limit(options.max_cost_usd, budget.money_usd),
        }
        return options.model_copy(update=decided)

    def _plan_budget(self, options: LocateOptions) -> BudgetChoice | None:
        """What recorded runs say of the budget of a request; None where it has none."""
        if options.budget is None:
            return None
        dialect = self._budget(options)
        possible = ways_of_request(options, draws_answers=dialect.draws_answers)
        return self._planner.choose(
            options.budget, options.target_radius_km, keeps_turns=dialect.published, possible=possible
        )

    def money_usd(self, options: LocateOptions) -> float | None:
        """The smaller of the caller's and the operator's limit."""
        return min((usd for usd in (options.max_cost_usd, self._limits.max_cost_usd) if usd is not None), default=None)

    def opening(self, options: LocateOptions) -> Plan:
        """The plan for a middling score of 0.5. Raises ConfigError for an unknown dialect."""
        return self.plan(options, UNRATED)

    def plan(self, options: LocateOptions, routing: Routing, *, opened: Plan | None = None) -> Plan:
        """Under `auto` the depth decides how many rollouts start. Raises ConfigError for an unknown dialect."""
        depth, reason = _choose_depth(options, routing.locatability, self._abilities)
        n, choice = options.n_parallel, self._plan_budget(options)
        if choice is not None:
            if depth is PlanDepth.HOPELESS:
                n = 1
            else:
                depth, reason = choice.depth, choice.sentence
        elif options.depth is Depth.AUTO:
            n = min(
                n, {PlanDepth.DIRECT: 1, PlanDepth.HOPELESS: 1, PlanDepth.STANDARD: _STANDARD_ROLLOUTS}.get(depth, n)
            )
        plan = self._make_plan(depth, n, options, reason, Usage(cost_usd=routing.usage.cost_usd))
        if choice is not None and depth is not PlanDepth.HOPELESS:
            reason += choice.note_for(plan.limits, use_tools=plan.use_tools)
            plan = self._add_summary(plan.model_copy(update={"reason": reason}), self._budget(options))
        if opened is None:
            return plan
        changed = opened.model_copy(update={"depth": plan.depth, "n_planned": plan.n_planned, "reason": plan.reason})
        return self._add_summary(changed, self._budget(options))

    def escalate(self, plan: Plan, options: LocateOptions, *, started: int, spent: Usage) -> Plan | None:
        """More rollouts at the same depth first (half of what is left), then the rest a level deeper."""
        unstarted = options.n_parallel - started
        if unstarted <= 0 or _is_exhausted(options, spent):
            return None
        if started > plan.n_planned or plan.depth is PlanDepth.DIRECT:  # more of the same was tried, or cannot help
            deeper = _DEEPER_DEPTH.get(plan.depth, plan.depth)
            added = min(unstarted, _STANDARD_ROLLOUTS) if deeper is PlanDepth.STANDARD else unstarted
            return self._make_plan(deeper, added, options, "the first, smaller plan was not enough", spent)
        return self._make_plan(plan.depth, (unstarted + 1) // 2, options, "more rollouts are needed", spent)

    def testing(self, plan: Plan, options: LocateOptions, *, started: int, spent: Usage) -> Plan | None:
        """Half as many as there are blind ones, at their depth; with a search, unless the caller excludes it. None
        where nothing can be looked up, or the budget of the request is used up."""
        if plan.depth is PlanDepth.HOPELESS or _is_exhausted(options, spent):
            return None
        shallow = plan.depth is PlanDepth.DIRECT and options.depth is Depth.AUTO
        depth = PlanDepth.STANDARD if shallow else plan.depth
        return self._make_plan(
            depth, min(_MAX_TESTING_ROLLOUTS, (started + 1) // 2), options, "the claim is tested", spent
        )

    def _make_plan(self, depth: PlanDepth, n: int, options: LocateOptions, reason: str, spent: Usage) -> Plan:
        budget = self._budget(options)
        limits = self._operator_limits(budget)
        searches = self._abilities.calls_tools
        if not budget.published or options.depth is Depth.DIRECT:
            shallow = depth in (PlanDepth.DIRECT, PlanDepth.HOPELESS)
            limits = limits.tighten(
                _DIRECT_LIMITS if shallow else _STANDARD_LIMITS if depth is PlanDepth.STANDARD else limits
            )
            searches = searches and not shallow
        if (choice := self._plan_budget(options)) is not None:
            limits = limits.tighten(choice.row.limits(keeps_turns=budget.published))
        limits = _share_limits(limits, options, n, spent, self.money_usd(options))
        plan = Plan(
            depth=depth,
            n_asked=options.n_parallel,
            n_planned=n,
            limits=limits,
            use_tools=searches and options.tools != (),
            reason=reason,
        )
        return self._add_summary(plan, budget)

    def _add_summary(self, plan: Plan, budget: DialectBudget) -> Plan:
        """With its sentence and its price."""
        allowed = plan.limits.tighten(budget.limits)
        if not plan.use_tools:
            allowed = allowed.model_copy(update={"max_tool_calls": 0})
        if not budget.draws_answers:
            allowed = allowed.model_copy(update={"answer_draws": None})
        offered = plan.use_tools if budget.limits.max_tool_calls else None
        attempts = plan_sentence(plan.n_planned, self._models, allowed, tools=offered, reason=plan.reason)
        no_price = plan.limits.max_cost_usd is not None and self._price is None
        no_draws = (plan.limits.answer_draws or 1) > 1 and not budget.draws_answers
        summary = attempts + (f"; {NO_PRICE}" if no_price else "") + (f"; {NO_DRAWS}" if no_draws else "")
        cost = predicted_cost(plan.depth, plan.n_planned, allowed, self._price)
        return plan.model_copy(update={"summary": summary, "predicted_cost": cost})

    def _budget(self, options: LocateOptions) -> DialectBudget:
        return self._budget_of(options.dialect) if self._budget_of else DialectBudget(limits=self._limits)

    def _operator_limits(self, budget: DialectBudget) -> Limits:
        if not budget.published:
            return self._limits
        given = {name: getattr(self._limits, name) for name in self._limits.model_fields_set}
        return budget.limits.model_copy(update=given)


def _choose_depth(options: LocateOptions, locatability: Locatability, abilities: Abilities) -> tuple[PlanDepth, str]:
    if options.depth is not Depth.AUTO:
        return PlanDepth(options.depth.value), "the caller asked for it"
    if locatability.method == "fixed":
        return PlanDepth.DEEP, f"nothing is known about the photo: {locatability.why}"
    return _depth_with_vision(locatability) if abilities.sees_pictures else _depth_without_vision(locatability)


def _depth_with_vision(locatability: Locatability) -> tuple[PlanDepth, str]:
    """Everything, unless the photo shows nothing, or the model itself or a calibration says that less will do."""
    parts = locatability.parts
    if _shows_nothing(parts):
        return PlanDepth.HOPELESS, SHOWS_NOTHING
    clear = locatability.score >= _MIN_CLEAR_SCORE and parts.get("deep", 1.0) <= 1.0 - _MIN_CLEAR_SCORE
    if clear and "l_opt" in parts:
        return PlanDepth.STANDARD, "in recorded runs, search seldom helped with such photos"
    if clear and "probe" in parts:
        return PlanDepth.STANDARD, "the model says that it can answer without a search"
    return PlanDepth.DEEP, to_reason_about(parts)


def _shows_nothing(parts: Mapping[str, float]) -> bool:
    """Where nothing was looked at, something may be there. What is pictured may speak for a photo, never against it."""
    if parts.get("text", 0.0) > 0.0 or parts.get("visual", 0.0) >= _MIN_VISUAL_RATING:
        return False
    return parts.get("content", 1.0) < CONTENT_FROM


def _depth_without_vision(locatability: Locatability) -> tuple[PlanDepth, str]:
    """The visual part of a locatability never decides: it cannot tell a hopeless photo from one that needs thought."""
    parts = locatability.parts
    if locatability.method == "visual" and "deep" not in parts:
        return PlanDepth.STANDARD, "the kinds of surface alone do not show how hard the photo is"
    deep = parts.get("deep", 0.0)
    if deep >= _MIN_DEEP_PROBABILITY:
        return PlanDepth.DEEP, "there is much text that a search can explain"
    if locatability.score < _MIN_SCORE:
        return PlanDepth.HOPELESS, SHOWS_NOTHING if _shows_nothing(parts) else "no readable text, so nothing to look up"
    if locatability.score >= _MIN_CLEAR_SCORE and deep <= 1.0 - _MIN_CLEAR_SCORE:
        return PlanDepth.DIRECT, "the photo is easy, no search is needed"
    return PlanDepth.STANDARD, "there is some text to read and to look up"


def _is_exhausted(options: LocateOptions, spent: Usage) -> bool:
    tokens, calls, money = options.max_tokens_total, options.max_tool_calls, options.max_cost_usd
    return (
        (tokens is not None and spent.completion_tokens >= tokens)
        or (calls is not None and 0 < calls <= spent.tool_calls)
        or (money is not None and spent.cost_usd >= money)
    )


def _share_limits(limits: Limits, options: LocateOptions, n: int, spent: Usage, money: float | None) -> Limits:
    """Share what is left of the request's totals evenly among the rollouts."""
    tokens, calls = limits.max_tokens, limits.max_tool_calls
    if options.max_tokens_total is not None:
        tokens = min(tokens, max(_MIN_TOKENS, (options.max_tokens_total - spent.completion_tokens) // n))
    if options.max_tool_calls is not None:
        calls = min(calls, max(0, options.max_tool_calls - spent.tool_calls) // n)
    share = None if money is None else max(0.0, money - spent.cost_usd) / n
    return limits.model_copy(update={"max_tool_calls": calls, "max_tokens": tokens, "max_cost_usd": share})


def _smallest_limit(*limits: float | None) -> float | None:
    return min((limit for limit in limits if limit is not None), default=None)
