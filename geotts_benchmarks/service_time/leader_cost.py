"""The time that a leader costs, measured in this process, one request of each kind after the other.

Three kinds of the same request on an engine of one turn: a depth that the caller named (`standard`), `auto` with the
photo rated before any rollout starts (`rated_first`), and `auto` led by the first rollout (`led`, width full), beside
which the photo is rated. Of each: milliseconds on top of the engine's, and until the engine saw its first call. Once
with one photo, whose rating is known after the first time, and once with a photo that nobody has rated before.
"""

from __future__ import annotations

import asyncio
import io
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

from PIL import Image

from deployments.config import AppArgs
from deployments.wiring.local import local_ports, local_tools
from deployments.wiring.parts import make_agent_model
from deployments.wiring.rollouts import LocalRollouts
from geotts_benchmarks.harness import Result, median, print_progress
from tts.aio import closing
from tts.config import RoutingConfig, ScriptedEngine
from tts.domain.photo import Photo
from tts.domain.photo_cleaning import load_photo
from tts.domain.plan import Depth
from tts.domain.request import LocateOptions, LocateRequest, new_request_id
from tts.errors import FatalError
from tts.package_files import SAMPLES
from tts.perception.local_perception import LocalPerception
from tts.pipeline import solve
from tts.ports.model_client import Delta, ModelClient, ModelRequest
from tts.ports.request_ports import Ports
from tts.ports.toolbox import Attachment

_DEADLINE_S = 60.0
_KINDS = ("standard", "rated_first", "led")
_METHODS = {"standard": "fixed", "rated_first": "cues", "led": "leader"}


class _WatchedEngine:
    """An engine that remembers when it was first called."""

    def __init__(self, model: ModelClient) -> None:
        self._model = model
        self.name = model.name
        self.first_call: float | None = None

    def forget(self) -> None:
        self.first_call = None

    async def generate(self, request: ModelRequest) -> AsyncIterator[Delta]:
        if self.first_call is None:
            self.first_call = time.perf_counter()
        async for delta in self._model.generate(request):
            yield delta


@dataclass(frozen=True, slots=True)
class _Kind:
    ports: Ports
    model: _WatchedEngine
    depth: Depth

    async def ask(self, photo: Photo, n: int, seed: int) -> tuple[float, float]:
        """Seconds until the answer, and until the engine was called."""
        self.model.forget()
        options = LocateOptions(n_parallel=n, depth=self.depth, seed=seed, stop="none")
        request = LocateRequest(id=new_request_id(), photos=(photo,), options=options)
        started = time.perf_counter()
        async with closing(solve(request, self.ports, deadline_s=_DEADLINE_S)) as items:
            kinds = [item.type async for item in items if not isinstance(item, Attachment)]
        if "answer" not in kinds or self.model.first_call is None or kinds.count("rollout_started") != n:
            raise FatalError(f"{n} rollouts were asked for, and there were {kinds}")
        return time.perf_counter() - started, self.model.first_call - started


def measure_led(n: int, repeats: int, engine_s: float) -> Result:
    """The figures of each kind by photo: `known` and `new`. `led_adds_ms` is led against rated first, pair by pair."""
    return asyncio.run(_measure(n, repeats, engine_s))


async def _measure(n: int, repeats: int, engine_s: float) -> Result:
    perception = LocalPerception()
    kinds = {name: _make_kind(name, perception, engine_s) for name in _KINDS}
    found: Result = {}
    for photos in ("known", "new"):
        walls: dict[str, list[float]] = {name: [] for name in _KINDS}
        calls: dict[str, list[float]] = {name: [] for name in _KINDS}
        for i in range(-1, repeats):  # the first round warms up
            for place in range(len(_KINDS)):
                name = _KINDS[(place + i) % len(_KINDS)]
                number = 1 + (i + 1) * len(_KINDS) + place if photos == "new" else 0
                wall, call = await kinds[name].ask(_photo(number), n, i + 1)
                if i >= 0:
                    walls[name].append(wall - engine_s)
                    calls[name].append(call)
        pairs = [led - first for led, first in zip(walls["led"], walls["rated_first"], strict=True)]
        found[photos] = {
            "added_p50_ms": {name: round(1e3 * median(walls[name]), 2) for name in _KINDS},
            "first_call_p50_ms": {name: round(1e3 * median(calls[name]), 2) for name in _KINDS},
            "led_adds_ms": round(1e3 * median(pairs), 2),
        }
        print_progress(f"auto and full, a {photos} photo: {found[photos]}")
    perception.close()
    return found


def _make_kind(name: str, perception: LocalPerception, engine_s: float) -> _Kind:
    args = AppArgs(
        engine=ScriptedEngine(turns=1, tokens_per_turn=16, turn_s=engine_s, tool=None, sees_pictures=True),
        routing=RoutingConfig.model_validate({"method": _METHODS[name]}),
    )
    tools = local_tools(args, perception)
    model = _WatchedEngine(make_agent_model(args))
    ports = replace(local_ports(args, tools, perception), rollouts=LocalRollouts(model, tools.toolbox, args))
    return _Kind(ports, model, Depth.STANDARD if name == "standard" else Depth.AUTO)


def _photo(number: int) -> Photo:
    """A street of the samples; each number is another photo to whoever remembers photos by their bytes."""
    with Image.open(next(iter(sorted(SAMPLES.glob("*.jpg"))))) as sample:
        picture = sample.convert("RGB").resize((640, 480))
    picture.putpixel((number % 640, number // 640), (number % 256, 0, 0))
    out = io.BytesIO()
    picture.save(out, "PNG")
    return load_photo(out.getvalue())
