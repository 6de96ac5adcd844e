"""What released loops have in common: tools that take arguments as written, and no correction of an unusable turn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from tts.dialects.base import Completion, Continuation, FinishedTurn, ParsedTurn
from tts.dialects.released.written_call import arguments_of
from tts.dialects.settings import DialectSettings, read_texts
from tts.dialects.text_dialect import TextDialect
from tts.domain.messages import ImagePart, Message, TextPart
from tts.domain.photo import Photo
from tts.domain.tooling import ToolCall, ToolErrorKind, ToolResult
from tts.ports.model_client import Sampling
from tts.ports.toolbox import ToolOutcome


@dataclass(frozen=True)
class ReleasedDialect(TextDialect, ABC):
    """`texts` are the longer texts of the authors' loop by name, where the user has imported them.

    A subclass states `parse_text` (calls and the message as it stays), `conclusion`, and `continue_after` where it
    differs.

    Its `served` tools have targets made by `released_tool_name`; their text reaches the model as they give it.
    """

    texts: Mapping[str, str] = field(default_factory=dict)

    released: ClassVar[bool] = True

    def with_settings(self, settings: DialectSettings) -> TextDialect:
        """Also with the texts of `texts_file`. Raises ConfigError when a file is missing or wrong."""
        texts = read_texts(settings.texts_file) if settings.texts_file else {}
        return super(ReleasedDialect, replace(self, texts=texts)).with_settings(settings)

    def text(self, name: str, own_words: str) -> str:
        """A text of the authors' loop, or the project's own words for it."""
        return self.texts.get(name, own_words)

    @property
    def paper_mode(self) -> bool:
        """No last demand and no corrections: `continue_after` says what the authors' loop says."""
        return True

    def parse(self, completion: Completion, *, turn: int) -> ParsedTurn:
        """Calls that the endpoint has read already are taken as they are."""
        if completion.tool_calls:
            return ParsedTurn(calls=completion.tool_calls[: self.calls_per_turn])
        return self.parse_text(completion.text, turn=turn)

    @abstractmethod
    def parse_text(self, text: str, *, turn: int) -> ParsedTurn:
        """The calls that the authors' loop runs, in its order."""

    def continue_after(self, turn: FinishedTurn) -> Continuation:
        """The results; ends after a message without a call."""
        if not turn.outcomes:
            return Continuation(ends=True)
        return Continuation(self.observation(turn.outcomes))

    def _tool_message(self, outcome: ToolOutcome) -> Message:
        """A tool message: pictures first, then the text."""
        images = tuple(ImagePart(image=image) for image in outcome.result.images)
        text = TextPart(text=self.result_text(outcome))
        return Message(role="tool", parts=(*images, text), result=outcome.result)

    def to_tool(self, call: ToolCall, photos: tuple[Photo, ...]) -> ToolCall:
        """The released tool under its own name, with the arguments as they were written."""
        tool = self._tool(call.name)
        if tool is None:
            return call
        return ToolCall(id=call.id, name=tool.target, arguments={"written": arguments_of(call)})

    def sampling(self, *, rollout_id: int, n: int, seed: int, turn: int, max_tokens: int) -> Sampling:
        """In a fan-out all rollouts sample alike, as in the authors' runs."""
        drawn = super().sampling(rollout_id=rollout_id, n=n, seed=seed, turn=turn, max_tokens=max_tokens)
        together = self.settings.together or self.own_group_sampling
        return drawn if n == 1 else drawn.model_copy(update=together.model_dump())


def is_text_of_tool(result: ToolResult) -> bool:
    """Whether the text is the tool's own, and not that of the machinery around it (a timeout, a lost broker)."""
    return result.failure is None or result.text == result.failure.detail


def call_penalty(result: ToolResult) -> float:
    """What a call costs where the authors' zoom punishes boxes it cannot use; 0 for all other calls."""
    refused = result.failure is not None and result.failure.kind is ToolErrorKind.INVALID_ARGUMENTS
    return 0.05 if refused and result.name == "image_zoom_in_tool" and is_text_of_tool(result) else 0.0


def messages_after_prompt(messages: Sequence[Message]) -> Sequence[Message]:
    """The conversation from the model's first message on."""
    first = next((i for i, message in enumerate(messages) if message.role == "assistant"), len(messages))
    return messages[first:]
