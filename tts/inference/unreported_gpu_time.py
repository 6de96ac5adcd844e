"""GPU seconds that no usage has reported, by request: of generations that were cut off, and of those that still run.

A generation that ends by itself reports its seconds in its usage. One that is closed before has no reader any more,
and it is closed where a whole rollout or verifier is closed, which says nothing either. Its engine keeps the seconds
here, and the pipeline takes them when the work for the request has ended.

Another process passes them on with what it sends (`deployments.serve.envelope`). A process whose stream is cancelled
cannot send anything more. Therefore it passes on early what a running generation has cost so far, and subtracts it
again when the usage of the generation reports it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol

from tts.latest_entries import LatestEntries

_MAX_REQUESTS = 10_000
_ROUNDING_S = 1e-9


class Charge(Protocol):
    """The GPU seconds of one generation."""

    @property
    def gpu_s(self) -> float:
        """Up to now, or up to its end."""
        ...

    @property
    def is_reported(self) -> bool:
        """Whether a usage has them."""
        ...

    def end(self) -> None:
        """It costs nothing from now on."""
        ...


class UnreportedGpuTime:
    """If there are too many requests, the seconds of the oldest requests are dropped."""

    def __init__(self) -> None:
        self._pending_s_by_request: LatestEntries[str, float] = LatestEntries(_MAX_REQUESTS)
        self._running_charges: dict[str, dict[Charge, float]] = {}  # with the seconds that were taken before its end

    @contextmanager
    def track_generation(self, request_id: str, charge: Charge) -> Iterator[None]:
        """Within the block the generation runs. Ends the charge, and keeps what no usage has reported."""
        running = self._running_charges.setdefault(request_id, {})
        running[charge] = 0.0
        try:
            yield
        finally:
            charge.end()
            taken_s = running.pop(charge)
            if not running:
                del self._running_charges[request_id]
            self.add(request_id, _unreported_s(charge) - taken_s)

    def add(self, request_id: str, gpu_s: float) -> None:
        """Keep seconds of a request; negative ones if seconds that were taken are in a usage now."""
        left_s = self._pending_s_by_request.pop(request_id, 0.0) + gpu_s
        if not request_id or abs(left_s) < _ROUNDING_S:
            return
        self._pending_s_by_request[request_id] = left_s

    def take(self, request_id: str) -> float:
        """Seconds of a request that were not taken before; those of running generations up to now."""
        taken_s = self._pending_s_by_request.pop(request_id, 0.0)
        running = self._running_charges.get(request_id, {})
        for charge, before_s in running.items():
            running[charge] = _unreported_s(charge)
            taken_s += running[charge] - before_s
        return taken_s

    def has_seconds(self, request_id: str) -> bool:
        """Whether there are seconds of generations that have ended."""
        return request_id in self._pending_s_by_request


def _unreported_s(charge: Charge) -> float:
    return 0.0 if charge.is_reported else charge.gpu_s


UNREPORTED_GPU_TIME: Final = UnreportedGpuTime()
"""The one of this process."""
