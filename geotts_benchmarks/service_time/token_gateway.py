"""The gateway of `geotts bench tokens`, alone on one core: `python -m geotts_benchmarks.service_time.token_gateway`.

Its rollouts say what they would say behind an engine in other processes: a batch for each group in each window, with
the text of every rollout merged. Every text begins with the moment at which it was made. The port is the first line of
stdout; each line of stdin is answered with what was recorded since the last one.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import orjson
import uvloop

from deployments.config import AppArgs, GatewayConfig
from deployments.gateway.gateway import Gateway
from deployments.runstore import LogEntry, MemoryRunStore
from deployments.wiring.local import local_ports
from geotts_benchmarks.gateway_on_socket import serve_on_socket
from geotts_benchmarks.harness import percentile
from tts.config import RoutingConfig, ScriptedEngine
from tts.domain.answer import StopReason
from tts.domain.events import RolloutFinished, RolloutStarted, Text
from tts.domain.hypothesis import Hypothesis, Level
from tts.ports.rollout_groups import GroupRequest, RolloutItem

CHUNK_S = 0.025
"""A chunk is what one rollout says in this time (coalesce_s); in larger pieces, a piece counts as several."""
UNFOLLOWED_CHUNKS = 10  # tts/rollout/group.py merges over 0.25 s when nobody follows
TALKING_S = 4.0
_WORDS = "the sign over the door is in "


class TalkingRollouts:
    """All rollouts of a request in one group, as for a model on one GPU; they talk for `TALKING_S`, then abstain."""

    def group_size(self, group: GroupRequest) -> int:
        """All in one."""
        return len(group.tasks)

    async def run(self, group: GroupRequest) -> AsyncIterator[Sequence[RolloutItem]]:
        """One batch a window; a window that comes late is not caught up with, so that the load stays what it is."""
        ids = [task.rollout_id for task in group.tasks]
        yield [RolloutStarted(rollout_id=task.rollout_id, seed=task.seed) for task in group.tasks]
        chunks = 1 if group.followed else UNFOLLOWED_CHUNKS
        end = time.monotonic() + TALKING_S
        while time.monotonic() < end:
            await asyncio.sleep(CHUNK_S * chunks)
            text = f"{time.monotonic():.6f} {_WORDS * chunks}"
            yield [Text(rollout_id=i, turn=0, text=text) for i in ids]
        nothing = Hypothesis(level=Level.NONE)
        yield [RolloutFinished(rollout_id=i, stop_reason=StopReason.ANSWERED, answer=nothing) for i in ids]


class Recording(MemoryRunStore):
    """Notes how long a text was on its way into the log."""

    def __init__(self) -> None:
        super().__init__(60.0)
        self.lags: list[float] = []

    async def append(self, request_id: str, entries: Sequence[LogEntry]) -> None:
        """As the store does."""
        await super().append(request_id, entries)
        now = time.monotonic()
        for entry in entries:
            if entry.kind == "text":
                self.lags.append(now - float(orjson.loads(entry.payload)["text"].split(" ", 1)[0]))


async def _serve() -> None:
    args = AppArgs(
        engine=ScriptedEngine(turns=1, tokens_per_turn=1, tool=None),
        routing=RoutingConfig(method="fixed"),
        gateway=GatewayConfig(max_in_flight=4096),
    )
    store = Recording()
    gateway = Gateway(args, replace(local_ports(args), rollouts=TalkingRollouts()), store=store)
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    async with serve_on_socket(gateway, args) as (_, port):
        print(port, flush=True)  # noqa: T201
        while await lines.readline():
            lags = store.lags
            store.lags = []
            figures = {"texts": len(lags), "lag_p95_ms": round(percentile(lags, 0.95) * 1e3, 1) if lags else 0.0}
            print(orjson.dumps(figures).decode(), flush=True)  # noqa: T201
    await gateway.aclose()


if __name__ == "__main__":
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    uvloop.run(_serve())
