"""Servers that show what their chat template makes of a request, and templates that lose some of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from support.chat_servers import BY_NAME, Body, ChatServer, Turn, whole_reply

# Started with --jinja it takes tools, and its template is the model's own.
LLAMA_WITH_JINJA = replace(
    BY_NAME["llama-server"], name="llama-server with jinja", refuse=lambda body: None, native_tools=True
)

# vLLM's /tokenize and /detokenize, llama-server's /apply-template (API references): what a template makes of a body.
# `system_with_tools_only` is what the template beside REVERSE's evaluation does.
TEMPLATES: dict[str, Callable[[Body], str]] = {
    "whole": lambda body: _render_text(body, system=True, tools=True),
    "system_with_tools_only": lambda body: _render_text(body, system="tools" in body, tools=True),
    "no_tools": lambda body: _render_text(body, system=True, tools=False),
    "no_system": lambda body: _render_text(body, system=False, tools=True),
    "unseen": lambda body: _render_text(body, system=True, tools=True),
}


def _render_text(body: Body, *, system: bool, tools: bool) -> str:
    """Words of the messages, a token a character; pictures have none."""
    listed = [json.dumps(tool) for tool in body.get("tools", ())] if tools else []
    texts = [
        content if isinstance(content, str) else "".join(part.get("text", "") for part in content or ())
        for message in body["messages"]
        if (system or message["role"] != "system") and ((content := message.get("content")) is not None)
    ]
    return "\n".join([*listed, *texts])


class Rendering:
    """A play that keeps what the model is shown of each request that is served."""

    def __init__(self, server: ChatServer, template: str, speak: Callable[[Body], Turn]) -> None:
        self._server = server
        self._template = TEMPLATES[template]
        self._speak = speak
        self.shown: list[str] = []

    def __call__(self, body: Body, number: int) -> Any:
        refusal = self._server.refuse(body)
        if refusal is not None:
            return refusal
        self.shown.append(self._template(body))
        turn = self._speak(body)
        return self._server.stream(turn, body) if body.get("stream") else whole_reply(turn, body)


def rendering(server: ChatServer, template: str, speak: Callable[[Body], Turn]) -> tuple[dict[str, Any], Rendering]:
    """The pages of a server that shows what its template renders (unless that is `unseen`), and its play."""
    render = TEMPLATES[template]
    pages: dict[str, Any] = dict(server.pages)
    if server.name == "vllm" and template != "unseen":
        pages["/tokenize"] = lambda body: {"tokens": [ord(char) for char in render(body)]}
        pages["/detokenize"] = lambda body: {"prompt": "".join(map(chr, body["tokens"]))}
    if server.name.startswith("llama-server") and template != "unseen":
        pages["/apply-template"] = lambda body: server.refuse(body) or {"prompt": render(body)}
    return pages, Rendering(server, template, speak)
