"""Metrics of the brokers for Prometheus: the latest snapshot of every Tools replica, labelled with its name.

Each gateway reports all brokers. A query over several gateways takes `max by (tool, replica)` before it sums.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import accumulate

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from tts.toolkit.broker.stats import BUCKETS_S, BrokerSnapshot

_STATES = ("closed", "open", "trial")


class BrokerMetrics(Collector):
    """A collector over `snapshots`, by replica. Replicas that did not answer last time are left out."""

    def __init__(self) -> None:
        self.snapshots: Mapping[str, BrokerSnapshot] = {}

    def collect(self) -> Iterator[Metric]:
        """Called at each scrape: metric families made from `snapshots`, nothing is asked of the brokers."""
        replicas = GaugeMetricFamily("geotts_broker_replicas", "Tools replicas that reported their figures.")
        replicas.add_metric((), len(self.snapshots))
        errors = CounterMetricFamily(
            "geotts_broker_store_errors", "Calls that went on without the cache.", None, ("replica",)
        )
        for replica, snapshot in self.snapshots.items():
            errors.add_metric((replica,), snapshot.store_errors)
        yield replicas
        yield errors
        yield from self._tool_metrics()
        yield from self._provider_metrics()

    def _tool_metrics(self) -> Iterator[Metric]:
        labels = ("tool", "replica")
        calls = CounterMetricFamily("geotts_broker_calls", "Tool calls at the broker.", None, labels)
        found = CounterMetricFamily(
            "geotts_broker_found",
            "Results that cost no call: a hit, joined to a call under way, or a stale one that stood in.",
            None,
            ("tool", "source", "replica"),
        )
        failed = CounterMetricFamily(
            "geotts_broker_failures", "Tool calls that failed at the broker.", None, ("tool", "kind", "replica")
        )
        seconds = HistogramMetricFamily("geotts_broker_seconds", "Seconds a call took at the broker.", labels=labels)
        for replica, snapshot in self.snapshots.items():
            for tool, figures in snapshot.tools.items():
                calls.add_metric((tool, replica), figures.calls)
                for source, count in (("hit", figures.hits), ("joined", figures.joined), ("stale", figures.stale)):
                    found.add_metric((tool, source, replica), count)
                for kind, count in figures.failures.items():
                    failed.add_metric((tool, kind, replica), count)
                if figures.latency:
                    bounds = [*(str(bound) for bound in BUCKETS_S), "+Inf"]
                    buckets = list(zip(bounds, accumulate(figures.latency), strict=True))
                    seconds.add_metric((tool, replica), buckets, figures.latency_sum_s)
        yield from (calls, found, failed, seconds)

    def _provider_metrics(self) -> Iterator[Metric]:
        labels = ("provider", "replica")
        requests = CounterMetricFamily("geotts_provider_requests", "Requests sent to a provider.", None, labels)
        retries = CounterMetricFamily("geotts_provider_retries", "Requests sent again.", None, labels)
        opened = CounterMetricFamily("geotts_provider_breaker_opened", "Times a breaker opened.", None, labels)
        busy = GaugeMetricFamily(
            "geotts_provider_busy", "Requests to a provider by what they do.", None, ("provider", "state", "replica")
        )
        breaker = GaugeMetricFamily(
            "geotts_provider_breaker", "1 for the state the breaker is in.", None, ("provider", "state", "replica")
        )
        keys = GaugeMetricFamily("geotts_provider_keys_left", "Keys that may be used now.", None, labels)
        for replica, snapshot in self.snapshots.items():
            for provider, figures in snapshot.providers.items():
                requests.add_metric((provider, replica), figures.requests)
                retries.add_metric((provider, replica), figures.retries)
                opened.add_metric((provider, replica), figures.opened)
                busy.add_metric((provider, "running", replica), figures.running)
                busy.add_metric((provider, "queued", replica), figures.queued)
                for state in _STATES:
                    breaker.add_metric((provider, state, replica), figures.breaker == state)
                if figures.usable_keys is not None:
                    keys.add_metric((provider, replica), figures.usable_keys)
        yield from (requests, retries, opened, busy, breaker, keys)
