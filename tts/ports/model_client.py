"""The port of an engine: it generates one turn of a conversation, piece by piece."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Literal, Protocol

from pydantic import JsonValue

from tts.domain.claim import ClaimedPlace
from tts.domain.description import Description
from tts.domain.messages import Message, ProviderFields
from tts.domain.photo import Photo
from tts.domain.picture_rules import PictureRules
from tts.domain.reading import Reading
from tts.domain.request import LocateOptions, RequestContext
from tts.domain.tooling import ToolCall
from tts.domain.usage import Usage
from tts.domain.value import Value
from tts.ports.toolbox import ToolSchema


class Sampling(Value):
    """How the next tokens are drawn.

    Attributes:
        temperature: 0 is greedy.
        seed: the same seed repeats exactly, where the engine can.
        logprobs: 0 asks for the log-probability of each drawn token, more for that many alternatives beside it.
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


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One generation.

    Attributes:
        session_id: the same for all turns of one rollout, so that an engine may keep its prefix.
        photos: the pixels behind those `ImageRef`s that have a box.
        files: the pictures behind those that have none, by SHA-256.
        tools: what may be called in this turn.
        listed_tools: what the prompt lists, the same over all turns, so that the prefix stays. None: the same as
            `tools`. Empty: the messages describe the tools already.
        readings: the text that perception read. Engines that see pixels ignore it; the `clues` engine sees with it.
        options: those of the request, with its hint and its area.
        lora: an adapter of the engine, by name.
        money_usd: what the turn may cost; None without a limit. `sampling.max_tokens` keeps to it already. An engine
            that asks a second model for the turn pays that from it, too.
        testing: the places in question.
        siblings: above 1 if as many rollouts divide among them what they ask first.
        sibling: the number of this one, from 0.
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
    options: LocateOptions = field(default_factory=LocateOptions)
    lora: str | None = None
    money_usd: float | None = None
    testing: tuple[ClaimedPlace, ...] = ()
    sibling: int = 0
    siblings: int = 1


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of a generation. The last one has `finish_reason` and `usage`.

    Attributes:
        logprobs: one for each of `token_ids`, where they were asked for.
        usage: what the generation used; it also gives the length of the conversation.
        spent: what a question of the engine's own used, such as whether the endpoint reads long prompts whole. It
            comes in a piece of its own, and is not in `usage`.
        described: what an observer said of a photo, in a piece of its own: it is for the rest of the request.
        provider_fields: what has to be on the message when it is sent back; in the last piece.
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
        """Generate one turn, piece by piece.

        Raises:
            ModelError: the engine failed.
            Overloaded: the engine is full.
        """
