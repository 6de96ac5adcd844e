"""Several answers to one prompt in one request: `n` of chat completions.

The prompt and its pictures are sent once, and a hosted endpoint bills them once. Endpoints without `n` refuse it or
give one answer (Ollama); the caller sees this by the number of answers.
"""

from __future__ import annotations

from typing import Any

import httpx
import orjson

from tts.aio import Deadline
from tts.config import OpenAIEngine
from tts.domain.request import RequestContext
from tts.domain.usage import Usage
from tts.inference.openai.connection import Connection
from tts.inference.openai.streamed_completion import usage_in

_STREAM_FIELDS = frozenset({"stream", "stream_options"})


async def several_choices(
    http: Connection, path: str, wire: dict[str, Any], count: int, context: RequestContext, config: OpenAIEngine
) -> tuple[tuple[str | None, ...], Usage]:
    """The texts of the choices, `count` at most, and what they took; none from a refusal. A choice that was cut off or
    calls a tool is None.

    Raises ModelError when the endpoint cannot be reached, DeadlineExceeded when the time is over.
    """
    body = {name: value for name, value in wire.items() if name not in _STREAM_FIELDS} | {"n": count}
    deadline = Deadline(context.remaining_s)
    request_body = orjson.dumps(body)
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    response = await http.post(path, request_body, headers, deadline, config.first_token_s, context.id)
    try:
        content = await http.read_body(response, deadline, config.first_token_s)
    finally:
        await response.aclose()
    reply = _object(content) if response.status_code == httpx.codes.OK else {}
    choices = reply.get("choices")
    texts = [_text(choice) for choice in choices] if isinstance(choices, list) else []
    usage = usage_in(reply) or Usage()
    return tuple(texts[:count]), usage.model_copy(update={"bytes_sent": len(request_body)})


def _object(content: bytes) -> dict[str, Any]:
    try:
        found = orjson.loads(content)
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def _text(choice: Any) -> str | None:
    """What a choice says."""
    if not isinstance(choice, dict) or choice.get("finish_reason") != "stop":
        return None
    message = choice.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return content if content and isinstance(content, str) else None
