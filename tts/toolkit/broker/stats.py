"""Counts and latencies of tools, for `/metrics` and for people."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Final, Literal

from tts.domain.value import Value
from tts.errors import ToolErrorKind

BUCKETS_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
Source = Literal["hit", "joined", "stale", "call"]


class ToolFigures(Value):
    """One tool since start. `latency` counts calls up to each bound of `BUCKETS_S`, and beyond, in that order."""

    calls: int = 0
    hits: int = 0
    joined: int = 0
    stale: int = 0
    failures: dict[str, int] = {}
    latency: tuple[int, ...] = ()
    latency_sum_s: float = 0.0


class ProviderFigures(Value):
    """One provider since start."""

    requests: int = 0
    retries: int = 0
    running: int = 0
    queued: int = 0
    breaker: Literal["closed", "open", "trial"] = "closed"
    opened: int = 0
    usable_keys: int | None = None


class BrokerSnapshot(Value):
    """Figures of one broker by tool and by provider; `store_errors` counts failures of the cache store."""

    tools: dict[str, ToolFigures] = {}
    providers: dict[str, ProviderFigures] = {}
    store_errors: int = 0


@dataclass(slots=True)
class ToolCounter:
    """Counts the calls of one tool.

    Attributes:
        sources: calls by where their result came from, by `Source`.
        failures: failed calls by the kind of the error.
        latency: calls up to each bound of `BUCKETS_S`, and beyond, in that order.
        latency_sum_s: seconds that all calls took together.
        calls: calls so far.
    """

    sources: dict[str, int] = field(default_factory=dict)
    failures: dict[str, int] = field(default_factory=dict)
    latency: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS_S) + 1))
    latency_sum_s: float = 0.0
    calls: int = 0

    def record_time(self, elapsed_s: float) -> None:
        """Count a call that has ended, well or not, and its time.

        Args:
            elapsed_s: seconds from the call to its result, waits included.
        """
        self.calls += 1
        self.latency[bisect_left(BUCKETS_S, elapsed_s)] += 1
        self.latency_sum_s += elapsed_s

    def count_source(self, source: Source) -> None:
        """Count where a result came from: the cache, a call under way, an older result, or the tool.

        Args:
            source: `hit`, `joined`, `stale` or `call`, in this order. A call that is split counts each part.
        """
        self.sources[source] = self.sources.get(source, 0) + 1

    def record_failure(self, kind: ToolErrorKind) -> None:
        """Count a failure by its kind.

        Args:
            kind: the kind of the failure that the model was shown.
        """
        self.failures[kind.value] = self.failures.get(kind.value, 0) + 1

    def figures(self) -> ToolFigures:
        """Report the counts so far.

        Returns:
            A value that does not change; seconds are rounded to a microsecond.
        """
        return ToolFigures(
            calls=self.calls,
            hits=self.sources.get("hit", 0),
            joined=self.sources.get("joined", 0),
            stale=self.sources.get("stale", 0),
            failures=dict(self.failures),
            latency=tuple(self.latency),
            latency_sum_s=round(self.latency_sum_s, 6),
        )
