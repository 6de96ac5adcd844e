"""Rollouts on an in-process engine without Ray: fixed turns of fixed length, one zoomed region a turn.

The model's words mean nothing (its weights are random), so a dialect of the benchmark decides what a turn does: look at
the next region, and answer in the last turn. Tokens, pictures, caches and batching are those of real rollouts.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from geotts_benchmarks.plain_photo import plain_photo
from geotts_benchmarks.real_vllm.random_weights import Shape, write_checkpoint
from tools.zoom import zoom_tool
from tts.aio import closing
from tts.config import VllmEngine
from tts.dialects.base import Completion, ParsedTurn, Task
from tts.dialects.hermes_tool_parser import tools_text
from tts.dialects.served.generic import GenericDialect
from tts.dialects.settings import DialectSettings
from tts.dialects.stated_answer import StatedAnswer
from tts.domain.geo import LatLon
from tts.domain.photo import Photo
from tts.domain.photo_cleaning import load_photo
from tts.domain.plan import Limits
from tts.domain.request import RequestContext
from tts.domain.tooling import ToolCall
from tts.domain.usage import Usage
from tts.inference.vllm.engine import VllmModel
from tts.ports.model_client import Delta, ModelClient, ModelRequest, Sampling
from tts.ports.rollout_groups import GroupRequest, RolloutTask
from tts.rollout.agent import Agent
from tts.rollout.group import run_group
from tts.toolkit.spec import schema_of
from tts.toolkit.toolbox import LocalToolbox

_ZOOM = schema_of(zoom_tool())


@dataclass(slots=True)
class Turn:
    """What one generation cost. Order of the list is the order in which they were begun."""

    session_id: str
    usage: Usage = Usage()


@dataclass(slots=True)
class RecordedModel:
    """A `ModelClient` that notes what each generation cost."""

    inner: ModelClient
    turns: list[Turn] = field(default_factory=list)

    @property
    def name(self) -> str:
        """That of the inner model."""
        return self.inner.name

    async def generate(self, request: ModelRequest) -> AsyncIterator[Delta]:
        """The deltas of the inner model; the last usage among them goes into `turns`."""
        turn = Turn(request.session_id)
        self.turns.append(turn)
        async with closing(self.inner.generate(request)) as deltas:
            async for delta in deltas:
                turn.usage = delta.usage or turn.usage
                yield delta


@dataclass(slots=True)
class RecordedForks(RecordedModel):
    """A `ForksPrompts` that also notes what the answers cost that are drawn in one request."""

    inner: VllmModel
    drawn: list[Usage] = field(default_factory=list)

    @property
    def forks_prompts(self) -> bool:
        """As the inner model."""
        return self.inner.forks_prompts

    async def draw(self, request: ModelRequest, count: int) -> tuple[tuple[str | None, ...], Usage]:
        """The draws of the inner model; their usage goes into `drawn`."""
        texts, usage = await self.inner.draw(request, count)
        self.drawn.append(usage)
        return texts, usage


class ZoomingDialect(GenericDialect):
    """Zooms in every turn but the last of `turns`, whatever the model says. Its limits allow `spare_turns` more."""

    def __init__(self, turns: int, tokens_a_turn: int, spare_turns: int = 0) -> None:
        most = turns + spare_turns
        super().__init__(DialectSettings(limits=Limits(max_turns=most, max_tool_calls=most, max_tokens=10**6)))
        self._turns = turns
        self._tokens = tokens_a_turn

    def sampling(self, *, rollout_id: int, n: int, seed: int, turn: int, max_tokens: int) -> Sampling:
        """`tokens_a_turn` at most, whatever the budget, with a seed for each turn of a request."""
        return Sampling(temperature=0.7, seed=(seed * 1009 + turn) % 2**31, max_tokens=self._tokens)

    def parse(self, completion: Completion, *, turn: int) -> ParsedTurn:
        """A zoom into one of 20 regions, or in the last turn a fixed point; the completion is not read."""
        if turn + 1 >= self._turns:
            return ParsedTurn(answer=StatedAnswer(point=LatLon(lat=48.86, lon=2.35)))
        left, top = 0.1 * (turn % 5), 0.1 * (turn % 4)
        bbox = [left, top, left + 0.5, top + 0.5]
        return ParsedTurn(calls=(ToolCall(id=f"call_{turn}_0", name="image_zoom", arguments={"bbox": bbox}),))


@contextmanager
def engine(shape: Shape, **options: Any) -> Iterator[VllmModel]:
    """An engine with random weights in the shape of a model; its checkpoint is made here and removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        texts = [message.text for message in GenericDialect().opening(Task(photos=()))] + [tools_text([_ZOOM])]
        write_checkpoint(Path(folder), shape, "\n".join(texts))
        model = VllmModel(VllmEngine(model=folder, load_format="dummy", **options))
        try:
            yield model
        finally:
            model.close()


def cpu_options() -> dict[str, Any]:
    """What a CPU needs to start soon and stay small."""
    return {
        "eager": True,
        "kv_cache_gb": 1,
        "max_model_len": 8192,
        "max_running": 16,
    }


@dataclass(frozen=True, slots=True)
class GroupMeasurement:
    """One group of rollouts: wall time, its generations, and what answers cost that were drawn together."""

    wall_s: float
    turns: tuple[Turn, ...]
    drawn: tuple[Usage, ...] = ()

    @property
    def usage(self) -> Usage:
        """The sum over all generations."""
        total = Usage()
        for turn in self.turns:
            total += turn.usage
        return total


async def run_rollouts(
    model: ModelClient,
    *,
    n: int,
    turns: int,
    tokens: int,
    photo: Photo,
    name: str,
    draws: int = 1,
    spare_turns: int = 0,
) -> GroupMeasurement:
    """N rollouts of one photo as the service runs them: in a group, the first one ahead.

    Each answer is drawn `draws` times. With `spare_turns` it comes before the last turn that the limits allow.
    """
    recorded = RecordedForks(model) if isinstance(model, VllmModel) else RecordedModel(model)
    agent = Agent(recorded, ZoomingDialect(turns, tokens, spare_turns), LocalToolbox([zoom_tool()]))
    most = turns + spare_turns
    group = GroupRequest(
        context=RequestContext(id=name, remaining_s=3600.0),
        photos=(photo,),
        tasks=tuple(RolloutTask(rollout_id=i, seed=i + 1) for i in range(n)),
        n_total=n,
        limits=Limits(max_turns=most, max_tool_calls=most, max_tokens=10**6, answer_draws=draws),
    )
    started = time.perf_counter()
    async with closing(run_group(agent, group, coalesce_s=0.025, prefix_wait_s=60.0)) as batches:
        async for _ in batches:
            pass
    drawn = tuple(recorded.drawn) if isinstance(recorded, RecordedForks) else ()
    return GroupMeasurement(time.perf_counter() - started, tuple(recorded.turns), drawn)


def a_photo(width: int, height: int) -> Photo:
    """A plain photo of this size in pixels, loaded as the service loads photos."""
    return load_photo(plain_photo(width, height))
