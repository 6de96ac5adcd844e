"""Scales the Rollout deployment by generations in flight and by the use of the KV cache, not by Serve calls.

A call carries a whole group of rollouts, so counting calls says little. Replicas report what they run; Serve applies
the bounds and delays of the configuration around the number given here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ray.serve.config import AutoscalingContext

from tts.ports.engine_offers import EngineHealth, EngineLoad
from tts.ports.model_client import ModelClient

POLICY = "deployments.serve.scaling:RolloutScaling"
GENERATIONS = "generations"
KV_USE = "kv_use"
_MAX_KV_SHARE = 0.85
_CALL_WEIGHT = 4.0  # generations that a call which still waits in a queue stands for


def generations_of(engines: Sequence[ModelClient]) -> int | None:
    """Generations that all engines of a replica run; None when one of them does not count its own."""
    counts = [engine.running if isinstance(engine, EngineLoad) else None for engine in engines]
    counted = [count for count in counts if count is not None]
    return sum(counted) if len(counted) == len(engines) else None


def load_of(engines: Sequence[ModelClient], rollouts: int) -> dict[str, float]:
    """What a replica reports: generations that its engines run, as rollouts that wait for tools need no other replica.
    Where an engine does not count, `rollouts` in flight. Of several KV caches the fullest counts.

    The embedded engine does not count: it decides a whole turn in one step of the event loop. Between two steps, when
    this is called, it computes nothing (`docs/measurements.md`). Its replicas would report no load, and would not be
    scaled up.
    """
    generations = generations_of(engines)
    load = {GENERATIONS: float(rollouts if generations is None else generations)}
    caches = [engine.kv_use for engine in engines if isinstance(engine, EngineHealth)]
    if shares := [share for share in caches if share is not None]:
        load[KV_USE] = max(shares)
    return load


class RolloutScaling:
    """Replicas so that each runs `target` generations, and one more while the KV caches are nearly full."""

    def __init__(self, target: float = 16.0) -> None:
        self._target = target

    def __call__(self, ctx: AutoscalingContext) -> tuple[float, dict[str, Any]]:
        """Called by Serve: the number of replicas wanted, without bounds, and a state that is always empty."""
        metrics = ctx.aggregated_metrics or {}
        running = sum(metrics.get(GENERATIONS, {}).values())
        queued = (ctx.total_queued_requests or 0.0) * _CALL_WEIGHT
        wanted = math.ceil((running + queued) / self._target)
        if not metrics and ctx.total_num_requests > 0:
            wanted = max(wanted, ctx.current_num_replicas)  # a new replica has not reported yet
        use = list(metrics.get(KV_USE, {}).values())
        if use and sum(use) / len(use) > _MAX_KV_SHARE:
            wanted = max(wanted, ctx.current_num_replicas + 1)
        return wanted, {}
