"""What Prometheus sees of the room that engines have left, as this gateway knows it.

Replicas report it every two seconds where there are several of them (`deployments.serve.engine_rooms`). Each gateway
shows all replicas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from tts.rollout.group_size import Room


class RoomMetrics(Collector):
    """A collector over the rooms by replica that `rooms` returns; none as long as it is not set."""

    def __init__(self) -> None:
        self.rooms: Callable[[], Mapping[str, Room]] | None = None

    def collect(self) -> Iterator[Metric]:
        """Called at each scrape."""
        tokens = GaugeMetricFamily(
            "geotts_engine_free_kv_tokens",
            "Tokens of the KV cache that neither generations nor rollouts under way will need.",
            labels=("replica",),
        )
        slots = GaugeMetricFamily(
            "geotts_engine_free_slots", "Rollouts that the engine can take beside those it has.", labels=("replica",)
        )
        for name, room in (self.rooms() if self.rooms is not None else {}).items():
            if room.tokens is not None:
                tokens.add_metric((name,), room.tokens)
            if room.slots is not None:
                slots.add_metric((name,), room.slots)
        yield tokens
        yield slots
