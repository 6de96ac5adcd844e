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
from tts.domain.cues import Cues
from tts.domain.earlier_request import EarlierRequest
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
    continued: EarlierRequest | None = None


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
    `stored_text` is how the message stays in the conversation, where a released loop writes it anew.
    """

    calls: tuple[ToolCall, ...] = ()
    answer: StatedAnswer | None = None
    hypothesis: StatedAnswer | None = None
    problem: str | None = None
    lookups: tuple[ToolCall, ...] = ()
    stored_text: str | None = None


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
        """Whether the rollout goes as the authors' loop does: `continue_after` and `conclusion` decide, and nothing is
        corrected."""
        ...

    @property
    def runs_last_calls(self) -> bool:
        """Of a released loop: whether calls of the last turn that the limits allow are run."""
        ...

    @property
    def counts_failed_calls(self) -> bool:
        """Whether calls that failed count against `calls_per_tool`."""
        ...

    def for_surroundings(self, surroundings: Surroundings) -> Dialect:
        """Choose the dialect for one request.

        Args:
            surroundings: where the place may be, as far as it is known before the first turn.

        Returns:
            The same dialect, unless its tools depend on the place.
        """
        ...

    def continue_after(self, turn: FinishedTurn) -> Continuation:
        """Of a released loop: decide what follows a turn. Other dialects answer calls with `observation`.

        Args:
            turn: a turn without an answer, after its calls have run.

        Returns:
            The messages to add before the next turn, or the end of the rollout.
        """
        ...

    def conclusion(self, messages: Sequence[Message]) -> ParsedTurn | None:
        """Of a released loop: read the answer that counts when the rollout ends, for whatever reason.

        Args:
            messages: the whole conversation, the opening too.

        Returns:
            A turn with an answer; None where the authors' code would find none.
        """
        ...

    def with_settings(self, settings: DialectSettings) -> Dialect:
        """Apply a profile's changes.

        Args:
            settings: what the profile changes; what it leaves out stays as the dialect has it. Its files are read here,
                once.

        Returns:
            A dialect of the same name with the changes.

        Raises:
            ConfigError: a file is missing or wrong, or the dialect does not have what the settings ask for.
        """
        ...

    def opening(self, task: Task) -> tuple[Message, ...]:
        """Write the first messages of a rollout.

        Args:
            task: the photos and what the caller says of them. Of its tools, those are described that the engine's
                template does not list.

        Returns:
            The system message, if the dialect has one, then a user message with all photos.
        """
        ...

    def schemas(self, available: tuple[ToolSchema, ...]) -> tuple[ToolSchema, ...]:
        """Return the tools under the names and schemas this model was trained with.

        Args:
            available: the tools that the request may call, under the project's names.

        Returns:
            Those of the dialect's tools that can be served by the available ones; calls of others are refused.
        """
        ...

    def tools_to_list(self, schemas: tuple[ToolSchema, ...]) -> tuple[ToolSchema, ...]:
        """Choose the tools that the engine has to list in the prompt.

        Args:
            schemas: what the method `schemas` returned.

        Returns:
            Some or all of `schemas`; none when the messages list the tools.
        """
        ...

    def sampling(self, *, rollout_id: int, n: int, seed: int, turn: int, max_tokens: int) -> Sampling:
        """Say how the tokens of a turn are drawn.

        Args:
            rollout_id: the number of the rollout in its request, from 0. The first of several may be drawn in another
                way than the rest.
            n: the rollouts of the request; a single one is drawn in another way than one of several.
            seed: that of the rollout, 0 or more. The same seed and turn give the same sampling.
            turn: the number of the turn, from 0.
            max_tokens: tokens that the budget leaves for the turn, 1 or more; the dialect may allow fewer.

        Returns:
            The settings of the turn. Its seed differs from turn to turn.
        """
        ...

    def parse(self, completion: Completion, *, turn: int) -> ParsedTurn:
        """Read what a turn means. Never raises; never guesses.

        Args:
            completion: what the engine generated, whole or cut off.
            turn: the number of the turn, from 0; ids of calls that are read from the text contain it.

        Returns:
            Calls, an answer, or a problem in words for the model. A released loop may have none of them.
        """
        ...

    def cues(self, text: str) -> Cues:
        """Find the kinds of cues that a turn goes by, and the depth it asks for where the model says one.

        Args:
            text: what the model wrote in the turn, thought included.

        Returns:
            The cues, the level of the place that the turn names, and what the model asks for; `wants_depth` is None
            where it asks for no depth.
        """
        ...

    def to_hypothesis(self, stated: StatedAnswer, messages: Sequence[Message]) -> Hypothesis:
        """Make a hypothesis of a statement, with what the conversation adds to it (evidence the model marked).

        Args:
            stated: an answer or a hypothesis of a turn; its point is in its own datum.
            messages: the conversation so far, with the turn that states it.

        Returns:
            The hypothesis, its point in WGS-84.
        """
        ...

    def to_tool(self, call: ToolCall, photos: tuple[Photo, ...]) -> ToolCall:
        """Turn a call of the model into one of the project's tools.

        Args:
            call: the tool's name, arguments, boxes and points as the model writes them; arguments may be wrong.
            photos: those of the request, whose sizes boxes in pixels need.

        Returns:
            The call under the project's name, with boxes in fractions of the sides and points in WGS-84. A released
            tool gets its arguments as they were written; a call of an unknown tool stays as it is, to be refused.
        """
        ...

    def observation(self, outcomes: tuple[ToolOutcome, ...]) -> tuple[Message, ...]:
        """Write the results of a turn's calls as messages.

        Args:
            outcomes: one for each call, in the order of the calls, failures and refused calls too.

        Returns:
            The messages in the same order; one for each result, unless the authors' loop leaves some out.
        """
        ...

    def correction(self, problem: str) -> Message:
        """Write the message after a turn that could not be used.

        Args:
            problem: why, as a clause without a full stop that the model reads.

        Returns:
            A message of the role `user`, which follows the turn in the conversation.
        """
        ...

    def final_demand(self, reason: str) -> Message:
        """Write the message that asks for the answer, without tools, when a budget is spent.

        Args:
            reason: what is used up: `turn budget`, `tool budget`, `token budget`, `money budget` or `time`.

        Returns:
            A message of the role `user`; the turn that answers it is the last one.
        """
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
