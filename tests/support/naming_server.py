"""A vLLM server as far as it takes pictures by name: a cache of them, with its words for a name that it does not know.

Its words are those of vLLM 0.32, asked for a name it did not know (`tests/real_vllm/test_openai_server.py`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from support.chat_servers import Body, Turn, listing, streamed_reply
from support.endpoint import Reply

PAGES = {
    "/v1/models": listing({"id": "qwen3-vl", "owned_by": "vllm", "max_model_len": 32768}),
    "/version": {"version": "0.32.0"},
}


@dataclass
class NamingServer:
    """`play` is for `endpoint.serving`. `room`: how many pictures the cache holds; 0 knows no names at all."""

    speak: Callable[[Body], Turn]
    room: int = 100
    pictures: OrderedDict[str, str] = field(default_factory=OrderedDict)
    seen: list[list[str]] = field(default_factory=list)
    refused: int = 0

    def play(self, body: Body, number: int) -> Any:
        shown: list[str] = []
        for part in picture_parts(body):
            name, whole = part.get("uuid"), (part["image_url"] or {}).get("url")
            found = whole or self.pictures.get(name or "")
            if found is None:
                self.refused += 1
                return refusal(len(shown))
            shown.append(found)
            if name is not None and self.room:
                self.pictures[name] = found
        while len(self.pictures) > self.room:
            self.pictures.popitem(last=False)
        self.seen.append(shown)
        return streamed_reply(self.speak(body), body)


def refusal(index: int) -> Reply:
    message = f"Cache miss for image at index {index} but data is not provided."
    return Reply(400, {"error": {"message": message, "type": "BadRequestError", "param": None, "code": 400}})


def picture_parts(body: Body) -> Iterator[Body]:
    """The pictures of a request, in order."""
    for message in body["messages"]:
        if isinstance(message.get("content"), list):
            yield from (part for part in message["content"] if part["type"] == "image_url")
