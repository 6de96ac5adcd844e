"""The port that runs rollouts, in groups."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tts.domain.answer import StopReason
from tts.domain.claim import ClaimedPlace
from tts.domain.continued import Continued, KeptResult
from tts.domain.description import Description
from tts.domain.events import Event
from tts.domain.geo import LatLon
from tts.domain.hypothesis import Hypothesis
from tts.domain.messages import Message
from tts.domain.photo import Photo
from tts.domain.plan import Limits
from tts.domain.reading import Reading
from tts.domain.request import LocateOptions, RequestContext
from tts.domain.usage import Usage
from tts.domain.value import Value
from tts.ports.toolbox import Attachment


class Checkpoint(Value):
    """All that continues a rollout after a finished turn; never streamed to clients.

    Attributes:
        stop: set if the rollout is over but for the draws of its answer.
    """

    rollout_id: int
    turn: int
    messages: tuple[Message, ...]
    usage: Usage
    corrections: int = 0
    best: Hypothesis | None = None
    prompt_tokens: int = 0
    observed_tokens: int = 0
    stop: StopReason | None = None


MayBegin = Callable[[], Awaitable[None]]
RolloutItem = Event | Checkpoint | Attachment | Description


@dataclass(frozen=True, slots=True)
class RolloutTask:
    """One rollout to run.

    Attributes:
        resume_from: where it goes on, if it was cut off before.
        source: the model that it runs with, of several.
        direction: the line of enquiry that it begins with.
        taken: the lines of enquiry of its siblings.
        name_directions: how many lines of enquiry it names, if it is the leader.
    """

    rollout_id: int
    seed: int
    resume_from: Checkpoint | None = None
    source: str = ""
    direction: str = ""
    taken: tuple[str, ...] = ()
    name_directions: int = 0


@dataclass(frozen=True, slots=True)
class GroupRequest:
    """A group of rollouts of one query: the unit of placement (ADR 0002).

    Attributes:
        n_total: the rollouts of all groups of the query together.
        leader: the best guess of earlier groups of the query.
        files: the pictures that tools made for rollouts which go on from a checkpoint, by SHA-256.
        warm: another rollout of the query has been through the prompt, so that none of these has to go ahead.
        kv_tokens: what the group is expected to hold of an engine's KV cache in the end; 0 where nobody asks for it.
        testing: the rollouts find out which of these places it is; rollouts of other groups are blind to them.
        continued: what an earlier request found.
        kept: results of the tools of that request, which are not asked again.
        diverse_first_calls: the rollouts begin with different tool calls.
        may_begin: awaited before each turn in this process, and before the group is sent to another process, where it
            does not go. It waits while the work may be another process's, or raises GivenAway.
    """

    context: RequestContext
    photos: tuple[Photo, ...]
    tasks: tuple[RolloutTask, ...]
    n_total: int
    limits: Limits
    dialect: str
    options: LocateOptions = field(default_factory=LocateOptions)
    use_tools: bool = True
    leader: LatLon | None = None
    readings: tuple[Reading, ...] = ()
    files: dict[str, bytes] = field(default_factory=dict)
    followed: bool = True
    warm: bool = False
    kv_tokens: int = 0
    testing: tuple[ClaimedPlace, ...] = ()
    continued: Continued | None = None
    kept: tuple[KeptResult, ...] = ()
    diverse_first_calls: bool = False
    may_begin: MayBegin | None = None


class Rollouts(Protocol):
    """Runs groups of rollouts and says how a query is best split into groups."""

    def group_size(self, group: GroupRequest) -> int:
        """How many of the rollouts of `group` should run together in one group, 1 or more."""

    def run(self, group: GroupRequest) -> AsyncIterator[Sequence[RolloutItem]]:
        """Yield batches of items, text merged. Each task gets its `rollout_finished`, also if its replica is lost."""
