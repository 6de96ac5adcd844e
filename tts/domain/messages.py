"""The conversation between a rollout and its model.

An assistant message keeps the token ids the engine produced, when it gave them: the next prompt is then built from
ids and the prefix cache always hits.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from tts.domain.tooling import ImageRef, ToolCall, ToolResult
from tts.domain.value import Value


class TextPart(Value):
    """A piece of the text of a message."""

    kind: Literal["text"] = "text"
    text: str


class ImagePart(Value):
    """A picture in a message, by reference: the bytes are in the request's photos or files."""

    kind: Literal["image"] = "image"
    image: ImageRef


Part = Annotated[TextPart | ImagePart, Field(discriminator="kind")]


class ProviderFields(Value):
    """Fields an endpoint put on a message or on its tool calls (by call id) beyond the common ones.

    They go back as they came: Gemini refuses a conversation without its thought signatures, DeepSeek and OpenRouter
    one without their reasoning.
    """

    message: dict[str, JsonValue] = {}
    calls: dict[str, dict[str, JsonValue]] = {}


class Message(Value):
    """One message. `tool` messages carry the structured `result` next to the text the model reads."""

    role: Literal["system", "user", "assistant", "tool"]
    parts: tuple[Part, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    result: ToolResult | None = None
    token_ids: tuple[int, ...] | None = None
    provider_fields: ProviderFields | None = None

    @property
    def text(self) -> str:
        """The text parts joined, without the pictures between them."""
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def images(self) -> tuple[ImageRef, ...]:
        """The pictures, in order."""
        return tuple(part.image for part in self.parts if isinstance(part, ImagePart))


def text_message(role: Literal["system", "user", "assistant", "tool"], text: str) -> Message:
    """A message with one part, which is text."""
    return Message(role=role, parts=(TextPart(text=text),))
