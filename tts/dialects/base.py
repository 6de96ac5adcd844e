"""What a dialect is: the way one model family is prompted, calls tools and states its answer.

A dialect is pure: a task in, messages and schemas out; a completion in, a `ParsedTurn` out. It owns limits, box
conventions, tool names and sampling; the loop in `tts.rollout` owns everything that happens.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tts.dialects.settings import DialectSettings
from tts.dialects.stated_answer import StatedAnswer
from tts.domain.claim import ClaimedPlace
from tts.domain.continued import Continued
from tts.domain.cues import Cues
from tts.domain.geo import Area, LatLon
from tts.domain.hypothesis import Hypothesis
from tts.domain.messages import ImagePart, Message, TextPart
from tts.domain.photo import Photo
from tts.domain.picture_rules import PictureRules
from tts.domain.plan import Limits
from tts.domain.request import LocateOptions
from tts.domain.similar_photo import SimilarPhoto
from tts.domain.tooling import ImageRef, ToolCall
from tts.ports.model_client import Sampling
from tts.ports.toolbox import ToolOutcome, ToolSchema


@dataclass(frozen=True, slots=True)
class Task:
    """What a rollout is asked, as far as a prompt may show it. `similar`: photos of known position, nearest first;
    `testing`: places in question, for a rollout that tests a claim; `continued`: what an earlier request found.
    """

    photos: tuple[Photo, ...]
    options: LocateOptions = field(default_factory=LocateOptions)
    use_tools: bool = True
    tools: tuple[ToolSchema, ...] = ()
    similar: tuple[SimilarPhoto, ...] = ()
    testing: tuple[ClaimedPlace, ...] = ()
    continued: Continued | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """One finished generation: text, native tool calls if the engine parses them, and whether it was cut off."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class ParsedTurn:
    """What a turn means: calls to make, an answer, or a problem to tell the model about.

    `lookups` belong to an answer that names a place without a point: they are tried in order until one finds it.
    `kept` is how the message stays in the conversation, where a released loop writes it anew.
    """

    calls: tuple[ToolCall, ...] = ()
    answer: StatedAnswer | None = None
    hypothesis: StatedAnswer | None = None
    problem: str | None = None
    lookups: tuple[ToolCall, ...] = ()
    kept: str | None = None


@dataclass(frozen=True, slots=True)
class FinishedTurn:
    """A turn of a released loop whose calls have run. `number` counts from 0; `messages` end with the turn's own."""

    number: int
    max_turns: int
    parsed: ParsedTurn
    outcomes: tuple[ToolOutcome, ...]
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Continuation:
    """What a released loop says to the model after a turn, and whether the rollout ends there."""

    messages: tuple[Message, ...] = ()
    ends: bool = False


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is known of the place when a request begins: the caller's area, and the leader of earlier rollouts."""

    within: Area | None = None
    leader: LatLon | None = None


class Dialect(Protocol):
    """One way of speaking. Implementations hold no state: the same input gives the same output."""

    @property
    def name(self) -> str:
        """Its key in `DIALECTS`. A released loop has the name of the dialect it belongs to."""
        ...

    @property
    def limits(self) -> Limits:
        """What one rollout may use at most."""
        ...

    @property
    def published(self) -> bool:
        """Whether `limits` are those a model was trained and measured with; no depth cuts them."""
        ...

    @property
    def shows_similar(self) -> bool:
        """Whether the prompt tells of photos of known position that look alike."""
        ...

    @property
    def calls_per_turn(self) -> int:
        """How many calls of one turn are run; those beyond it are refused."""
        ...

    @property
    def calls_per_tool(self) -> Mapping[str, int]:
        """How often a tool (the dialect's name) may be called in one rollout; absent: as often as the limits allow."""
        ...

    @property
    def pictures(self) -> PictureRules:
        """How photos, crops and maps are scaled for this model."""
        ...

    @property
    def counts_observations(self) -> bool:
        """Whether the token limit covers all that follows the prompt, tool results too, or only what is written."""
        ...

    @property
    def paper_mode(self) -> bool:
        """As in the papers: a spent budget ends a rollout without a last demand, and nothing is corrected."""
        ...

    @property
    def released(self) -> bool:
        """Whether the rollout goes as the authors' loop does: `go_on` and `conclusion` decide, nothing is corrected."""
        ...

    @property
    def runs_last_calls(self) -> bool:
        """Of a released loop: whether calls of the last turn that the limits allow are run."""
        ...

    @property
    def counts_failed_calls(self) -> bool:
        """Whether calls that failed count against `calls_per_tool`."""
        ...

    def suited(self, surroundings: Surroundings) -> Dialect:
        """The dialect for one request: the same one, unless its tools depend on the place."""
        ...

    def go_on(self, turn: FinishedTurn) -> Continuation:
        """Of a released loop: what follows a turn. Other dialects answer calls with `observation`."""
        ...

    def conclusion(self, messages: Sequence[Message]) -> ParsedTurn | None:
        """Of a released loop: the answer that counts when the rollout ends, for whatever reason; None without one."""
        ...

    def configured(self, settings: DialectSettings) -> Dialect:
        """The same dialect with a profile's changes. Raises ConfigError when a file of theirs is missing or wrong."""
        ...

    def opening(self, task: Task) -> tuple[Message, ...]:
        """System and user messages with the photos."""
        ...

    def schemas(self, available: tuple[ToolSchema, ...]) -> tuple[ToolSchema, ...]:
        """The tools under the names and schemas this model was trained with."""
        ...

    def listed(self, schemas: tuple[ToolSchema, ...]) -> tuple[ToolSchema, ...]:
        """The tools the engine has to list in the prompt; none when the messages do."""
        ...

    def sampling(self, *, rollout_id: int, n: int, seed: int, turn: int, max_tokens: int) -> Sampling:
        """How turn `turn`, counted from 0, of one of `n` rollouts is drawn; it writes at most `max_tokens` tokens."""
        ...

    def parse(self, completion: Completion, *, turn: int) -> ParsedTurn:
        """Never raises; never guesses."""
        ...

    def cues(self, text: str) -> Cues:
        """The kinds of cues that a turn goes by, and the depth it asks for where the model says one."""
        ...

    def settle(self, stated: StatedAnswer, messages: Sequence[Message]) -> Hypothesis:
        """What the conversation adds to a statement (evidence the model marked), and its point in WGS-84."""
        ...

    def to_tool(self, call: ToolCall, photos: tuple[Photo, ...]) -> ToolCall:
        """From the model's tool name, arguments, boxes and datum to ours."""
        ...

    def observation(self, outcomes: tuple[ToolOutcome, ...]) -> tuple[Message, ...]:
        """The results of a turn's calls as messages, in the order of the calls."""
        ...

    def correction(self, problem: str) -> Message:
        """The message after a turn that could not be used; `problem` says why."""
        ...

    def final_demand(self, reason: str) -> Message:
        """The tool-free turn that asks for the answer when a budget is spent."""
        ...


def photo_ref(photo: Photo, index: int) -> ImageRef:
    """A whole photo of the request as a message part."""
    return ImageRef(sha256=photo.sha256, width=photo.width, height=photo.height, label=f"photo {index}")


def user_message(text: str, photos: tuple[Photo, ...]) -> Message:
    """Photos first, then the text: every served model was trained in this order."""
    images = tuple(ImagePart(image=photo_ref(photo, i)) for i, photo in enumerate(photos))
    return Message(role="user", parts=(*images, TextPart(text=text)))


def prompt_hash(dialect: Dialect) -> str:
    """Names the fixed texts of a dialect in the provenance."""
    texts = [message.text for message in dialect.opening(Task(photos=()))]
    texts += [dialect.final_demand("budget").text, dialect.correction("problem").text]
    return hashlib.sha256("\x00".join(texts).encode()).hexdigest()
