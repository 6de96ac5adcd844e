"""Makes the answer from a verdict: adds the data of the request (counts, route, usage, timing, provenance)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from tts.domain.answer import Answer, Provenance, RolloutStatus, Route, RunCount, StopReason, Timing, Verdict
from tts.domain.budget import Budget, BudgetUse
from tts.domain.earlier_request import EarlierRequest, change_of
from tts.domain.exif_claims import FileClaim
from tts.domain.geo import distance_km
from tts.domain.identity import Identity
from tts.domain.trajectory import Run, Trajectory
from tts.domain.usage import NO_USAGE, ModelUsage, Usage
from tts.ensemble.rollout_failures import failure_warnings, moved_warnings
from tts.ports.locator import UNRATED
from tts.verify.assembly.file_checks import file_checks

NOT_COMPARED = "the text in the photos could not be read in time: it was not compared with what you said"


def answer_from(
    verdict: Verdict,
    run: Run,
    *,
    beside: Usage = NO_USAGE,
    identity: Identity,
    stop_reason: StopReason,
    marks: dict[str, float],
    file_claims: tuple[FileClaim, ...] = (),
    check_files: bool = False,
    continued: EarlierRequest | None = None,
    budget: Budget | None = None,
    states_something: bool = False,
) -> Answer:
    """`run` must hold `accepted` and `routed`; `beside` is what models used besides the rollouts;
    `marks` are seconds since acceptance by name of a `Timing` field. `states_something`: the caller says what the text
    in the photos can contradict.
    """
    assert run.accepted is not None
    usage = sum((trajectory.usage for trajectory in run.trajectories), NO_USAGE)
    timing = Timing(**marks)
    answered = sum(trajectory.answer is not None for trajectory in run.trajectories)
    route = _route(run, usage)
    unread = (NOT_COMPARED,) if states_something and route and route.locatability == UNRATED.locatability else ()
    return Answer(
        **{name: value for name, value in verdict if name != "warnings"},
        n=RunCount(
            asked=run.accepted.n_parallel,
            planned=route.plan.n_planned if route else 0,
            run=len(run.trajectories),
            answered=answered,
            abstained=sum(one.answer is not None and one.answer.point is None for one in run.trajectories),
            models=len({one.source for one in run.trajectories}) or None,
        ),
        route=route,
        stop_reason=stop_reason,
        rollouts=tuple(_status(trajectory) for trajectory in run.trajectories),
        undone=tuple(_unfinished_work(run)),
        usage=usage + beside,
        usage_by_model=_usage_by_model(run.trajectories),
        timing=timing,
        file_claims=tuple(_claim_with_distance(claim, verdict) for claim in file_claims),
        file_checks=file_checks(file_claims, verdict) if check_files else (),
        warnings=(*identity.notes, *unread, *verdict.warnings, *moved_warnings(run), *failure_warnings(run)),
        provenance=Provenance(
            photo_sha256=tuple(photo.sha256 for photo in run.accepted.photos),
            source_sha256=tuple(photo.source_sha256 for photo in run.accepted.photos),
            version=identity.version,
            engine=identity.engine,
            model=identity.model,
            dialect=run.accepted.dialect,
            prompt_sha256=identity.prompt_sha256_of(run.accepted.dialect),
            verifier=identity.verifier,
            providers=identity.providers,
            data_versions=identity.data_versions,
            seed=run.accepted.seed,
            answered_at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            request_id=run.accepted.request_id,
        ),
        changed=None if continued is None else change_of(continued, verdict),
        budget=None if budget is None else _budget_use(budget, usage, beside, timing),
    )


def _usage_by_model(trajectories: Sequence[Trajectory]) -> tuple[ModelUsage, ...]:
    """In the order of the first rollout of each model; empty unless the rollouts are of several."""
    models = dict.fromkeys(trajectory.source for trajectory in trajectories)
    if len(models) < 2:
        return ()
    own = {model: [one.usage for one in trajectories if one.source == model] for model in models}
    return tuple(ModelUsage(model=model, rollouts=len(each), usage=sum(each, NO_USAGE)) for model, each in own.items())


def _budget_use(budget: Budget, usage: Usage, beside: Usage, timing: Timing) -> BudgetUse:
    """What was used of each thing that the budget limits. Other models than those of rollouts cost money, too."""
    return BudgetUse(
        budget=budget,
        tokens=None if budget.tokens is None else usage.completion_tokens,
        seconds=None if budget.seconds is None else timing.total_s,
        money_usd=None if budget.money_usd is None else round((usage + beside).cost_usd, 6),
    )


def _route(run: Run, usage: Usage) -> Route | None:
    """The first plan, with what it and every escalation were expected to take beside what they took."""
    if run.routed is None:
        return None
    plans = [run.routed.plan, *(escalation.plan for escalation in run.escalations)]
    predicted = {name: sum(plan.predicted_cost.get(name, 0.0) for plan in plans) for name in plans[0].predicted_cost}
    real = {"rollouts": float(len(run.trajectories))}
    real |= {name: float(getattr(usage, name)) for name in ("turns", "tool_calls", "completion_tokens")}
    return Route(locatability=run.routed.locatability, plan=run.routed.plan, predicted_cost=predicted, real_cost=real)


def _status(trajectory: Trajectory) -> RolloutStatus:
    return RolloutStatus(
        rollout_id=trajectory.rollout_id,
        stop_reason=trajectory.stop_reason,
        answered=trajectory.answer is not None,
        turns=trajectory.usage.turns,
        tool_calls=trajectory.usage.tool_calls,
        error=trajectory.error,
        source=trajectory.source,
    )


_CUT_REASONS = {
    StopReason.DEADLINE: "the time was up",
    StopReason.BUDGET: "its budget was used up",
    StopReason.QUORUM: "the others already agreed",
    StopReason.CANCELLED: "it took much longer than the others",
}


def _unfinished_work(run: Run) -> list[str]:
    """What was planned and did not come to its end."""
    planned = run.routed.plan.n_planned if run.routed else 0
    planned += sum(escalation.added for escalation in run.escalations)
    undone = [text for trajectory in run.trajectories if (text := _cut_reason(trajectory))]
    if (missing := planned - len(run.trajectories)) > 0:
        enough = all(t.stop_reason is StopReason.ANSWERED for t in run.trajectories)
        planned_ones = f"{missing} planned rollout{' was' if missing == 1 else 's were'}"
        why = ": the first ones already agreed" if enough and len(run.trajectories) > 1 else ""
        undone.append(f"{planned_ones} not started{why}")
    return undone


def _cut_reason(trajectory: Trajectory) -> str:
    """Why a rollout did not come to its end; empty when it did."""
    turns = f"after {trajectory.usage.turns} turn{'' if trajectory.usage.turns == 1 else 's'}"
    if trajectory.stop_reason is StopReason.FAILED:
        return f"rollout {trajectory.rollout_id} failed {turns}"
    if trajectory.stop_reason in _CUT_REASONS:
        return f"rollout {trajectory.rollout_id} stopped early, {turns}: {_CUT_REASONS[trajectory.stop_reason]}"
    return ""


def _claim_with_distance(claim: FileClaim, verdict: Verdict) -> FileClaim:
    """The claim with its distance from the answer, when both name a point."""
    if claim.point is None or verdict.point is None:
        return claim
    return claim.model_copy(update={"distance_km": round(distance_km(claim.point, verdict.point), 3)})
