"""What the engines of all Rollout replicas can still take, as this process knows it.

Every replica tells Serve each `PERIOD_S` (`record_routing_stats`), Serve tells the routers of its handles, and the
router (`deployments.serve.request_router`) keeps it here. Where no router reports, nothing is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tts.config.engines import Engine
from tts.ports.engine_offers import EngineCapacity
from tts.ports.model_client import ModelClient
from tts.rollout.group_size import Room

PERIOD_S = 2.0
_FREE_TOKENS = "free_kv_tokens"
_FREE_SLOTS = "free_slots"
_KV_CACHE_STEPS = 32  # of a KV cache: smaller changes are not reported, so that idle replicas cost no messages


class _KnownRooms:
    rooms: Mapping[str, Room] = {}


def report_of(model: ModelClient, engine: Engine, *, rollouts: int, promised_tokens: int) -> dict[str, int]:
    """What a replica tells: the room of its engine beside what it has promised to groups that have not ended.

    Rollouts that wait for tools hold nothing now and will want it again: so the larger of use and promises counts.
    """
    report: dict[str, int] = {}
    if isinstance(model, EngineCapacity) and model.kv_tokens is not None:
        step = max(1, model.kv_tokens // _KV_CACHE_STEPS)
        free = max(0, model.kv_tokens - max(model.kv_used_tokens, promised_tokens))
        report[_FREE_TOKENS] = free // step * step
    if engine.slots is not None:
        report[_FREE_SLOTS] = max(0, engine.slots - rollouts)
    return report


def keep_reports(reports: Mapping[str, Mapping[str, Any]]) -> None:
    """The latest reports by replica; called by the router. Replicas that report nothing are left out."""
    _KnownRooms.rooms = {
        name: Room(tokens=report.get(_FREE_TOKENS), slots=report.get(_FREE_SLOTS))
        for name, report in reports.items()
        if report
    }


def known_rooms() -> Mapping[str, Room]:
    """By replica; empty where none has reported its room."""
    return _KnownRooms.rooms
