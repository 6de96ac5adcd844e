"""The port that runs rollouts, in groups."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tts.domain.answer import StopReason
from tts.domain.claim import ClaimedPlace
from tts.domain.description import Description
from tts.domain.earlier_request import EarlierRequest, KeptResult
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
        rollout_id: the number of the rollout within its request, from 0.
        turn: the finished turn, from 0; the rollout goes on with the next.
        messages: the whole conversation, with the results of the turn's tool calls.
        usage: what the rollout has used so far, which counts against its limits.
        corrections: how often the model was told that its turn could not be used.
        best: the answer, or the best hypothesis so far; None before there is one.
        prompt_tokens: tokens of the first prompt, which no limit counts.
        observed_tokens: tokens that follow the first prompt, tool results too, where the dialect counts these.
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
        rollout_id: the number of the rollout within its request, from 0.
        seed: from which the seeds of its turns are derived.
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
        context: the id of the request, and the seconds that the rollouts have from now on.
        photos: the photos in the order of the request.
        tasks: the rollouts of this group.
        n_total: the rollouts of all groups of the query together.
        limits: what each rollout may use, before the limits of its dialect are applied.
        options: those of the request: the area, the hint, allowed tools, consents, and the dialect if it asks for one.
            What runs the group decides which dialect its engine speaks where it asks for none.
        use_tools: whether the rollouts are offered tools; without them they answer from the photos alone.
        leader: the best guess of earlier groups of the query.
        readings: the text that the locator read in the photos.
        files: the pictures that tools made for rollouts which go on from a checkpoint, by SHA-256.
        followed: somebody reads the events as they come. If nobody does, they come in fewer, larger batches.
        warm: another rollout of the query has been through the prompt, so that none of these has to go ahead.
        kv_tokens: what the group is expected to hold of an engine's KV cache in the end; 0 where nobody asks for it.
        testing: the rollouts find out which of these places it is; rollouts of other groups are blind to them.
        continued: what an earlier request found.
        kept: results of the tools of that request, which are not asked again.
        may_begin: awaited before each turn in this process, and before the group is sent to another process, where it
            does not go. It waits while the work may be another process's, or raises GivenAway.
        when_sent: called when the group has been sent to another process, where it does not go.
    """

    context: RequestContext
    photos: tuple[Photo, ...]
    tasks: tuple[RolloutTask, ...]
    n_total: int
    limits: Limits
    options: LocateOptions = field(default_factory=LocateOptions)
    use_tools: bool = True
    leader: LatLon | None = None
    readings: tuple[Reading, ...] = ()
    files: dict[str, bytes] = field(default_factory=dict)
    followed: bool = True
    warm: bool = False
    kv_tokens: int = 0
    testing: tuple[ClaimedPlace, ...] = ()
    continued: EarlierRequest | None = None
    kept: tuple[KeptResult, ...] = ()
    may_begin: MayBegin | None = None
    when_sent: Callable[[], None] | None = None

    @property
    def diverse_first_calls(self) -> bool:
        """Whether the rollouts begin with different tool calls, as the options ask. Those that test a claim do not."""
        return bool(self.options.diverse_first_calls) and not self.testing


class Rollouts(Protocol):
    """Runs groups of rollouts and says how a query is best split into groups."""

    def group_size(self, group: GroupRequest) -> int:
        """How many of the rollouts of `group` should run together in one group.

        Args:
            group: all rollouts that are to start now; nothing is run.

        Returns:
            1 or more, and `len(group.tasks)` at most; the caller divides the tasks into groups of this size.
        """

    def run(self, group: GroupRequest) -> AsyncIterator[Sequence[RolloutItem]]:
        """Yield batches of items, text merged. Closing the iterator stops the rollouts, their engine and their tools.

        Args:
            group: the rollouts to run, side by side.

        Returns:
            An iterator over batches. Items of one rollout are in order; those of several are mixed. Each task gets one
            `rollout_finished`, also if it failed or its replica is lost.

        Raises:
            GivenAway: what `may_begin` raised, where the rollouts run in this process.
            FatalError: the engine of this process is gone. Rollouts in other processes raise neither: they move, or end
                as failed.
        """
