"""The port of an engine: it generates one turn of a conversation, piece by piece."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

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
        temperature: 0 is greedy; 1 draws by the probabilities of the model.
        top_p: only the likeliest tokens that have this probability together are drawn from; 1 is all.
        top_k: only so many of the likeliest tokens are drawn from; -1 is all.
        min_p: only tokens with at least this share of the probability of the likeliest are drawn from; 0 is all.
        presence_penalty: subtracted from the logit of each token that was generated before; 0 is none.
        repetition_penalty: lowers the logits of tokens that were in the prompt or generated before by this factor; 1 is
            none.
        seed: the same seed repeats exactly, where the engine can. None: another draw each time.
        max_tokens: most tokens that the turn generates.
        stop: texts at which the turn ends, if the model writes one of them.
        logprobs: 0 asks for the log-probability of each drawn token, more for that many alternatives beside it; None
            asks for none.
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
        context: the id of the request and the seconds that are left for the turn.
        session_id: the same for all turns of one rollout, so that an engine may keep its prefix.
        messages: the conversation so far, the last message last.
        sampling: how the tokens of the turn are drawn.
        photos: the pixels behind those `ImageRef`s that have a box.
        files: the pictures behind those that have none, by SHA-256.
        tools: what may be called in this turn.
        listed_tools: what the prompt lists, the same over all turns, so that the prefix stays. None: the same as
            `tools`. Empty: the messages describe the tools already.
        pictures: how photos and other pictures are scaled for the model.
        json_schema: a JSON schema that the text must follow; None for free text.
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


class Delta(NamedTuple):
    """A piece of a generation. The last one has `finish_reason` and `usage`. A tuple, because there is one for about
    each token, and a tuple is made in a third of the time of a frozen data class.

    Attributes:
        text: the text that follows that of the deltas before.
        tool_calls: whole calls, where the engine parses them.
        token_ids: the tokens that were generated; empty where the engine does not tell them.
        logprobs: one for each of `token_ids`, where they were asked for.
        finish_reason: why the turn ended: by itself, at `max_tokens`, or with tool calls. None before the last piece.
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

        Args:
            request: the turn. Its `context.remaining_s` bounds how long the engine waits and asks again; the caller
                ends a turn that takes too long.

        Returns:
            An iterator over at least one piece. The last piece has `finish_reason` and `usage`.

        Raises:
            ModelError: the engine failed. With the field `transient`, the same turn may be tried again.
            Overloaded: the engine is full.
            DeadlineExceeded: the time of the request is over.
            MoneySpent: `money_usd` does not pay for a second model that the turn needs.
        """
