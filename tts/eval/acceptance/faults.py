"""Counts each kind of fault in recorded trajectories.

Every fault has its own base: rollouts, turns, or calls. A turn that was cut off counts as cut and not as unreadable,
because one cause has one remedy. A request that broke counts too, as far as its rollouts were recorded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from tts.domain.answer import StopReason
from tts.domain.call_key import call_key
from tts.domain.tooling import ToolCall, ToolErrorKind
from tts.domain.trajectory import Run, Trajectory
from tts.domain.value import Value
from tts.eval.acceptance.rate import Rate

_MODEL_MISTAKES = frozenset({ToolErrorKind.INVALID_ARGUMENTS, ToolErrorKind.UNKNOWN_TOOL, ToolErrorKind.NOT_ALLOWED})
_CONTEXT = "context"
_MAX_WORDS = 3  # of one kind that are shown


class FaultRates(Value):
    """Rates of faults.

    Of rollouts: `broken_rollouts` (the engine failed, the context apart), `cut_contexts` (the conversation was longer
    than the context), `late_rollouts` (the deadline ended them), `rollouts_without_calls`. Of turns:
    `parse_failures` (whole, and nothing usable was in it), `cut_turns` (cut off at the token limit). Of calls:
    `invalid_calls` (no such tool, or arguments it does not take), `repeated_calls` (the same name and arguments as an
    earlier one of the rollout), `failed_calls` (the provider did not serve it).
    """

    broken_rollouts: Rate
    cut_contexts: Rate
    late_rollouts: Rate
    rollouts_without_calls: Rate
    parse_failures: Rate
    cut_turns: Rate
    invalid_calls: Rate
    repeated_calls: Rate
    failed_calls: Rate


def fault_rates(runs: Sequence[Run]) -> FaultRates:
    """The rates over all rollouts of these runs."""
    rollouts = _rollouts(runs)
    turns = [turn for rollout in rollouts for turn in rollout.turns if turn.finished]
    kinds = [
        result.failure.kind if result.failure is not None else None
        for rollout in rollouts
        for result in rollout.results
        if result.failure is None or result.failure.kind is not ToolErrorKind.BUDGET
    ]
    return FaultRates(
        broken_rollouts=Rate.from_cases([_is_broken(rollout) for rollout in rollouts]),
        cut_contexts=Rate.from_cases([_has_overflowed(rollout) for rollout in rollouts]),
        late_rollouts=Rate.from_cases([rollout.stop_reason is StopReason.DEADLINE for rollout in rollouts]),
        rollouts_without_calls=Rate.from_cases([not _calls(rollout) for rollout in _rollouts_with_tools(runs)]),
        parse_failures=Rate.from_cases([bool(turn.problem) and not turn.cut for turn in turns]),
        cut_turns=Rate.from_cases([turn.cut for turn in turns]),
        invalid_calls=Rate.from_cases([kind in _MODEL_MISTAKES for kind in kinds]),
        repeated_calls=Rate.from_cases([repeated for rollout in rollouts for repeated in _repeat_flags(rollout)]),
        failed_calls=Rate.from_cases(
            [kind is not None and (kind.is_outage or kind is ToolErrorKind.BLOCKED) for kind in kinds]
        ),
    )


def has_reply_or_overflow(run: Run) -> bool:
    """Whether the engine said anything, or refused a conversation for its length: then there is something to report."""
    return any(rollout.turns or _has_overflowed(rollout) for rollout in run.trajectories)


def frequent_problems(runs: Iterable[Run]) -> tuple[str, ...]:
    """Why whole turns could not be used, the most frequent reasons first."""
    turns = [turn for rollout in _rollouts(runs) for turn in rollout.turns]
    return _most_frequent(turn.problem for turn in turns if turn.problem and not turn.cut)


def frequent_mistakes(runs: Iterable[Run]) -> tuple[str, ...]:
    """What the toolbox said to invalid calls, the most frequent first."""
    failures = [result.failure for rollout in _rollouts(runs) for result in rollout.results]
    return _most_frequent(one.detail for one in failures if one is not None and one.kind in _MODEL_MISTAKES)


def frequent_failures(runs: Iterable[Run]) -> tuple[str, ...]:
    """Why rollouts failed, in the words of the part that failed, the most frequent reasons first."""
    return _most_frequent(rollout.failure.text for rollout in _rollouts(runs) if rollout.failure is not None)


def _most_frequent(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(text for text, _ in Counter(texts).most_common(_MAX_WORDS))


def _rollouts(runs: Iterable[Run]) -> list[Trajectory]:
    return [rollout for run in runs for rollout in run.trajectories]


def _is_broken(rollout: Trajectory) -> bool:
    """Whether it failed for another reason than what the model said, or the context."""
    failed = rollout.stop_reason is StopReason.FAILED and not _has_overflowed(rollout)
    last = rollout.turns[-1] if rollout.turns else None
    return failed and not (last is not None and (last.problem or last.cut))


def _has_overflowed(rollout: Trajectory) -> bool:
    return rollout.failure is not None and rollout.failure.about == _CONTEXT


def _rollouts_with_tools(runs: Iterable[Run]) -> Iterator[Trajectory]:
    """Rollouts that were offered tools and came to a turn."""
    for run in runs:
        if run.routed is None or run.routed.plan.use_tools:
            yield from (rollout for rollout in run.trajectories if rollout.turns)


def _calls(rollout: Trajectory) -> list[ToolCall]:
    return [call for turn in rollout.turns for call in turn.calls]


def _repeat_flags(rollout: Trajectory) -> Iterator[bool]:
    """For each call whether an earlier one was the same."""
    seen: set[bytes] = set()
    for call in _calls(rollout):
        key = call_key(call)
        yield key in seen
        seen.add(key)
