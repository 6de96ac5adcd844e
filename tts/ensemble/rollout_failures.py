"""Distinguishes a request that found nothing from a request in which nothing could work.

An abstention is a finding about the photo. When engine, tools or replicas failed before any rollout had a hypothesis,
nothing was found out about the photo, and that is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tts.domain.answer import StopReason
from tts.domain.failure import FailureCause, RolloutFailure
from tts.domain.trajectory import Run, Trajectory
from tts.ensemble.failed_tools import tool_warnings, tools_failure
from tts.errors import RolloutsFailed, UpstreamRefused

_MAX_CAUSES = 8  # in an event
_MAX_NAMED_CAUSES = 3  # in a sentence


def failure_of_rollouts(run: Run, endpoint: str = "") -> RolloutsFailed | None:
    """The error of a run in which no rollout came to a hypothesis because it could not work. `endpoint` is the address
    of the engine; a rollout that heard nothing from it in all its time could not work either.

    None when any rollout has a hypothesis ("I do not know" is one), and when one that did not fail heard its engine: a
    rollout that spent its budget or its time thinking has looked at the photo. One that called tools of which none
    served a call has failed.
    """
    trajectories = run.trajectories
    if any(t.best is not None for t in trajectories):
        return None
    found = [failure_of(t) or tools_failure(t) or _silence_failure(t, endpoint) for t in trajectories]
    failures = [failure for failure in found if failure is not None]
    others = [t for t, failure in zip(trajectories, found, strict=True) if failure is None]
    if trajectories and (not failures or any(t.turns for t in others)):
        return None
    failures = failures or [_not_started_failure()]
    causes = causes_of(failures)
    refused = sum(failure.is_refusal for failure in failures)
    kind = UpstreamRefused if 2 * refused >= len(failures) else RolloutsFailed
    return kind(
        f"no rollout could work, so nothing is known about the photo: {_sentence(causes)}",
        causes=causes,
        retry_after_s=_longest_wait(cause.retry_after_s for cause in causes),
    )


def stop_reason_of(run: Run) -> StopReason:
    """The stop reason of a request that nothing cut, from those of its rollouts."""
    reasons = {trajectory.stop_reason for trajectory in run.trajectories}
    for reason in (StopReason.DEADLINE, StopReason.ANSWERED, StopReason.BUDGET, StopReason.CANCELLED):
        if reason in reasons:
            return reason
    return StopReason.FAILED


def failure_warnings(run: Run) -> tuple[str, ...]:
    """Warnings of an answer about failed rollouts, how many and why, and about tools that failed every call."""
    trajectories = run.trajectories
    failures = [failure for t in trajectories if (failure := failure_of(t)) is not None]
    causes = causes_of(failures)
    sentences = [
        f"{cause.rollouts} of {len(trajectories)} rollouts failed: {cause.text}" for cause in causes[:_MAX_NAMED_CAUSES]
    ]
    if rest := sum(cause.rollouts for cause in causes[_MAX_NAMED_CAUSES:]):
        sentences.append(f"{rest} of {len(trajectories)} rollouts failed for other reasons")
    if not failures and not any(t.turns for t in trajectories):
        sentences.append("the time was up before any rollout had produced anything: nothing is known about the photo")
    return (*sentences, *tool_warnings(run))


def moved_warnings(run: Run) -> tuple[str, ...]:
    """One sentence for each reason why another model than planned did rollouts."""
    by_reason: dict[tuple[str, str], list[int]] = {}
    for trajectory in run.trajectories:
        if trajectory.moved:
            by_reason.setdefault((trajectory.moved, trajectory.source), []).append(trajectory.rollout_id)
    return tuple(
        f"{reason}: {source or 'another model'} did its rollout{'s' if len(ids) > 1 else ''} "
        f"({', '.join(str(i) for i in ids)})"
        for (reason, source), ids in by_reason.items()
    )


def failure_of(trajectory: Trajectory) -> RolloutFailure | None:
    """Why a rollout failed; None when it did not."""
    if trajectory.failure is not None:
        return trajectory.failure
    if trajectory.stop_reason is not StopReason.FAILED:
        return None
    code, _, detail = trajectory.error.partition(": ")
    return RolloutFailure(code=code or "rollout", detail=detail or "it failed")


def causes_of(failures: Sequence[RolloutFailure]) -> tuple[FailureCause, ...]:
    """Failures that differ at most in how long to wait together, the most frequent first."""
    alike: dict[RolloutFailure, list[float | None]] = {}
    for failure in failures:
        alike.setdefault(failure.model_copy(update={"retry_after_s": None}), []).append(failure.retry_after_s)
    ranked = sorted(alike.items(), key=lambda item: -len(item[1]))
    return tuple(
        FailureCause(**{**dict(one), "retry_after_s": _longest_wait(waits)}, rollouts=len(waits))
        for one, waits in ranked[:_MAX_CAUSES]
    )


def _longest_wait(waits: Iterable[float | None]) -> float | None:
    return max((wait for wait in waits if wait is not None), default=None)


def _silence_failure(trajectory: Trajectory, endpoint: str) -> RolloutFailure | None:
    """The failure of an endpoint that had sent nothing to a rollout at the deadline."""
    if not endpoint or trajectory.turns or trajectory.stop_reason is not StopReason.DEADLINE:
        return None
    return RolloutFailure(
        code="silent",
        detail="the endpoint had sent nothing when the time was up",
        endpoint=endpoint,
        mend="find out why it is silent, or give it more time (deadline_s)",
    )


def _not_started_failure() -> RolloutFailure:
    return RolloutFailure(
        code="not-started",
        detail="no replica took a rollout in time",
        mend="look at /readyz and at the log of the service, or give it more time (deadline_s)",
    )


def _sentence(causes: Sequence[FailureCause]) -> str:
    return "; ".join(_clauses(causes[:_MAX_NAMED_CAUSES]))


def _clauses(causes: Sequence[FailureCause]) -> Iterator[str]:
    for cause in causes:
        count = f" ({cause.rollouts} rollouts)" if cause.rollouts > 1 else ""
        unsaid = cause.mend if cause.mend not in cause.detail else ""
        yield f"{cause.text}{count}" + (f". What to do: {unsaid}" if unsaid else "")
