"""From a `ModelRequest` to the JSON body of a chat completion.

Three ways with tools (`EndpointTraits.tools`): the endpoint parses calls (`native`), its chat template lists the tools
and calls come back as text (`template`), or we list them in the system text (`text`, hermes). Tool messages may carry
no pictures on most endpoints: with native calls they follow in a user message.
"""

from __future__ import annotations

import json
from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import orjson

from tts.config import OpenAIEngine
from tts.dialects.hermes_tool_parser import as_plain_chat, wire_schema
from tts.domain.messages import ImagePart, Message, ProviderFields, TextPart
from tts.inference.openai.endpoint.accepted_messages import accepted_messages, merge_into_turns
from tts.inference.openai.endpoint.adaptation import Request
from tts.inference.openai.endpoint.provider_fields import REASONING_FIELDS, without_reasoning
from tts.inference.openai.endpoint.sent_pictures import PictureCache
from tts.inference.openai.endpoint.traits import EndpointTraits
from tts.inference.picture_scaling import size_of
from tts.ports.model_client import ModelRequest

Wire = dict[str, Any]
_MESSAGE_FIELDS = frozenset({"role", "content", "tool_calls", "tool_call_id"})


@dataclass(frozen=True, slots=True)
class ChatBody:
    """The body of a chat completion: its fields, and how many pictures and bytes of text its messages have.

    `uploaded` are the names of pictures that go along whole, `referenced` of those that the endpoint is taken to hold.
    """

    wire: Wire
    images: int
    text_bytes: int
    uploaded: frozenset[str] = frozenset()
    referenced: frozenset[str] = frozenset()


async def body_for(
    request: ModelRequest,
    config: OpenAIEngine,
    model: str,
    pictures: PictureCache,
    traits: EndpointTraits | None = None,
    *,
    max_tokens: int | None = None,
    held: Container[str] = (),
) -> ChatBody:
    """The body. `max_tokens` bounds this request below what sampling asks for; `held` pictures go by name.

    Raises ModelError when a picture of the conversation is gone.
    """
    traits = traits or EndpointTraits.from_config(config)
    listed = request.tools if request.listed_tools is None else request.listed_tools
    body: Wire = {"model": model, "stream": traits.streams}
    if traits.streams:
        body["stream_options"] = {"include_usage": True}
    if traits.tools == "native":
        messages = _order_results_as_called(request.messages)
    else:
        messages = as_plain_chat(request.messages, listed if traits.tools == "text" else ())
    callable_now = bool(request.tools) and traits.tools == "native"
    lists_tools = bool(listed) and traits.tools != "text" and (callable_now or "tool_choice" not in traits.dropped)
    messages = accepted_messages(messages, traits, lists_tools=lists_tools)
    writer = _Writer(request, pictures, traits, held)
    chat = await writer.chat(messages)
    joined = traits.alternates or not traits.keeps_system(lists_tools=lists_tools)
    body["messages"] = merge_into_turns(chat) if joined else chat
    if lists_tools:
        body["tools"] = [wire_schema(tool) for tool in listed]
        body["tool_choice"] = "auto" if callable_now else "none"
    body |= _sampling(request, traits, max_tokens)
    if request.json_schema is not None and traits.schema_form != "none":
        body["response_format"] = _response_format(request.json_schema, traits)
    wire = {name: value for name, value in (body | config.extra_body).items() if name not in traits.dropped}
    text_bytes = sum(len(m.text.encode()) for m in messages)
    return ChatBody(wire, writer.images, text_bytes, frozenset(writer.uploaded), frozenset(writer.referenced))


def _response_format(schema: dict[str, Any], traits: EndpointTraits) -> Wire:
    if traits.schema_form == "json_object":
        return {"type": "json_object"}
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": True}}


def _order_results_as_called(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Results of native calls stay tool messages; those of calls that came as text become text too."""
    ids = {call.id for message in messages for call in message.tool_calls}

    def stays(message: Message) -> bool:
        return message.role != "tool" or (message.result is not None and message.result.call_id in ids)

    runs = ((native, tuple(run)) for native, run in groupby(messages, key=stays))
    return tuple(message for native, run in runs for message in (run if native else as_plain_chat(run, ())))


def _sampling(request: ModelRequest, traits: EndpointTraits, max_tokens: int | None) -> Wire:
    """Standard parameters, and the extensions this kind of server knows."""
    sampling = request.sampling
    bounds = (sampling.max_tokens, max_tokens, traits.max_output_tokens)
    wire: Wire = {"temperature": sampling.temperature, "top_p": sampling.top_p}
    wire[traits.token_field] = min(bound for bound in bounds if bound is not None)
    if sampling.seed is not None:
        wire["seed"] = sampling.seed
    if sampling.stop:
        wire["stop"] = list(sampling.stop)
    if sampling.presence_penalty:
        wire["presence_penalty"] = sampling.presence_penalty
    if traits.takes_sampling_extensions:
        if sampling.top_k > 0:
            wire["top_k"] = sampling.top_k
        if sampling.min_p > 0:
            wire["min_p"] = sampling.min_p
        if sampling.repetition_penalty != 1.0:
            wire["repetition_penalty"] = sampling.repetition_penalty
    if traits.kind == "vllm" and request.context.priority:
        wire["priority"] = request.context.priority
    return wire


def refused_request(written: ChatBody, request: ModelRequest, traits: EndpointTraits) -> Request:
    """What adaptation needs to know of a request."""
    shown = [ref for message in request.messages for ref in message.images]
    sizes = [size_of(ref, request, traits.max_picture_pixels) for ref in shown]
    fields = {name for message in written.wire["messages"] for name in message if name not in _MESSAGE_FIELDS}
    return Request(
        body=written.wire,
        images=written.images,
        picture_pixels=max((width * height for width, height in sizes), default=0),
        boxes_in_pixels=request.pictures.boxes_in_pixels,
        message_fields=frozenset(fields),
    )


class _Writer:
    """Writes messages; pictures become data URLs, spliced in as they are (base64 needs no escaping)."""

    def __init__(
        self, request: ModelRequest, pictures: PictureCache, traits: EndpointTraits, held: Container[str]
    ) -> None:
        self._request = request
        self._pictures = pictures
        self._traits = traits
        self._held_pictures = held
        self.images = 0
        self.uploaded: set[str] = set()
        self.referenced: set[str] = set()

    async def chat(self, messages: Sequence[Message]) -> list[Wire]:
        written: list[Wire] = []
        shown: list[Wire] = []  # pictures of tool messages, due after the last of a run
        for message in messages:
            if message.role != "tool" and shown:
                written.append({"role": "user", "content": shown})
                shown = []
            if message.role == "tool":
                written.append(self._tool_message(message))
                shown += [await self._picture_part(part) for part in message.parts if isinstance(part, ImagePart)]
            else:
                written.append(await self._plain_message(message))
        if shown:
            written.append({"role": "user", "content": shown})
        return written

    async def _plain_message(self, message: Message) -> Wire:
        if message.role == "assistant":
            return self._assistant_message(message)
        if not message.images:
            return {"role": message.role, "content": message.text}
        content = [
            {"type": "text", "text": part.text} if isinstance(part, TextPart) else await self._picture_part(part)
            for part in message.parts
        ]
        return {"role": message.role, "content": content}

    def _assistant_message(self, message: Message) -> Wire:
        """With the provider's own fields as they came. Reasoning that came in a field of its own goes back in it."""
        fields = message.provider_fields or ProviderFields()
        kept = {k: v for k, v in fields.message.items() if k not in self._traits.dropped_message_fields}
        text = without_reasoning(message.text) if fields.message.keys() & REASONING_FIELDS else message.text
        written: Wire = {"role": "assistant", "content": text, **kept}
        if message.tool_calls:
            written["content"] = text or None
            written["tool_calls"] = [
                {
                    **fields.calls.get(call.id, {}),
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
                }
                for call in message.tool_calls
            ]
        return written

    def _tool_message(self, message: Message) -> Wire:
        call_id = message.result.call_id if message.result is not None else ""
        return {"role": "tool", "tool_call_id": call_id, "content": message.text}

    async def _picture_part(self, part: ImagePart) -> Wire:
        self.images += 1
        name = ""
        if self._traits.pictures == "uuid":
            name = self._pictures.name(part.image, self._request, self._traits.max_picture_pixels)
            if name in self._held_pictures:
                self.referenced.add(name)
                return {"type": "image_url", "image_url": None, "uuid": name}
            self.uploaded.add(name)
        url = await self._pictures.data_url(part.image, self._request, self._traits.max_picture_pixels)
        whole = {"type": "image_url", "image_url": {"url": orjson.Fragment(b'"' + url + b'"')}}
        return {**whole, "uuid": name} if name else whole
