"""The requests and replies of OpenAI's chat completions, as far as they apply to locating a photo. No side effects.

Images of the conversation are the photos of one place. What its messages say is an instruction to the service, which
does one thing, and no claim about the photos: a hint is sent as `geotts.hint`. What is said after an answer of this
service continues the request behind it, as a fact. What the rollouts and the verifier write
is reasoning; the content is the answer as JSON, whatever `response_format` asks for short of a schema of the caller.
Unknown fields are ignored, as servers of this interface do; what would change the shape of the reply and cannot be
given is refused: `tools`, a JSON schema, and an `n` above 1, because answers are already made of several rollouts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from geotts_client.continue_options import MAX_FACT
from tts.domain.answer import Answer
from tts.domain.events import Answered, Event, RolloutFinished, Text, ToolCalled, ToolResulted, VerifierText
from tts.domain.plan import Depth
from tts.domain.request import REQUEST_ID
from tts.domain.usage import Usage
from tts.errors import NotFound, RequestError

MODEL = "geotts"
MODELS: dict[str, Depth] = {MODEL: Depth.AUTO, **{f"{MODEL}-{d.value}": d for d in Depth if d is not Depth.AUTO}}
_MAX_RESULT_CHARS = 400
_REQUEST_ID = re.compile(REQUEST_ID)


class OpenModel(BaseModel):
    """Of what a client sends, unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class ImageUrl(OpenModel):
    """The address of a picture, which may be a `data:` URL."""

    url: str = Field(description="the address; `data:` URLs have the bytes in base64")


class Part(OpenModel):
    """One part of a message: a text, or a picture."""

    type: str = Field(description="`text` or `image_url`")
    text: str = Field(default="", description="the text; empty for a picture")
    image_url: ImageUrl | str | None = Field(default=None, description="the address of the picture; null for a text")

    @property
    def url(self) -> str | None:
        """The address of the picture, which may be a `data:` URL; None for a part without a picture."""
        return self.image_url.url if isinstance(self.image_url, ImageUrl) else self.image_url


class ChatMessage(OpenModel):
    """One message of the conversation, in the form of OpenAI's API."""

    role: str = Field(description="who speaks: `user`, `assistant` or `system`")
    content: str | tuple[Part, ...] | None = Field(default=None, description="text, or parts of text and pictures")

    @property
    def images(self) -> tuple[str, ...]:
        """The addresses of its pictures, in order."""
        parts = () if isinstance(self.content, str) or self.content is None else self.content
        return tuple(part.url for part in parts if part.url is not None)

    @property
    def text(self) -> str:
        """Its text without the pictures."""
        if isinstance(self.content, str) or self.content is None:
            return self.content or ""
        return "\n".join(part.text for part in self.content if part.text)


@dataclass(frozen=True, slots=True)
class FollowUp:
    """What a conversation adds to an earlier request: the fields of the addition, and further images."""

    request_id: str
    fields: dict[str, Any]
    images: tuple[str, ...]


def answered_request(content: str) -> str | None:
    """The request whose answer is the content of a message; None for any other content."""
    try:
        made = json.loads(content)
        found = made["provenance"]["request_id"]
    except (ValueError, TypeError, KeyError, RecursionError):  # the last: nested too deeply
        return None
    return found if isinstance(found, str) and _REQUEST_ID.fullmatch(found) else None


class StreamOptions(OpenModel):
    """The options of a stream."""

    include_usage: bool = Field(default=False, description="true: the last piece has the usage")


class ResponseFormat(OpenModel):
    """`text` and `json_object` get the same: the answer is one JSON object."""

    type: str = Field(description="`text` or `json_object`; anything else is refused")


class Unsupported(RequestError):
    """Asks for something that this interface has elsewhere and not here."""

    code = "unsupported"
    status = 400

    @classmethod
    def field(cls, name: str, detail: str) -> Unsupported:
        """The error about one field of the request, which `errors` of the reply names."""
        return cls(f"{name}: {detail}", errors=({"field": name, "problem": detail},))


def check_tools(name: str, tools: tuple[dict[str, Any], ...] | None) -> None:
    """Raises Unsupported where the caller sends tools of its own, in the field `name`."""
    if tools:
        raise Unsupported.field(
            name, "calls of your tools are never made here; choose among the service's own with geotts.tools"
        )


def options_of(model: str, seed: int | None, max_tokens: int | None) -> dict[str, Any]:
    """The options of `POST /locate` behind OpenAI's names. Raises NotFound for an unknown model."""
    if model not in MODELS:
        raise NotFound(f"there is no model {model[:60]!r}; there are: {', '.join(MODELS)}")
    implied = {"depth": MODELS[model].value, "seed": seed, "max_tokens_total": max_tokens}
    return {name: value for name, value in implied.items() if value is not None}


class ChatRequest(OpenModel):
    """The body of `POST /v1/chat/completions`. `geotts` holds any further option of `POST /locate`."""

    model: str = Field(
        default=MODEL, examples=[MODEL], description="`geotts`, or `geotts-` and a depth, such as `geotts-deep`"
    )
    messages: Annotated[tuple[ChatMessage, ...], Field(min_length=1, max_length=256)] = Field(
        description="the conversation. Pictures in messages of the user are photos of one place; what follows an "
        "answer of this service continues that request",
    )
    stream: bool = Field(default=False, description="true: the reply is a stream")
    stream_options: StreamOptions | None = Field(default=None, description="options of the stream; null for none")
    n: Literal[1] | None = Field(
        default=None, description="only 1, because an answer is already made of several rollouts"
    )
    response_format: ResponseFormat | None = Field(
        default=None, description="`text` or `json_object`: the content is the answer as JSON in both"
    )
    tools: tuple[dict[str, Any], ...] | None = Field(default=None, description="refused unless empty")
    functions: tuple[dict[str, Any], ...] | None = Field(default=None, description="refused unless empty")
    seed: int | None = Field(default=None, description="as in `POST /locate`")
    max_tokens: int | None = Field(
        default=None,
        description="tokens that all rollouts together may use; ignored if `max_completion_tokens` is given",
    )
    max_completion_tokens: int | None = Field(default=None, description="tokens that all rollouts together may use")
    geotts: dict[str, Any] = Field(
        default={}, description="further options of `POST /locate`, by their names; they replace those above"
    )

    def images(self) -> tuple[str, ...]:
        """URLs (data: too) of the photos. Raises RequestError when there are none."""
        found = tuple(url for message in self.messages if message.role == "user" for url in message.images)
        if not found:
            error = {"field": "messages", "problem": "no image_url in any user message"}
            raise RequestError("there is no photo: send one as an image_url part of a user message", errors=(error,))
        return found

    def follow_up(self) -> FollowUp | None:
        """What the conversation adds to an answer of this service that is in it; None where it has none, where nothing
        follows the answer, or where a claim is to be checked."""
        at = max((i for i, message in enumerate(self.messages) if message.role == "assistant"), default=-1)
        earlier = answered_request(self.messages[at].text) if at >= 0 else None
        after = [message for message in self.messages[at + 1 :] if message.role == "user"]
        images = tuple(url for message in after for url in message.images)
        fact = "\n".join(text for message in after if (text := message.text.strip()))
        if earlier is None or "claim" in self.geotts or not (fact or images):
            return None
        return FollowUp(earlier, {"fact": fact[:MAX_FACT], **self.geotts}, images)

    def check_supported(self) -> None:
        """Raises Unsupported for what would have to change the shape of the reply."""
        check_tools("tools", self.tools)
        check_tools("functions", self.functions)
        wanted = self.response_format.type if self.response_format is not None else "text"
        if wanted not in ("text", "json_object"):
            raise Unsupported.field(
                "response_format",
                f"{wanted[:40]!r} is not supported: the content is always the answer as JSON, of the schema Answer in "
                "/openapi.json; ask for json_object",
            )

    def fields(self) -> dict[str, Any]:
        """The options of `POST /locate` that this asks for. Raises NotFound for an unknown model."""
        limit = self.max_completion_tokens or self.max_tokens
        return {**options_of(self.model, self.seed, limit), **self.geotts}

    def sent_as(self) -> dict[str, str]:
        """Where in this request each option of `fields` was given, so that errors name the field that was sent."""
        limit = "max_completion_tokens" if self.max_completion_tokens else "max_tokens"
        implied = {"depth": "model", "max_tokens_total": limit, "fact": "messages"}
        return {**implied, **{name: f"geotts.{name}" for name in self.geotts}}


class Narrator:
    """Events as reasoning text. Rollouts talk at once: a heading says who goes on whenever that changes."""

    def __init__(self) -> None:
        self._speaker = ""

    def text_of(self, event: Event) -> str:
        """The text to append for an event; empty for those that say nothing."""
        if isinstance(event, Text):
            return self._add_heading(f"rollout {event.rollout_id}", event.text)
        if isinstance(event, VerifierText):
            return self._add_heading("verifier", event.text)
        if isinstance(event, ToolCalled):
            return self._add_heading(_asker_name(event), f"\n→ {event.call.name} {event.call.arguments}\n")
        if isinstance(event, ToolResulted):
            return self._add_heading(_asker_name(event), f"\n← {event.result.text[:_MAX_RESULT_CHARS]}\n")
        if isinstance(event, RolloutFinished):
            return self._add_heading(f"rollout {event.rollout_id}", f"\n({event.stop_reason.value})\n")
        return ""

    def _add_heading(self, speaker: str, text: str) -> str:
        heading = f"\n[{speaker}] " if speaker != self._speaker else ""
        self._speaker = speaker
        return heading + text


def _asker_name(event: ToolCalled | ToolResulted) -> str:
    return "verifier" if event.asker == "verifier" else f"rollout {event.rollout_id}"


def content_of(answer: Answer) -> str:
    """The answer as the content of the message: JSON."""
    return answer.json_bytes().decode()


def usage_of(usage: Usage) -> dict[str, Any]:
    """Token counts under OpenAI's names."""
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
    }


class Completion:
    """The chunks of one streamed completion, and the whole of an unstreamed one."""

    def __init__(self, request_id: str, model: str, created: int, version: str) -> None:
        self._frame = {"id": f"chatcmpl-{request_id}", "created": created, "model": model}
        self._version = version
        self._narrator = Narrator()
        self.usage: Usage | None = None

    def chunks(self, event: Event) -> Iterator[dict[str, Any]]:
        """What a stream says for one event."""
        if text := self._narrator.text_of(event):
            yield self._chunk({"reasoning_content": text})
        if isinstance(event, Answered):
            self.usage = event.answer.usage
            yield self._chunk({"content": content_of(event.answer)})

    def first(self) -> dict[str, Any]:
        """The chunk that opens a stream: the role, and an empty content."""
        return self._chunk({"role": "assistant", "content": ""})

    def last(self, *, include_usage: bool) -> Iterator[dict[str, Any]]:
        """The chunk with the finish reason, and one with the usage if that is asked for. Call it after all `chunks`."""
        yield self._chunk({}, finish_reason="stop")
        if include_usage:
            yield {**self._chunk({}), "choices": [], "usage": usage_of(self.usage or Usage())}

    def full_reply(self, events: list[Event], answer: Answer) -> dict[str, Any]:
        """The reply to a request that does not stream; the events become its reasoning."""
        reasoning = "".join(self._narrator.text_of(event) for event in events)
        message = {"role": "assistant", "content": content_of(answer), "reasoning_content": reasoning, "refusal": None}
        return {
            **self._frame,
            "object": "chat.completion",
            "system_fingerprint": self._version,
            "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
            "usage": usage_of(answer.usage),
        }

    def _chunk(self, delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason, "logprobs": None}
        return {
            **self._frame,
            "object": "chat.completion.chunk",
            "system_fingerprint": self._version,
            "choices": [choice],
        }
