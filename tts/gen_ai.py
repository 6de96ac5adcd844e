"""Spans and metrics by OpenTelemetry's conventions for generative AI, for programs that show traces of agents.

Off unless `telemetry.gen_ai` is set; then `rollout`, the model's turns and the tool calls are the spans `invoke_agent`,
`chat` and `execute_tool`. Names and attributes are those of the semantic conventions 1.44.0, where they still are "in
development": they are written down here, so that a newer package of names changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager
from typing import Final

import orjson
from opentelemetry import metrics, trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from opentelemetry.util.types import AttributeValue

from tts.aio import closing
from tts.domain.answer import Verdict
from tts.domain.tooling import ToolCall, ToolResult
from tts.domain.trace_context import TraceContext
from tts.domain.usage import Usage
from tts.net.url_secrets import mask_secrets
from tts.ports.model_client import Delta, ModelClient, ModelRequest
from tts.telemetry import GEN_AI, span, tracer

SCHEMA: Final = "https://opentelemetry.io/schemas/1.44.0"
AGENT: Final = "geotts"
OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
MODEL = "gen_ai.request.model"
_MAX_CONTENT_CHARS = 8000  # characters of a message or a result, where content is recorded at all

_tokens = metrics.get_meter("geotts", schema_url=SCHEMA).create_histogram(
    "gen_ai.client.token.usage",
    unit="{token}",
    description="tokens of one model call",
    explicit_bucket_boundaries_advisory=[4.0**power for power in range(14)],  # as the conventions state them
)


def rollout_span(
    parent: TraceContext | None, request_id: str, rollout_id: int, model: ModelClient
) -> AbstractContextManager[Span]:
    """Around one rollout."""
    attributes: dict[str, AttributeValue] = {"rollout_id": rollout_id}
    name = "rollout"
    if GEN_AI.on:
        name = f"invoke_agent {AGENT}"
        attributes |= {
            OPERATION: "invoke_agent",
            PROVIDER: _provider(model),
            MODEL: model.name,
            "gen_ai.agent.name": AGENT,
            "gen_ai.agent.id": f"{AGENT}/{rollout_id}",
            "gen_ai.conversation.id": f"{request_id}/{rollout_id}",
        }
    return span(name, parent=parent, **attributes)


def traced_generation(model: ModelClient, request: ModelRequest) -> AsyncIterator[Delta]:
    """The deltas of `model.generate(request)`, with a `chat` span from the question to the end of the reply."""
    return _trace_deltas(model, request) if GEN_AI.on else model.generate(request)


async def _trace_deltas(model: ModelClient, request: ModelRequest) -> AsyncIterator[Delta]:
    call = _Chat(model, request)
    try:
        async with closing(model.generate(request)) as deltas:
            async for delta in deltas:
                call.record(delta)
                yield delta
        call.whole = True
    finally:
        call.end()


class _Chat:
    """One model call while it runs. Its span is never the current one: a generator is left and entered again."""

    def __init__(self, model: ModelClient, request: ModelRequest) -> None:
        self._common_attributes: dict[str, AttributeValue] = {
            OPERATION: "chat",
            PROVIDER: _provider(model),
            MODEL: model.name,
        }
        self._started_at = time.perf_counter()
        self._text: list[str] = []
        self._is_first = True
        self.whole = False
        self._usage = Usage()
        attributes = {**self._common_attributes, "gen_ai.conversation.id": request.session_id, **_sampling(request)}
        if GEN_AI.content:
            attributes["gen_ai.input.messages"] = _content(
                [{"role": one.role, "parts": [{"type": "text", "content": one.text}]} for one in request.messages]
            )
        self._span = tracer().start_span(f"chat {model.name}", kind=SpanKind.CLIENT, attributes=attributes)

    def record(self, delta: Delta) -> None:
        """Note a piece of the reply."""
        if self._is_first and (delta.text or delta.tool_calls):
            self._is_first = False
            waited_s = time.perf_counter() - self._started_at
            self._span.set_attribute("gen_ai.response.time_to_first_chunk", round(waited_s, 4))
        if GEN_AI.content and delta.text:
            self._text.append(delta.text)
        self._usage = delta.usage or self._usage
        if delta.finish_reason is not None:
            self._span.set_attribute("gen_ai.response.finish_reasons", (delta.finish_reason,))

    def end(self) -> None:
        """End the span; a call that was cut off is an error."""
        usage = self._usage
        self._span.set_attributes(
            {
                "gen_ai.usage.input_tokens": usage.prompt_tokens,
                "gen_ai.usage.output_tokens": usage.completion_tokens,
                "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens,
            }
        )
        if GEN_AI.content:
            output = [{"role": "assistant", "parts": [{"type": "text", "content": "".join(self._text)}]}]
            self._span.set_attribute("gen_ai.output.messages", _content(output))
        if not self.whole:
            self._span.set_status(Status(StatusCode.ERROR))
            self._span.set_attribute("error.type", "cut")
        self._span.end()
        for kind, count in (("input", usage.prompt_tokens), ("output", usage.completion_tokens)):
            if count:
                _tokens.record(count, {**self._common_attributes, "gen_ai.token.type": kind})


def tool_span(call: ToolCall, rollout_id: int) -> AbstractContextManager[Span]:
    """Around one tool call; `record_result` adds the result."""
    attributes: dict[str, AttributeValue] = {"tool": call.name, "rollout_id": rollout_id}
    name = "tool"
    if GEN_AI.on:
        name = f"execute_tool {call.name}"
        attributes |= {
            OPERATION: "execute_tool",
            "gen_ai.tool.name": call.name,
            "gen_ai.tool.call.id": call.id,
            "gen_ai.tool.type": "function",
        }
        if GEN_AI.content:
            attributes["gen_ai.tool.call.arguments"] = _content(call.arguments)
    return span(name, None, **attributes)


def record_result(current: Span, result: ToolResult) -> None:
    """Add the result of a tool call to its span."""
    if not GEN_AI.on:
        return
    if result.failure is not None:
        current.set_status(Status(StatusCode.ERROR))
        current.set_attribute("error.type", result.failure.kind.value)
    if GEN_AI.content:
        current.set_attribute("gen_ai.tool.call.result", mask_secrets(result.text)[:_MAX_CONTENT_CHARS])


def record_verdict(verdict: Verdict) -> None:
    """Add the verifier's score to the current span, as an evaluation: the confidence, and the level as its label."""
    if not GEN_AI.on:
        return
    evaluation: dict[str, AttributeValue] = {
        "gen_ai.evaluation.name": "geotts.confidence",
        "gen_ai.evaluation.score.value": verdict.confidence,
        "gen_ai.evaluation.score.label": "abstained" if verdict.abstained else str(verdict.level),
    }
    if GEN_AI.content:
        evaluation["gen_ai.evaluation.explanation"] = mask_secrets(verdict.explanation)[:_MAX_CONTENT_CHARS]
    trace.get_current_span().add_event("gen_ai.evaluation.result", evaluation)


def _provider(model: ModelClient) -> str:
    """The kind of engine: the name of its place in `tts.inference`."""
    places = type(model).__module__.split(".")
    return places[2] if places[:2] == ["tts", "inference"] else AGENT


def _sampling(request: ModelRequest) -> dict[str, AttributeValue]:
    sampling = request.sampling
    attributes: dict[str, AttributeValue] = {
        "gen_ai.request.temperature": sampling.temperature,
        "gen_ai.request.top_p": sampling.top_p,
        "gen_ai.request.max_tokens": sampling.max_tokens,
    }
    if sampling.top_k > 0:
        attributes["gen_ai.request.top_k"] = float(sampling.top_k)
    return attributes if sampling.seed is None else {**attributes, "gen_ai.request.seed": sampling.seed}


def _content(value: object) -> str:
    """JSON with what looks like a secret masked. Pictures are not in it: messages carry references to them."""
    return mask_secrets(orjson.dumps(value).decode())[:_MAX_CONTENT_CHARS]
