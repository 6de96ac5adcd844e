"""The shapes of OpenAI's Responses API, as a pure fold of the numbered event log of a request.

The same log always gives the same stream with the same sequence numbers, so a stream that was cut goes on after any
number, at any gateway. There are two output items: a reasoning item whose summary tells what the rollouts write and
which tools they call, and the message with the answer as JSON. Tool calls are never `function_call` items: a client
would run them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field

from tts.api.chat_completions import (
    MODEL,
    MODELS,
    Narrator,
    OpenModel,
    Unsupported,
    check_tools,
    content_of,
    options_of,
)
from tts.domain.answer import Answer
from tts.domain.events import Accepted, Answered, Done, Event, Failed
from tts.domain.usage import Usage
from tts.errors import RequestError

Json = dict[str, Any]
PREVIOUS = r"^resp_[0-9a-f]{20}$"
_END_EVENT_TYPES = {"completed": "response.completed", "failed": "response.failed", "cancelled": "response.incomplete"}


class InputPart(OpenModel):
    """A part of an input message: `input_text`, or `input_image` with an address or the id of an upload."""

    type: str = Field(description="`input_text` or `input_image`")
    text: str = Field(default="", description="the text; empty for a picture")
    image_url: str | None = Field(default=None, description="the address of the picture, which may be a `data:` URL")
    file_id: str | None = Field(default=None, description="id of an uploaded photo")


class InputMessage(OpenModel):
    """One message of the input. Only messages of the role `user` count."""

    type: str = Field(default="message", description="`message`")
    role: str = Field(default="user", description="who speaks; messages of other roles than `user` are ignored")
    content: str | tuple[InputPart, ...] = Field(default="", description="text, or parts of text and pictures")

    @property
    def text(self) -> str:
        """Its text without the pictures."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content if part.text)


class TextFormat(OpenModel):
    """The form of text that the caller wants, by its name in OpenAI's API: `text` or `json_object`."""

    type: str = Field(default="text", description="`text` and `json_object` are accepted")


class TextOptions(OpenModel):
    """The options for the text of a response."""

    format: TextFormat = Field(
        default=TextFormat(), description="the form of the text; it is the answer as JSON anyway"
    )


class ResponsesRequest(OpenModel):
    """The body of `POST /v1/responses`. `geotts` holds any further option of `POST /locate`."""

    model: str = Field(
        default=MODEL, examples=[MODEL], description="`geotts`, or `geotts-` and a depth, such as `geotts-deep`"
    )
    input: Annotated[tuple[InputMessage, ...], Field(min_length=1, max_length=256)] | str = Field(
        description="messages with the photos; or text alone, if it continues another response"
    )
    stream: bool = Field(default=False, description="true: the reply is a stream")
    background: bool = Field(default=False, description="the reply comes at once, and the work continues")
    store: bool | None = Field(default=None, description="`false`: the request is erased after the reply")
    previous_response_id: Annotated[str, Field(pattern=PREVIOUS)] | None = Field(
        default=None,
        description="the response that this one continues: the text of `input` is a new fact, its images are further "
        "photos, and `geotts` may hold `not_there` and `within`",
    )
    tools: tuple[dict[str, Any], ...] | None = Field(default=None, description="refused unless empty")
    text: TextOptions | None = Field(default=None, description="options for the text of the response; null for none")
    max_output_tokens: int | None = Field(default=None, description="tokens that all rollouts together may use")
    geotts: dict[str, Any] = Field(
        default={}, description="further options of `POST /locate`, by their names; they replace those above"
    )

    def continued_id(self) -> str | None:
        """The id of the request that this one continues."""
        return request_id(self.previous_response_id) if self.previous_response_id else None

    def user_text(self) -> str:
        """The text of the user messages."""
        if isinstance(self.input, str):
            return self.input
        return "\n".join(text for one in self.input if one.role == "user" and (text := one.text))

    def addition(self) -> dict[str, Any]:
        """What is added to the earlier request."""
        return {"fact": self.user_text(), **self.geotts}

    def pictures(self) -> list[dict[str, str]]:
        """The photos as `{"url": …}` or `{"upload": …}`. Raises RequestError when there are none and none are there."""
        messages = () if isinstance(self.input, str) else self.input
        contents = [one.content for one in messages if one.role == "user" and not isinstance(one.content, str)]
        found = [
            {"url": part.image_url} if part.image_url else {"upload": str(part.file_id)}
            for part in (part for content in contents for part in content)
            if part.type == "input_image" and (part.image_url or part.file_id)
        ]
        if not found and not self.previous_response_id:
            error = {"field": "input", "problem": "no input_image in any user message"}
            raise RequestError("there is no photo: send one as an input_image part of a user message", errors=(error,))
        return found

    def check_supported(self) -> None:
        """Raises Unsupported for what would have to change the shape of the reply."""
        check_tools("tools", self.tools)
        if self.background and self.store is False:
            raise Unsupported.field("store", "a response in the background has to be stored")
        wanted = self.text.format.type if self.text is not None else "text"
        if wanted not in ("text", "json_object"):
            raise Unsupported.field("text.format", f"{wanted[:40]!r} is not supported: the text is the answer as JSON")

    def fields(self) -> dict[str, Any]:
        """The options of `POST /locate` that this asks for. Raises NotFound for an unknown model."""
        return {**options_of(self.model, None, self.max_output_tokens), **self.geotts}

    def sent_as(self) -> dict[str, str]:
        """Where in this request each option of `fields` was said."""
        implied = {"depth": "model", "max_tokens_total": "max_output_tokens", "fact": "input"}
        return {**implied, **{name: f"geotts.{name}" for name in self.geotts}}


def request_id(response: str) -> str:
    """`loc_…` for a response."""
    return "loc_" + response.removeprefix("resp_")


def response_id(request_id: str) -> str:
    """`resp_…` for a request."""
    return "resp_" + request_id.removeprefix("loc_")


class ResponseFold:
    """Feed it the events of a request from its first on; it gives the events of the stream, and the response so far.

    `created_at` is in seconds since 1970; `background` is what was asked for.
    """

    def __init__(self, request_id: str, created_at: int, *, background: bool) -> None:
        self._previous_id: str | None = None
        self._id = response_id(request_id)
        self._created_at = created_at
        self._background = background
        self._model = MODEL
        self._narrator = Narrator()
        self._summary = ""
        self._has_summary = False
        self._answer: Answer | None = None
        self._failure: Failed | None = None
        self._status: Literal["queued", "in_progress", "completed", "failed", "cancelled"] = "queued"
        self._next_number = 0

    @property
    def has_ended(self) -> bool:
        """Whether its last event has been given."""
        return self._status in _END_EVENT_TYPES

    @property
    def last_number(self) -> int:
        """The `sequence_number` of the last event so far; -1 before the first."""
        return self._next_number - 1

    def feed(self, event: Event) -> list[Json]:
        """What the stream says for one event, numbered."""
        if self.has_ended:
            return []
        return [self._add_number(one) for one in self._response_events(event)]

    def response(self) -> Json:
        """The response object as it is now."""
        failure = self._failure
        return {
            "id": self._id,
            "object": "response",
            "created_at": self._created_at,
            "status": self._status,
            "background": self._background,
            "error": None if failure is None else {"code": "server_error", "message": failure.detail},
            "incomplete_details": None,
            "instructions": None,
            "metadata": {},
            "model": self._model,
            "output": self._output_items(),
            "parallel_tool_calls": True,
            "temperature": None,
            "top_p": None,
            "tool_choice": "auto",
            "tools": [],
            "previous_response_id": self._previous_id,
            "text": {"format": {"type": "text"}},
            "usage": None if self._answer is None else usage_of(self._answer.usage),
        }

    def _add_number(self, one: Json) -> Json:
        number = self._next_number
        self._next_number += 1
        return {**one, "sequence_number": number}

    def _response_events(self, event: Event) -> Iterator[Json]:
        if isinstance(event, Accepted):
            models = {depth: name for name, depth in MODELS.items()}
            self._model = models.get(event.depth, MODEL)
            self._previous_id = response_id(event.continues) if event.continues else None
            yield {"type": "response.created", "response": self.response()}
            self._status = "in_progress"
            yield {"type": "response.in_progress", "response": self.response()}
        if text := self._narrator.text_of(event):
            yield from self._summary_events(text)
        if isinstance(event, Answered):
            yield from self._summary_end_events()
            self._answer = event.answer
            yield from self._message_events()
        if isinstance(event, Failed):
            self._failure = event
        if isinstance(event, Done):
            yield from self._end_events()

    def _end_events(self) -> Iterator[Json]:
        if self._answer is None:
            yield from self._summary_end_events()
        self._status = "completed" if self._answer is not None else "failed" if self._failure else "cancelled"
        yield {"type": _END_EVENT_TYPES[self._status], "response": self.response()}

    def _summary_events(self, text: str) -> Iterator[Json]:
        if not self._has_summary:
            self._has_summary = True
            yield {"type": "response.output_item.added", "output_index": 0, "item": self._reasoning_item("in_progress")}
            yield {"type": "response.reasoning_summary_part.added", **self._summary_place(), "part": _summary_part("")}
        self._summary += text
        yield {"type": "response.reasoning_summary_text.delta", **self._summary_place(), "delta": text}

    def _summary_end_events(self) -> Iterator[Json]:
        if not self._has_summary:
            return
        yield {"type": "response.reasoning_summary_text.done", **self._summary_place(), "text": self._summary}
        yield {
            "type": "response.reasoning_summary_part.done",
            **self._summary_place(),
            "part": _summary_part(self._summary),
        }
        yield {"type": "response.output_item.done", "output_index": 0, "item": self._reasoning_item("completed")}

    def _message_events(self) -> Iterator[Json]:
        assert self._answer is not None
        index = int(self._has_summary)
        text = content_of(self._answer)
        at = {"item_id": f"msg_{self._id[5:]}", "output_index": index, "content_index": 0}
        empty = {**self._answer_item(""), "status": "in_progress", "content": []}
        yield {"type": "response.output_item.added", "output_index": index, "item": empty}
        yield {"type": "response.content_part.added", **at, "part": _text_part("")}
        yield {"type": "response.output_text.delta", **at, "delta": text, "logprobs": []}
        yield {"type": "response.output_text.done", **at, "text": text, "logprobs": []}
        yield {"type": "response.content_part.done", **at, "part": _text_part(text)}
        yield {"type": "response.output_item.done", "output_index": index, "item": self._answer_item(text)}

    def _output_items(self) -> list[Json]:
        running = self._answer is None and not self.has_ended
        items = [self._reasoning_item("in_progress" if running else "completed")] if self._has_summary else []
        return items if self._answer is None else [*items, self._answer_item(content_of(self._answer))]

    def _reasoning_item(self, status: str) -> Json:
        summary = [_summary_part(self._summary)] if self._summary else []
        return {"id": f"rs_{self._id[5:]}", "type": "reasoning", "summary": summary, "status": status}

    def _answer_item(self, text: str) -> Json:
        return {
            "id": f"msg_{self._id[5:]}",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [_text_part(text)],
        }

    def _summary_place(self) -> Json:
        return {"item_id": f"rs_{self._id[5:]}", "output_index": 0, "summary_index": 0}


def _summary_part(text: str) -> Json:
    return {"type": "summary_text", "text": text}


def _text_part(text: str) -> Json:
    return {"type": "output_text", "text": text, "annotations": []}


def usage_of(usage: Usage) -> Json:
    """Token counts under the names of this API."""
    return {
        "input_tokens": usage.prompt_tokens,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens},
        "output_tokens": usage.completion_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
    }
