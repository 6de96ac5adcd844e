"""Checks whether the chat template of an endpoint keeps the system text and the tools: the endpoint renders a
conversation.

The finding also says what the engine does about it (`tts/inference/openai/endpoint/template_probe.py`).
"""

from __future__ import annotations

from typing import Any

import httpx

from deployments.doctor_finding import Finding
from deployments.endpoints.listed_models import key_headers
from tts.config import OpenAIEngine
from tts.inference.chat_template import TemplateTraits
from tts.inference.openai.endpoint.question import Question
from tts.inference.openai.endpoint.template_probe import RENDERING, losses, probe_template
from tts.inference.openai.endpoint.traits import ServerKind

_PATIENCE_S = 3.0


def template_finding(engine: OpenAIEngine) -> Finding | None:
    """None where the template is whole or the server does not show it."""
    root = engine.base_url.rstrip("/").removesuffix("/v1")
    try:
        with httpx.Client(base_url=root, headers=key_headers(engine), timeout=_PATIENCE_S, trust_env=False) as client:
            found = (_rendered_template(client, kind, engine.model) for kind in RENDERING)
            template = next((traits for traits in found if traits is not None), None)
    except (httpx.HTTPError, httpx.InvalidURL):
        return None
    lost = () if template is None else losses(template)
    if not lost:
        return None
    return Finding(
        "chat template of the endpoint",
        "missing",
        f"{engine.base_url} loses {', '.join(lost)}",
        "they are sent in the system text or the first user message instead, not as the model was trained",
        "serve it with --chat-template FILE, a template that keeps them",
    )


def _rendered_template(client: httpx.Client, kind: ServerKind, model: str) -> TemplateTraits | None:
    looking = probe_template(kind, model)
    question = next(looking)
    while True:
        try:
            question = looking.send(_ask_server(client, question))
        except StopIteration as end:
            template: TemplateTraits | None = end.value
            return template


def _ask_server(client: httpx.Client, question: Question) -> Any:
    reply = client.request(question.method, question.path, json=question.body)
    try:
        return reply.json() if reply.is_success else None
    except ValueError:
        return None
