"""Finds out what the chat template of an endpoint drops: the endpoint renders a conversation without answering it.

vLLM renders with `/tokenize` and gives the text back with `/detokenize`; llama-server renders with `/apply-template`.
If a server cannot render, its template is assumed to drop nothing.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Final

from tts.inference.chat_template import (
    SYSTEM_MARK,
    TOOL_MARK,
    USER_MARK,
    TemplateTraits,
    probe_messages,
    probe_tool,
)
from tts.inference.openai.endpoint.question import Question
from tts.inference.openai.endpoint.traits import EndpointTraits, ServerKind

Asking = Generator[Question, Any, str]
RENDERING: Final[tuple[ServerKind, ...]] = ("vllm", "llama_cpp")
"""Servers that show what they render."""


def probe_template(kind: ServerKind, model: str) -> Generator[Question, Any, TemplateTraits | None]:
    """Yields questions, gets the parsed answers (None for no answer), and returns the traits; None if nothing was
    rendered."""
    plain = yield from _render_template(kind, model, None)
    if USER_MARK not in plain:
        return None
    listed = yield from _render_template(kind, model, [probe_tool()])
    if USER_MARK not in listed:
        return TemplateTraits(SYSTEM_MARK in plain, True, True)
    return TemplateTraits(SYSTEM_MARK in plain, SYSTEM_MARK in listed, TOOL_MARK in listed)


def form_for_template(traits: EndpointTraits, template: TemplateTraits) -> EndpointTraits:
    """The form of requests of which the template loses nothing.

    Tools go into the system text where the template does not list them, or drops the system text beside them; the
    system text goes into the first user message of requests that then list no tools.
    """
    if traits.tools != "text" and not (template.lists_tools and template.keeps_system_beside_tools):
        traits = traits.model_copy(update={"tools": "text"})
    return traits if template.keeps_system else traits.model_copy(update={"system_alone": False})


def losses(template: TemplateTraits) -> tuple[str, ...]:
    """What a template loses, in words."""
    found = {
        "the system text of requests without tools": not template.keeps_system,
        "the system text of requests with tools": not template.keeps_system_beside_tools,
        "the tools": not template.lists_tools,
    }
    return tuple(what for what, lost in found.items() if lost)


def _render_template(kind: ServerKind, model: str, tools: list[dict[str, Any]] | None) -> Asking:
    body: dict[str, Any] = {"model": model} if model else {}
    asked = {**body, "messages": probe_messages(), "add_generation_prompt": True}
    if tools:
        asked["tools"] = tools
    if kind == "llama_cpp":
        return _text((yield Question("/apply-template", asked)), "prompt")
    tokenized = yield Question("/tokenize", asked)
    tokens = tokenized.get("tokens") if isinstance(tokenized, dict) else None
    if not isinstance(tokens, list) or not tokens:
        return ""
    return _text((yield Question("/detokenize", {**body, "tokens": tokens})), "prompt")


def _text(reply: Any, field: str) -> str:
    found = reply.get(field) if isinstance(reply, dict) else None
    return found if isinstance(found, str) else ""
