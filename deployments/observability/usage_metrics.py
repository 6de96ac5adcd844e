"""Metrics of rollouts for Prometheus: their usage and how they end. With the answer (or the end without one), also the
usage of the other models of the request.

Tokens are counted turn by turn, so that a rollout which is cut off has cost what it cost. A rollout without an end of
its own ends with its request, for the request's reason.
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter

from tts.domain.events import Done, RolloutFinished, RolloutStarted, TurnFinished
from tts.domain.usage import NO_USAGE, Usage

_TOKEN_KINDS = ("prompt", "completion", "cached", "preempted")
_Amounts = tuple[float, ...]  # in the order of _TOKEN_KINDS, then seconds of GPU time, then US dollars
_ZERO_AMOUNTS: _Amounts = (0, 0, 0, 0, 0.0, 0.0)


class UsageMetrics:
    """Remembers the rollouts under way of each request, and what was counted of them, until the request ends."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._rollouts = Counter("geotts_rollouts_total", "Rollouts that ended.", ("stop_reason",), registry=registry)
        tokens = Counter("geotts_tokens_total", "Tokens of the engine.", ("kind",), registry=registry)
        gpu = Counter(
            "geotts_gpu_seconds_total",
            "Seconds in which an engine in this service generated for requests, times the GPUs it holds.",
            registry=registry,
        )
        cost = Counter("geotts_cost_usd_total", "US dollars that models cost, by their prices.", registry=registry)
        self._counters = (*(tokens.labels(kind) for kind in _TOKEN_KINDS), gpu, cost)
        self._open_rollouts: dict[str, dict[int, _Amounts]] = {}
        self._answered_requests: set[str] = set()  # until the request ends
        self._reported_usage: dict[str, dict[int, Usage]] = {}  # what each rollout last said it had used

    def on_rollout_started(self, request_id: str, event: RolloutStarted) -> None:
        """Remember a rollout under way; one that starts again keeps what was counted of it."""
        self._open_rollouts.setdefault(request_id, {}).setdefault(event.rollout_id, _ZERO_AMOUNTS)

    def on_turn_finished(self, request_id: str, event: TurnFinished) -> None:
        """Count what the rollout used since its last report. The usage of the event is that of all its turns."""
        rollouts = self._open_rollouts.setdefault(request_id, {})
        self._reported_usage.setdefault(request_id, {})[event.rollout_id] = event.usage
        rollouts[event.rollout_id] = self._count_increase(rollouts.get(event.rollout_id, _ZERO_AMOUNTS), event.usage)

    def on_rollout_finished(self, request_id: str, event: RolloutFinished) -> None:
        """Count the rollout under its stop reason, and what it used since its last report."""
        self._rollouts.labels(event.stop_reason.value).inc()
        self._reported_usage.setdefault(request_id, {})[event.rollout_id] = event.usage
        self._count_increase(self._open_rollouts.get(request_id, {}).pop(event.rollout_id, _ZERO_AMOUNTS), event.usage)

    def on_answer(self, request_id: str, usage: Usage) -> None:
        """Count what the verifier, its second reader and the router used: what no rollout did."""
        self._answered_requests.add(request_id)
        self._count_increase(_amounts_of(self._total_reported(request_id)), usage)

    def on_done(self, request_id: str, event: Done) -> None:
        """Count rollouts without an end of their own under the stop reason of the request."""
        if rollouts := self._open_rollouts.pop(request_id, None):
            self._rollouts.labels(event.stop_reason.value).inc(len(rollouts))

    def on_end(self, request_id: str, used: Usage) -> None:
        """Of a request without an answer, count the part of `used` that no event reported.

        That is what verifier and router used, and rollouts whose last events were on their way when it was cancelled.
        """
        if request_id in self._answered_requests:
            self._answered_requests.discard(request_id)
        else:
            self._count_increase(_amounts_of(self._total_reported(request_id)), used)
        self.forget(request_id)

    def _total_reported(self, request_id: str) -> Usage:
        """What its rollouts have reported so far."""
        return sum(self._reported_usage.get(request_id, {}).values(), NO_USAGE)

    def forget(self, request_id: str) -> None:
        """Drop what is remembered of the request; counters stay as they are."""
        self._open_rollouts.pop(request_id, None)
        self._reported_usage.pop(request_id, None)

    def _count_increase(self, before: _Amounts, usage: Usage) -> _Amounts:
        """Add what is new. A rollout that was set back to an earlier turn says less: nothing is new then."""
        total = _amounts_of(usage)
        for counter, old, new in zip(self._counters, before, total, strict=True):
            if new > old:
                counter.inc(new - old)
        return tuple(map(max, before, total))


def _amounts_of(usage: Usage) -> _Amounts:
    tokens = (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens, usage.preempted_tokens)
    return (*tokens, usage.gpu_s, usage.cost_usd)
