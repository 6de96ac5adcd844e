"""Renders a conversation with a chat template, to find out which parts the template drops.

Some published templates leave the system text out when a request lists no tools (REVERSE's), or know no tools at all.
The model then sees less than in its training, and there is no error message.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

Render = Callable[[list[dict[str, Any]], list[dict[str, Any]] | None], str]
SYSTEM_MARK: Final = "geotts-system-mark"
TOOL_MARK: Final = "geotts_tool_mark"
USER_MARK: Final = "geotts-user-mark"

# ChatML (Qwen's turns) without tools, the project's own wording of a public format; for prompts that list none.
CHATML: Final = (
    "{%- macro shown(content) -%}{%- if content is string -%}{{ content }}{%- else -%}{%- for part in content -%}"
    "{%- if part.type == 'image' -%}<|vision_start|><|image_pad|><|vision_end|>{%- else -%}{{ part.text }}{%- endif -%}"
    "{%- endfor -%}{%- endif -%}{%- endmacro -%}{%- for message in messages -%}"
    "{{ '<|im_start|>' + message.role + '\\n' + shown(message.content) + '<|im_end|>\\n' }}{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{ '<|im_start|>assistant\\n' }}{%- endif -%}"
)


@dataclass(frozen=True, slots=True)
class TemplateTraits:
    """Whether the system text is there without tools and with them, and whether listed tools are."""

    keeps_system: bool
    keeps_system_beside_tools: bool
    lists_tools: bool


def detect_traits(render: Render) -> TemplateTraits:
    """Render a system text, a question and a tool. What a template refuses to render it does not keep."""
    plain, listed = _render_probe(render, None), _render_probe(render, [probe_tool()])
    return TemplateTraits(SYSTEM_MARK in plain, SYSTEM_MARK in listed, TOOL_MARK in listed)


def probe_messages() -> list[dict[str, Any]]:
    """A conversation in which a system text can be looked for."""
    return [{"role": "system", "content": SYSTEM_MARK}, {"role": "user", "content": USER_MARK}]


def probe_tool() -> dict[str, Any]:
    """A tool that can be looked for."""
    parameters = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
    return {"type": "function", "function": {"name": TOOL_MARK, "description": "A probe.", "parameters": parameters}}


def _render_probe(render: Render, tools: list[dict[str, Any]] | None) -> str:
    try:
        return render(probe_messages(), tools)
    except (ValueError, TypeError, KeyError, AttributeError, RuntimeError):  # templates raise what they like
        return ""
