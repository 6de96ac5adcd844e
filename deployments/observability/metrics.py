"""Metrics of a gateway for Prometheus. All figures about requests are computed from their events, so they agree with
them.

Names are part of the interface: the dashboard in `ray_configs/grafana.json` is checked against them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from deployments.observability.broker_metrics import BrokerMetrics
from deployments.observability.request_observer import RequestObserver
from deployments.observability.room_metrics import RoomMetrics
from deployments.observability.usage_metrics import UsageMetrics
from deployments.runstore import RunMeta
from tts.domain.answer import Answer
from tts.domain.events import (
    Answered,
    Done,
    Event,
    Failed,
    RolloutFinished,
    RolloutStarted,
    Text,
    ToolResulted,
    TurnFinished,
)
from tts.domain.tooling import ToolResult
from tts.domain.usage import Usage
from tts.errors import ToolErrorKind

CONTENT_TYPE = CONTENT_TYPE_LATEST
_SECONDS_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900)
_SHARE_BUCKETS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def _task_count() -> int:
    """Tasks of the loop that runs this; 0 outside of one."""
    try:
        return len(asyncio.all_tasks())
    except RuntimeError:
        return 0


class Metrics(RequestObserver):
    """One registry a gateway. Requests are counted when they end."""

    def __init__(self) -> None:
        r = self._registry = CollectorRegistry()
        ProcessCollector(registry=r)
        counter = partial(Counter, registry=r)
        seconds = partial(Histogram, buckets=_SECONDS_BUCKETS, registry=r)
        shares = partial(Histogram, buckets=_SHARE_BUCKETS, registry=r)
        self.http = counter("geotts_http_requests_total", "HTTP replies.", ("route", "status"))
        self.http_seconds = seconds("geotts_http_seconds", "From the request line to the last byte.", ("route",))
        self.first_event = seconds("geotts_first_event_seconds", "From the request line to the first event.")
        self._answer_seconds = seconds("geotts_answer_seconds", "From acceptance to the answer.")
        self._requests = counter("geotts_requests_total", "Requests that ended.", ("stop_reason",))
        self._failures = counter("geotts_failures_total", "Requests that ended in an error.", ("code",))
        self._answers = counter("geotts_answers_total", "Answers, by the level they reach.", ("level",))
        self._abstentions = counter("geotts_abstentions_total", "Answers without a point.")
        self._agreement = shares("geotts_agreement", "Support of the best candidate, 0 to 1.")
        self._confidence = shares("geotts_confidence", "Stated probability of being within the radius asked for.")
        self._rollouts = UsageMetrics(r)
        self._tools = counter("geotts_tool_calls_total", "Tool calls.", ("tool", "outcome"))
        self._cache_hits = counter("geotts_tool_cache_hits_total", "Tool calls answered from a cache.", ("tool",))
        self._tool_seconds = seconds("geotts_tool_seconds", "Seconds a tool call took.", ("tool",))
        self._erasures = counter("geotts_erasures_total", "Requests erased on demand.")
        self.brokers = BrokerMetrics()
        r.register(self.brokers)
        self.rooms = RoomMetrics()
        r.register(self.rooms)
        self._in_flight = Gauge("geotts_in_flight", "Requests by what they do.", ("state",), registry=r)
        self._tasks = Gauge("geotts_tasks", "Tasks on the event loop of the gateway.", registry=r)

    def watch_queue(self, reading: Callable[[], float], working: Callable[[], float]) -> None:
        """Gauges are asked when they are scraped."""
        self._in_flight.labels("reading").set_function(reading)
        self._in_flight.labels("working").set_function(working)
        self._tasks.set_function(_task_count)

    def exposition(self) -> bytes:
        """Prometheus text format."""
        return generate_latest(self._registry)

    def on_event(self, meta: RunMeta, event: Event) -> None:
        """Count an event; pieces of text are not counted."""
        if isinstance(event, Text):  # most of them are
            return
        if isinstance(event, ToolResulted):
            self._count_tool_result(event.result)
        elif isinstance(event, RolloutStarted):
            self._rollouts.on_rollout_started(meta.request_id, event)
        elif isinstance(event, TurnFinished):
            self._rollouts.on_turn_finished(meta.request_id, event)
        elif isinstance(event, RolloutFinished):
            self._rollouts.on_rollout_finished(meta.request_id, event)
        elif isinstance(event, Answered):
            self._answer_seconds.observe(event.t_s)
            self._count_answer(event.answer)
            self._rollouts.on_answer(meta.request_id, event.answer.usage)
        elif isinstance(event, Failed):
            self._failures.labels(event.code).inc()
        elif isinstance(event, Done):
            self._requests.labels(event.stop_reason.value).inc()
            self._rollouts.on_done(meta.request_id, event)

    def on_end(self, meta: RunMeta, seconds: float, used: Usage) -> None:
        """Of a request without an answer, count the usage of its models that no event reported."""
        self._rollouts.on_end(meta.request_id, used)

    def on_erased(self, meta: RunMeta) -> None:
        """Count the erasure and forget what was remembered of the request."""
        self._erasures.inc()
        self._rollouts.forget(meta.request_id)

    def _count_tool_result(self, result: ToolResult) -> None:
        outcome = "ok" if result.failure is None else result.failure.kind.value
        # a model may invent names; labels must not grow with its imagination
        name = "unknown" if outcome == ToolErrorKind.UNKNOWN_TOOL.value else result.name
        self._tools.labels(name, outcome).inc()
        self._tool_seconds.labels(name).observe(result.elapsed_s)
        if result.cached:
            self._cache_hits.labels(name).inc()

    def _count_answer(self, answer: Answer) -> None:
        self._answers.labels(answer.level).inc()
        self._confidence.observe(answer.confidence)
        if answer.abstained:
            self._abstentions.inc()
        if answer.candidates:
            self._agreement.observe(answer.candidates[0].support)
