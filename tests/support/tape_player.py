"""A process of its own that runs requests under a configuration and writes down everything about them but their times.

    python tests/support/tape_player.py CONFIG.yaml OUT.jsonl REQUESTS

Request i always has the same photo, options and id: two processes that see the same tool results write the same file.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import orjson

from deployments.config import load_config
from deployments.wiring.local import local_ports
from support.basics import sign_bytes
from tts.domain.photo_cleaning import load_photo
from tts.domain.request import LocateOptions, LocateRequest
from tts.domain.trajectory import fold
from tts.pipeline import solve
from tts.ports.request_ports import Ports
from tts.ports.toolbox import Attachment

SIGNS = [("Wilhelmsburg", "Hamburg"), ("Rua da Sofia", "Coimbra"), ("Via Roma", "Torino"), ("Otaru", "Hokkaido")]
_MAX_CONCURRENT = 4
_EXCLUDED_FIELDS: dict[str, bool | set[str]] = {"timing": True, "cost": True, "provenance": {"answered_at"}}


async def play_request(ports: Ports, number: int) -> bytes:
    """One request: its answer, every trajectory with all that was said, called and seen, and its pictures."""
    photo = load_photo(sign_bytes(*SIGNS[number % len(SIGNS)]))
    options = LocateOptions(n_parallel=3, depth="deep", stop="none", seed=number)
    request = LocateRequest(f"loc_{number:020x}", (photo,), options)
    events, pictures = [], set()
    async for item in solve(request, ports, deadline_s=600.0):
        if isinstance(item, Attachment):
            pictures.add(item.sha256)
        else:
            events.append(item)
    run = fold(events)
    assert run.answer is not None, run.failure
    result = {
        "answer": run.answer.model_dump(mode="json", exclude=_EXCLUDED_FIELDS),
        "trajectories": [trajectory.jsonable() for trajectory in run.trajectories],
        "pictures": sorted(pictures),
    }
    return orjson.dumps(result)


async def play(ports: Ports, requests: int) -> list[bytes]:
    limit = asyncio.Semaphore(_MAX_CONCURRENT)

    async def one(number: int) -> bytes:
        async with limit:
            return await play_request(ports, number)

    return await asyncio.gather(*(one(number) for number in range(requests)))


if __name__ == "__main__":
    lines = asyncio.run(play(local_ports(load_config(Path(sys.argv[1]))), int(sys.argv[3])))
    Path(sys.argv[2]).write_bytes(b"\n".join(lines) + b"\n")
