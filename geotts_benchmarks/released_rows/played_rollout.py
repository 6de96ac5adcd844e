"""One rollout of the code that serves, over the outputs of a row."""

from __future__ import annotations

import io
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from PIL import Image

from geotts_benchmarks.released_rows.played_model import PlayedModel
from geotts_benchmarks.single_rollout import run_rollout
from tts.dialects.base import Dialect
from tts.domain.events import RolloutFinished, ToolCalled, ToolResulted
from tts.domain.messages import Message
from tts.domain.photo import Photo
from tts.domain.photo_cleaning import load_photo
from tts.domain.plan import Limits
from tts.domain.request import LocateOptions, RequestContext
from tts.domain.tooling import ToolCall, ToolResult
from tts.domain.usage import Usage
from tts.ports.model_client import ModelRequest
from tts.ports.rollout_groups import Checkpoint, GroupRequest, RolloutTask
from tts.ports.toolbox import Attachment, Toolbox
from tts.rollout.agent import Agent

_REMAINING_S = 60.0
_WIDE_LIMITS = Limits(max_turns=64, max_tool_calls=256, max_tokens=2**20)


@dataclass(slots=True)
class PlayedRollout:
    """What the rollout did. `requests` are those to the engine; `files` the pictures that tools made."""

    requests: list[ModelRequest]
    calls: list[ToolCall] = field(default_factory=list)
    results: list[ToolResult] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    finished: RolloutFinished | None = None

    def appended_messages(self) -> list[Message]:
        """What the second request has in addition to the first; nothing when there was none."""
        if len(self.requests) < 2:
            return []
        return list(self.requests[1].messages[len(self.requests[0].messages) :])


async def played_rollout(
    dialect: Dialect,
    toolbox: Toolbox,
    photo: Photo,
    outputs: Sequence[str],
    *,
    turns_before: int = 0,
    tokens_before: int = 0,
    earlier: Sequence[Message] = (),
    hide_photo_hosts: bool = False,
    limits: Limits = _WIDE_LIMITS,
    n: int = 1,
) -> PlayedRollout:
    """Run until the rollout ends. `earlier` are messages after the prompt, of turns that count as taken."""
    model = PlayedModel(outputs)
    agent = Agent(model, dialect, toolbox)
    group = GroupRequest(
        context=RequestContext(id="conformance", remaining_s=_REMAINING_S),
        photos=(photo,),
        tasks=(),
        n_total=n,
        limits=limits,
        options=LocateOptions(hide_photo_hosts=hide_photo_hosts),
    )
    task = RolloutTask(rollout_id=0, seed=0)
    if turns_before or tokens_before or earlier:
        opening = (*agent.brief(group).opening, *earlier)
        usage = Usage(turns=turns_before, completion_tokens=tokens_before)
        saved = Checkpoint(rollout_id=0, turn=turns_before - 1, messages=opening, usage=usage)
        task = RolloutTask(rollout_id=0, seed=0, resume_from=saved)
    played = PlayedRollout(model.requests)
    async for item in run_rollout(agent, group, task):
        if isinstance(item, ToolCalled):
            played.calls.append(item.call)
        elif isinstance(item, ToolResulted):
            played.results.append(item.result)
        elif isinstance(item, Attachment):
            played.files[item.sha256] = item.data
        elif isinstance(item, RolloutFinished):
            played.finished = item
    return played


@lru_cache(maxsize=8)
def made_photo(width: int, height: int) -> Photo:
    """A photo of that size: shapes on a ground, the same every time."""
    draw = random.Random(7)
    small = Image.new("RGB", (16, 12))
    small.putdata([(draw.randrange(256), draw.randrange(256), draw.randrange(256)) for _ in range(16 * 12)])
    out = io.BytesIO()
    small.resize((width, height), Image.Resampling.BICUBIC).save(out, "JPEG", quality=90)
    return load_photo(out.getvalue())
