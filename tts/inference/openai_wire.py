"""From a `ModelRequest` to the JSON body of a chat completion.

Three ways with tools (`OpenAIEngine.tools`): the endpoint parses calls (`native`), its chat template lists the tools
and calls come back as text (`template`), or we list them in the system text (`text`, hermes). Tool messages may carry
no pictures on most endpoints: with native calls they follow in a user message.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import orjson

from tts.config import OpenAIEngine
from tts.dialects.hermes import as_plain_chat, wire_schema
from tts.domain.messages import ImagePart, Message, TextPart
from tts.inference.pictures import PictureCache
from tts.ports import ModelRequest

Wire = dict[str, Any]


async def body_for(request: ModelRequest, config: OpenAIEngine, model: str, pictures: PictureCache) -> bytes:
    """The body as JSON bytes. Raises ModelError when a picture of the conversation is gone."""
    listed = request.tools if request.listed_tools is None else request.listed_tools
    body: Wire = {"model": model, "stream": True, "stream_options": {"include_usage": True}}
    if config.tools == "native":
        messages = _answered_natively(request.messages)
    else:
        messages = as_plain_chat(request.messages, listed if config.tools == "text" else ())
    body["messages"] = await _Writer(request, pictures).chat(messages)
    if listed and config.tools != "text":
        body["tools"] = [wire_schema(tool) for tool in listed]
        body["tool_choice"] = "auto" if request.tools and config.tools == "native" else "none"
    body |= _sampling(request, config)
    if request.json_schema is not None:
        schema = {"name": "answer", "schema": request.json_schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return orjson.dumps(body | config.extra_body)


def _answered_natively(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Results of native calls stay tool messages; those of calls that came as text become text too."""
    ids = {call.id for message in messages for call in message.tool_calls}

    def stays(message: Message) -> bool:
        return message.role != "tool" or (message.result is not None and message.result.call_id in ids)

    runs = ((native, tuple(run)) for native, run in groupby(messages, key=stays))
    return tuple(message for native, run in runs for message in (run if native else as_plain_chat(run, ())))


def _sampling(request: ModelRequest, config: OpenAIEngine) -> Wire:
    """Standard parameters, and the extensions this kind of server knows."""
    sampling = request.sampling
    wire: Wire = {"temperature": sampling.temperature, "top_p": sampling.top_p}
    wire["max_completion_tokens" if config.server == "openai" else "max_tokens"] = sampling.max_tokens
    if sampling.seed is not None:
        wire["seed"] = sampling.seed
    if sampling.stop:
        wire["stop"] = list(sampling.stop)
    if config.server == "openai":
        return wire
    if sampling.top_k > 0:
        wire["top_k"] = sampling.top_k
    if sampling.min_p > 0:
        wire["min_p"] = sampling.min_p
    if config.server == "vllm" and request.context.priority:
        wire["priority"] = request.context.priority
    return wire


class _Writer:
    """Writes messages; pictures become data URLs, spliced in as they are (base64 needs no escaping)."""

    def __init__(self, request: ModelRequest, pictures: PictureCache) -> None:
        self._request, self._pictures = request, pictures

    async def chat(self, messages: Sequence[Message]) -> list[Wire]:
        written: list[Wire] = []
        shown: list[Wire] = []  # pictures of tool messages, due after the last of a run
        for message in messages:
            if message.role != "tool" and shown:
                written.append({"role": "user", "content": shown})
                shown = []
            if message.role == "tool":
                written.append(self._tool(message))
                shown += [await self._picture(part) for part in message.parts if isinstance(part, ImagePart)]
            else:
                written.append(await self._plain(message))
        if shown:
            written.append({"role": "user", "content": shown})
        return written

    async def _plain(self, message: Message) -> Wire:
        if message.role == "assistant" and message.tool_calls:
            calls = [
                {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": json.dumps(c.arguments)}}
                for c in message.tool_calls
            ]
            return {"role": "assistant", "content": message.text or None, "tool_calls": calls}
        if not message.images:
            return {"role": message.role, "content": message.text}
        content = [
            {"type": "text", "text": part.text} if isinstance(part, TextPart) else await self._picture(part)
            for part in message.parts
        ]
        return {"role": message.role, "content": content}

    def _tool(self, message: Message) -> Wire:
        call_id = message.result.call_id if message.result is not None else ""
        return {"role": "tool", "tool_call_id": call_id, "content": message.text}

    async def _picture(self, part: ImagePart) -> Wire:
        url = await self._pictures.data_url(part.image, self._request)
        return {"type": "image_url", "image_url": {"url": orjson.Fragment(b'"' + url + b'"')}}
