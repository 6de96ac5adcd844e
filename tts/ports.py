"""The ports of the system, as protocols. `tts.pipeline` uses nothing else.

Every call carries a `RequestContext`. Every stream is an async iterator whose `aclose()` stops the work behind it: in
the engine, in the tools, in other processes. Implementations of one port pass one contract suite (`tests/contract`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from pydantic import JsonValue

from tts.domain.answer import StopReason, Verdict
from tts.domain.claim import ClaimedPlace
from tts.domain.continued import Continued, KeptResult
from tts.domain.description import Description
from tts.domain.events import Event, ToolCalled, ToolResulted
from tts.domain.geo import Area, LatLon
from tts.domain.hypothesis import Hypothesis
from tts.domain.identity import Identity
from tts.domain.messages import Message, ProviderFields
from tts.domain.outgoing import Outgoing
from tts.domain.photo import Box, Photo
from tts.domain.picture_rules import PictureRules
from tts.domain.plan import Limits, Locatability, Plan
from tts.domain.reading import Reading
from tts.domain.request import LocateOptions, RequestContext
from tts.domain.similar_photo import SimilarPhoto
from tts.domain.stop_settings import WatchSettings
from tts.domain.tooling import ToolCall, ToolResult
from tts.domain.trajectory import Trajectory, Turn
from tts.domain.usage import Usage
from tts.domain.value import Value


class Sampling(Value):
    """How the next tokens are drawn. `temperature` 0 is greedy; the same seed repeats exactly where the engine can.

    `logprobs` asks for the log-probability of each drawn token (0) or of that many alternatives beside it.
    """

    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = -1
    min_p: float = 0.0
    presence_penalty: float = 0.0
    repetition_penalty: float = 1.0
    seed: int | None = None
    max_tokens: int = 1024
    stop: tuple[str, ...] = ()
    logprobs: int | None = None


class ToolSchema(Value):
    """A tool as a model sees it: name, description, JSON schema of the arguments. `sends_photo`: a call sends a part of
    the photo to somebody else, so that the tool is for requests that consent (`allow_region_search`). `repeatable`: a
    call changes nothing, so it may be made twice.
    """

    name: str
    description: str
    parameters: dict[str, JsonValue]
    sends_photo: bool = False
    repeatable: bool = True


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One generation. `session_id` is the same for all turns of one rollout, so that an engine may keep its prefix.

    `lora` names an adapter of the engine. `photos` are the pixels behind `ImageRef`s with a box; `files` those behind
    refs without one. `readings` are what perception read off the photos: engines that see pixels ignore it, the
    `clues` engine sees with it.

    `tools` may be called in this turn. `listed_tools` are those the prompt lists, the same over all turns so that the
    prefix stays; None means the same as `tools`, empty that the messages describe them already.

    `testing` are places in question, `not_there` those that the caller ruled out. `money_usd` is what the turn may
    cost, None without a limit; `sampling.max_tokens` keeps to it already; an engine that asks a second model for the
    turn pays that from it, too. `siblings` is above 1 if as many rollouts divide what they ask first among them, and
    `sibling` is the number of this one.
    """

    context: RequestContext
    session_id: str
    messages: tuple[Message, ...]
    sampling: Sampling
    photos: tuple[Photo, ...] = ()
    files: dict[str, bytes] = field(default_factory=dict)
    tools: tuple[ToolSchema, ...] = ()
    listed_tools: tuple[ToolSchema, ...] | None = None
    pictures: PictureRules = field(default_factory=PictureRules)
    json_schema: dict[str, JsonValue] | None = None
    readings: tuple[Reading, ...] = ()
    within: Area | None = None
    hint: str | None = None
    lora: str | None = None
    money_usd: float | None = None
    testing: tuple[ClaimedPlace, ...] = ()
    not_there: tuple[ClaimedPlace, ...] = ()
    sibling: int = 0
    siblings: int = 1


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of a generation. The last one has `finish_reason` and `usage`; `logprobs` where they were asked for.

    `spent` is what a question of the engine's own took, such as whether the endpoint reads long prompts whole: told in
    a piece of its own, and not in `usage`, which tells how long this conversation is.
    `described` is what an observer said of a photo, in a piece of its own: it is for the rest of the request.
    `provider_fields`, in the last piece, have to be on the message when it is sent back.
    """

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    token_ids: tuple[int, ...] = ()
    logprobs: tuple[float, ...] = ()
    finish_reason: Literal["stop", "length", "tool_calls"] | None = None
    usage: Usage | None = None
    spent: Usage | None = None
    described: tuple[Description, ...] = ()
    provider_fields: ProviderFields | None = None

    @property
    def is_aside(self) -> bool:
        """Whether it only tells of what was spent or seen: nothing of the generation is passed on with it."""
        return self.spent is not None or bool(self.described)


class ModelClient(Protocol):
    """An engine. Closing the iterator aborts the generation in it."""

    @property
    def name(self) -> str:
        """What people read in errors and logs: the model's name, or the engine's kind."""

    def generate(self, request: ModelRequest) -> AsyncIterator[Delta]:
        """Generate one turn, piece by piece. Raises ModelError if the engine fails, Overloaded if it is full."""


@runtime_checkable
class Closable(Protocol):
    """What holds connections: engines over HTTP, and whatever uses one."""

    async def aclose(self) -> None:
        """Close the connections. The object may be used again afterwards."""


async def close_each(*parts: object) -> None:
    """Close those of the parts that hold something."""
    for part in parts:
        if isinstance(part, Closable):
            await part.aclose()


class Attachment(Value):
    """Bytes of a picture that a tool made, on their way to the files of the request. Not an event."""

    sha256: str
    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool may look at besides its arguments."""

    request: RequestContext
    photos: tuple[Photo, ...] = ()
    within: Area | None = None
    photo_sha256: tuple[str, ...] = ()
    hide_photo_hosts: bool = False
    allow_region_search: bool = False

    def photo_hashes(self) -> tuple[str, ...]:
        """Names of the photos, also where their pixels are not (the broker)."""
        return self.photo_sha256 or tuple(photo.sha256 for photo in self.photos)


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """A result and the bytes of the pictures it names."""

    result: ToolResult
    attachments: tuple[Attachment, ...] = ()


class Toolbox(Protocol):
    """Named tools. A failing call is a `ToolResult` with a failure; only a crash raises (`ToolCrashed`)."""

    def schemas(self) -> tuple[ToolSchema, ...]:
        """The tools that may be called here, as a model sees them; each name occurs once."""

    async def call(self, call: ToolCall, context: ToolContext) -> ToolOutcome:
        """Run one call, within its time limit and that of the request. The result may be a failure.

        Raises:
            ToolCrashed: the tool raised something other than a ToolError.
        """


class Perception(Protocol):
    """Reads the text in a photo, or in a box of it at a larger scale. Same input, same reading."""

    async def read(self, photo: Photo, box: Box | None, context: RequestContext, language: str = "") -> Reading:
        """Read a photo.

        Args:
            box: the part to read; None for the whole photo.
            language: a BCP 47 primary tag, whose reader reads all lines. Empty: chosen for each line by its script.

        Raises:
            ToolError: no reader has the language; the message names the languages that there are.
        """


@dataclass(frozen=True, slots=True)
class Routing:
    """What the router found: the score, the reading it took on the way (so that it is taken once), what the model used
    that it asked, and what an observer said of the photos.
    """

    locatability: Locatability
    readings: tuple[Reading, ...] = ()
    usage: Usage = Usage()
    described: tuple[Description, ...] = ()


class Locator(Protocol):
    """Rates how much of a place the photos show."""

    async def rate(self, photos: Sequence[Photo], context: RequestContext) -> Routing:
        """Rate all photos of a request together, with a score from 0 (hopeless) to 1 (easy)."""


class Checkpoint(Value):
    """All that continues a rollout after a finished turn; never streamed to clients. `stop`: only draws are left."""

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
    """One rollout to run: its number and seed, and where and with which of several models to go on, if it was cut off
    before. `direction` is the line of enquiry that it begins with, `taken` are those of its siblings.
    `name_directions` is how many the leader names.
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
    """A group of rollouts of one query: the unit of placement (ADR 0002). `n_total` counts all groups together.

    `files` are the pictures that tools made for rollouts which go on from a checkpoint; `leader` is the best guess of
    earlier groups of the same query. `warm`: another rollout of the query has been through the prompt, so that none of
    these has to go ahead. `kv_tokens`: what the group is expected to hold of an engine's KV cache in the end, 0 where
    nobody reckons with it. `testing`: the rollouts find out which of these places it is; the others are blind to them.
    `continued` is what an earlier request found, `kept` are results of its tools, which are not asked again.
    `diverse_first_calls`: the rollouts begin with different tool calls.
    `may_begin` is awaited before each turn in this process, and before the group is sent to another one, where it does
    not go: it waits while the work may be another process's, or raises GivenAway.
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


class Gallery(Protocol):
    """Photos of known position."""

    async def similar(self, photos: Sequence[Photo]) -> tuple[SimilarPhoto, ...]:
        """Those that look most like any of the photos, most similar first, each once."""


class Rollouts(Protocol):
    """Runs groups of rollouts and says how a query is best split into groups."""

    def group_size(self, group: GroupRequest) -> int:
        """How many of the rollouts of `group` should run together in one group, 1 or more."""

    def run(self, group: GroupRequest) -> AsyncIterator[Sequence[RolloutItem]]:
        """Yield batches of items, text merged. Each task gets its `rollout_finished`, also if its replica is lost."""


@dataclass(frozen=True, slots=True)
class VerifyRequest:
    """Everything the verifier may know. Trajectories are exchangeable: their order says nothing.
    `claimed`: places that the photo is said to show; `testing` are trajectories that knew of them and have no votes.
    `inquiry`: calls that a verifier has made for the request before.
    """

    context: RequestContext
    photos: tuple[Photo, ...]
    options: LocateOptions
    trajectories: tuple[Trajectory, ...]
    readings: tuple[Reading, ...] = ()
    claimed: tuple[ClaimedPlace, ...] = ()
    testing: tuple[Trajectory, ...] = ()
    inquiry: tuple[Turn, ...] = ()


class VerdictText(Value):
    """A piece of the verifier's reasons."""

    text: str


VerifierItem = VerdictText | Verdict | Usage | ToolCalled | ToolResulted


class Verifier(Protocol):
    """Weighs trajectories into one answer. Yields reasons, its own tool calls and what it used; last the verdict."""

    def verify(self, request: VerifyRequest) -> AsyncIterator[VerifierItem]:
        """Yield reasons, tool calls and usage as they come, and one Verdict as the last item."""


class OutgoingRecord(Protocol):
    """Knows what tools sent to services outside, and keeps what others sent beside it."""

    async def about(self, request_id: str) -> tuple[Outgoing, ...]:
        """Everything tools sent for a request so far, in order. Raises GeoTTSError when a part cannot be asked."""

    async def note(self, sent: Sequence[Outgoing]) -> None:
        """Write down what was sent by others than tools, where a file is kept. Raises GeoTTSError when that fails."""


class Router(Protocol):
    """Turns a locatability and the caller's options into a plan; pure. Unknown dialects raise ConfigError."""

    def plan(self, options: LocateOptions, routing: Routing, *, opened: Plan | None = None) -> Plan:
        """The plan of a request. If a leader has started by the plan `opened`, the budget of that plan is kept."""

    def within_budget(self, options: LocateOptions) -> LocateOptions:
        """The options, with what follows from their budget if they have one. Applying it twice changes nothing more."""

    def money_usd(self, options: LocateOptions) -> float | None:
        """What all models of a request may cost together, in US dollars; None without a limit."""

    def opening(self, options: LocateOptions) -> Plan:
        """The plan before anything is known of the photos."""

    def testing(self, plan: Plan, options: LocateOptions, *, started: int, spent: Usage) -> Plan | None:
        """The plan of rollouts that test a claim beside `started` blind ones; None if nothing is left for them."""

    def escalate(self, plan: Plan, options: LocateOptions, *, started: int, spent: Usage) -> Plan | None:
        """The next plan if `plan` was not enough; its `n_planned` counts the added rollouts. None if there is none."""


@dataclass(frozen=True, slots=True)
class Ports:
    """All a request needs, in process or behind Ray Serve. `outgoing` is None where there are no tools to ask."""

    locator: Locator
    router: Router
    rollouts: Rollouts
    verifier: Verifier
    identity: Identity
    watch: WatchSettings = field(default_factory=WatchSettings)
    outgoing: OutgoingRecord | None = None
