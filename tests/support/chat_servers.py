"""Chat-completions servers as their clients meet them: what they list, refuse, and how they stream.

Each is written from public documentation and from reports of its users, named beside it. Nothing of GeoTTS decides what
they take: a request that the real server refuses is refused here, with the real server's status and words.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from support.endpoint import DONE, Reply, chunk

Body = dict[str, Any]


@dataclass(frozen=True)
class Turn:
    """What the model behind the server says: words, and possibly one tool call and reasoning."""

    text: str = ""
    tool: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    reasoning: str = ""


@dataclass(frozen=True)
class ChatServer:
    """`refuse` gives the refusal of a body, if any; `stream` how a turn is sent; `model` the name to ask for."""

    name: str
    model: str
    pages: dict[str, Any]
    refuse: Callable[[Body], Reply | None]
    stream: Callable[[Turn, Body], list[Any]]
    native_tools: bool = True
    takes_seed: bool = True


def error(
    status: int, message: str, *, kind: str = "invalid_request_error", param: Any = None, code: Any = None
) -> Reply:
    return Reply(status, {"error": {"message": message, "type": kind, "param": param, "code": code}})


def tokens_asked(body: Body) -> int:
    """How many tokens a body asks for at most, under either name; 0 when it does not say."""
    otherwise: int = body.get("max_completion_tokens", 0)
    asked: int = body.get("max_tokens", otherwise)
    return asked


def first(*found: Reply | None) -> Reply | None:
    return next((reply for reply in found if reply is not None), None)


def usage_of(body: Body, *, prompt: int | None = None) -> dict[str, int]:
    """Some token a four bytes of text; 300 a picture."""
    text = sum(len(json.dumps(message)) for message in without_pictures(body)["messages"])
    tokens = text // 4 + 300 * pictures_in(body) if prompt is None else prompt
    return {"prompt_tokens": tokens, "completion_tokens": 12, "total_tokens": tokens + 12}


def pictures_in(body: Body) -> int:
    contents = [message.get("content") for message in body["messages"]]
    return sum(part.get("type") == "image_url" for content in contents if isinstance(content, list) for part in content)


def without_pictures(body: Body) -> Body:
    def bare(message: Body) -> Body:
        content = message.get("content")
        if isinstance(content, list):
            content = [part for part in content if part.get("type") != "image_url"]
        return {**message, "content": content}

    return {**body, "messages": [bare(message) for message in body["messages"]]}


def streamed_reply(
    turn: Turn, body: Body, *, reasoning_field: str = "", finish_with_calls: str = "tool_calls"
) -> list[Any]:
    """OpenAI's own shape: role, words, a call in pieces by index, the reason, usage where it was asked for, the end."""
    steps: list[Any] = [chunk(role="assistant", content="")]
    if turn.reasoning and reasoning_field:
        steps += [chunk(**{reasoning_field: word + " "}) for word in turn.reasoning.split()]
    steps += [chunk(word + " ") for word in turn.text.split(" ") if word]
    if turn.tool:
        arguments = json.dumps(turn.arguments)
        head, tail = arguments[: len(arguments) // 2], arguments[len(arguments) // 2 :]
        function = {"name": turn.tool, "arguments": ""}
        steps.append(chunk(tool_calls=[{"index": 0, "id": "call_abc", "type": "function", "function": function}]))
        steps += [chunk(tool_calls=[{"index": 0, "function": {"arguments": piece}}]) for piece in (head, tail)]
    steps.append(chunk(finish=finish_with_calls if turn.tool else "stop"))
    if body.get("stream_options", {}).get("include_usage"):
        steps.append({"choices": [], "usage": usage_of(body)})
    return [*steps, DONE]


def whole_reply(turn: Turn, body: Body) -> Reply:
    """The reply to a request that did not ask for a stream."""
    message: Body = {"role": "assistant", "content": turn.text or None}
    if turn.tool:
        function = {"name": turn.tool, "arguments": json.dumps(turn.arguments)}
        message["tool_calls"] = [{"id": "call_abc", "type": "function", "function": function}]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if turn.tool else "stop"}
    return Reply(200, {"object": "chat.completion", "choices": [choice], "usage": usage_of(body)})


def listing(*entries: Body) -> Body:
    return {"object": "list", "data": list(entries)}


def unknown_arguments(body: Body, *names: str) -> Reply | None:
    """OpenAI's words for an argument its API does not have."""
    extra = [name for name in names if name in body]
    return error(400, f"Unrecognized request argument supplied: {extra[0]}") if extra else None


def pictures_outside_user_turns(body: Body) -> Reply | None:
    for i, message in enumerate(body["messages"]):
        if (
            message["role"] != "user"
            and isinstance(message.get("content"), list)
            and pictures_in({"messages": [message]})
        ):
            return error(
                400,
                f"Invalid 'messages[{i}]'. Image URLs are only allowed for messages with role 'user', but this message "
                f"with role '{message['role']}' contains an image URL.",
                param=f"messages[{i}]",
                code="invalid_value",
            )
    return None


# OpenAI's API reference; https://github.com/koosoli/ESPHomeDesigner/issues/379 for the reasoning models' words.
def openai_chat_refuses(body: Body) -> Reply | None:
    return first(unknown_arguments(body, "top_k", "min_p", "priority"), pictures_outside_user_turns(body))


def openai_reasoning_refuses(body: Body) -> Reply | None:
    def unsupported(name: str, instead: str = "") -> Reply | None:
        if name not in body:
            return None
        message = f"Unsupported parameter: '{name}' is not supported with this model.{instead}"
        return error(400, message, param=name, code="unsupported_parameter")

    temperature = None
    if body.get("temperature", 1) != 1:
        temperature = error(
            400,
            f"Unsupported value: 'temperature' does not support {body['temperature']} with this model. Only the "
            "default (1) value is supported.",
            param="temperature",
            code="unsupported_value",
        )
    return first(
        unsupported("max_tokens", " Use 'max_completion_tokens' instead."),
        temperature,
        unsupported("top_p"),
        unsupported("stop"),
        openai_chat_refuses(body),
    )


# https://github.com/0xsline/OpenChatCut/issues/6 (the refusal), https://github.com/earendil-works/pi/issues/6733 (where
# the signature is). Errors come as a list.
_SIGNATURE = {"google": {"thought_signature": "c2lnbmF0dXJl"}}


def gemini_refuses(body: Body) -> Reply | None:
    for name in ("seed", "priority", "top_k", "min_p"):
        if name in body:
            message = f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.'
            return Reply(400, [{"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}])
    for position, message_sent in enumerate(body["messages"]):
        for call in message_sent.get("tool_calls") or ():
            if call.get("extra_content") != _SIGNATURE:
                message = (
                    "Function call is missing a thought_signature in functionCall parts. This is required for tools to "
                    f"work correctly. Additional data, function call `default_api:{call['function']['name']}` , "
                    f"position {position}."
                )
                return Reply(400, [{"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}])
    return None


def gemini_streams(turn: Turn, body: Body) -> list[Any]:
    """Calls come whole, with their signature; usage stands in every chunk."""
    usage = {"usage": usage_of(body)}
    steps: list[Any] = [{**chunk(turn.text, role="assistant"), **usage}] if turn.text else []
    if turn.tool:
        call = {
            "index": 0,
            "id": "function-call-1",
            "type": "function",
            "function": {"name": turn.tool, "arguments": json.dumps(turn.arguments)},
            "extra_content": _SIGNATURE,
        }
        steps.append({**chunk(role="assistant", tool_calls=[call]), **usage})
    return [*steps, {**chunk(finish="stop"), **usage}, DONE]


# Anthropic's documentation of its OpenAI face; the two refusals are those of its Messages API behind it.
def anthropic_refuses(body: Body) -> Reply | None:
    most = 8192
    if (asked := tokens_asked(body)) > most:
        return error(400, f"max_tokens: {asked} > {most}, which is the maximum allowed number of output tokens")
    if "temperature" in body and "top_p" in body:
        return error(400, "`temperature` and `top_p` cannot both be specified for this model. Please use only one.")
    return None


# OpenRouter's API reference: comments keep the stream alive, reasoning_details have to come back unchanged.
_REASONING_DETAILS = [{"type": "reasoning.encrypted", "data": "b3BhcXVl", "id": "rs_1", "format": "x", "index": 0}]


def openrouter_refuses(body: Body) -> Reply | None:
    for message in body["messages"]:
        if message["role"] == "assistant" and message.get("reasoning_details") != _REASONING_DETAILS:
            raw = "assistant message is missing its reasoning_details"
            return Reply(400, {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": raw}}})
    if "top_k" in body or "seed" in body:
        return error(400, "Unsupported parameter: top_k or seed")
    return None


def openrouter_streams(turn: Turn, body: Body) -> list[Any]:
    waiting = b": OPENROUTER PROCESSING\n\n"
    return [waiting, waiting, chunk(reasoning="hm ", reasoning_details=_REASONING_DETAILS), *streamed_reply(turn, body)]


# https://github.com/vllm-project/vllm/issues/9986 (tools), serving_chat's messages for length and pictures.
def vllm_refuses(body: Body) -> Reply | None:
    def bad(message: str) -> Reply:
        return Reply(400, {"error": {"message": message, "type": "BadRequestError", "param": None, "code": 400}})

    context, prompt = 16384, usage_of(body)["prompt_tokens"]
    if body.get("tool_choice") == "auto":
        return bad('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set')
    if pictures_in(body) > 1:
        return bad("At most 1 image(s) may be provided in one prompt.")
    asked = body.get("max_tokens", 16)
    if prompt + asked > context:
        return bad(
            f"'max_tokens' or 'max_completion_tokens' is too large: {asked}. This model's maximum context length is "
            f"{context} tokens and your request has {prompt} input tokens ({asked} > {context} - {prompt})."
        )
    return None


# SGLang's error form and model list; its templates for Gemma know no system role.
def sglang_refuses(body: Body) -> Reply | None:
    if any(message["role"] == "system" for message in body["messages"]):
        message = "System role not supported"
        return Reply(
            400, {"object": "error", "message": message, "type": "BadRequestError", "param": None, "code": 400}
        )
    return None


# https://github.com/ggml-org/llama.cpp/pull/15780 (context); the server throws for tools without --jinja: status 500.
def llama_refuses(body: Body) -> Reply | None:
    if "tools" in body:
        return Reply(
            500, {"error": {"code": 500, "message": "tools param requires --jinja flag", "type": "server_error"}}
        )
    tokens = usage_of(body)["prompt_tokens"]
    if tokens > 32768:
        message = f"request ({tokens} tokens) exceeds the available context size (32768 tokens), try increasing it"
        fields = {"n_prompt_tokens": tokens, "n_ctx": 32768}
        return Reply(400, {"error": {"code": 400, "message": message, "type": "exceed_context_size_error", **fields}})
    return None


def llama_streams(turn: Turn, body: Body) -> list[Any]:
    """Usage only as timings."""
    steps = [step for step in streamed_reply(turn, body) if not (isinstance(step, dict) and "usage" in step)]
    timings = {"cache_n": 0, "prompt_n": usage_of(body)["prompt_tokens"], "predicted_n": 12}
    return [*steps[:-1], {"choices": [], "timings": timings}, DONE]


# https://github.com/ollama/ollama/issues/6027 and https://github.com/louisho5/picobot/issues/6.
def ollama_refuses(body: Body) -> Reply | None:
    if "tools" in body:
        message = f"registry.ollama.ai/library/{body['model']} does not support tools"
        return error(400, message, kind="api_error")
    return None


# https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/2205, /2322 (an error in a stream that began with 200).
def lm_studio_refuses(body: Body) -> Reply | None:
    if body.get("response_format", {}).get("type") == "json_object":
        return Reply(400, {"error": "'response_format.type' must be 'json_schema' or 'text'"})
    return None


_VLLM = {"id": "qwen3-vl", "object": "model", "owned_by": "vllm", "max_model_len": 16384}
_ROUTED_MODEL = {
    "id": "vendor/vision",
    "context_length": 131072,
    "architecture": {"input_modalities": ["text", "image"]},
    "supported_parameters": ["temperature", "top_p", "max_tokens", "tools", "tool_choice", "response_format"],
}


def _reasoning_reply(turn: Turn, body: Body) -> list[Any]:
    return streamed_reply(turn, body, reasoning_field="reasoning")


SERVERS: Iterable[ChatServer] = (
    ChatServer(
        "openai-chat",
        "gpt-chat",
        {"/v1/models": listing({"id": "gpt-chat", "owned_by": "system"}, {"id": "other", "owned_by": "system"})},
        openai_chat_refuses,
        streamed_reply,
    ),
    ChatServer(
        "openai-reasoning",
        "o-thinking",
        {"/v1/models": listing({"id": "o-thinking", "owned_by": "openai"}, {"id": "other", "owned_by": "system"})},
        openai_reasoning_refuses,
        streamed_reply,
    ),
    ChatServer(
        "gemini",
        "gemini-pro",
        {"/v1/models": listing({"id": "models/gemini-pro", "owned_by": "google"}, {"id": "b", "owned_by": "google"})},
        gemini_refuses,
        gemini_streams,
        takes_seed=False,
    ),
    ChatServer(
        "anthropic",
        "claude",
        {"/v1/models": {"data": [{"type": "model", "id": "claude", "display_name": "Claude"}], "has_more": False}},
        anthropic_refuses,
        streamed_reply,
    ),
    ChatServer(
        "openrouter",
        "vendor/vision",
        {"/v1/models": {"data": [_ROUTED_MODEL, {"id": "another/model"}]}},
        openrouter_refuses,
        openrouter_streams,
        takes_seed=False,
    ),
    ChatServer("vllm", "qwen3-vl", {"/v1/models": listing(_VLLM)}, vllm_refuses, _reasoning_reply, native_tools=False),
    ChatServer(
        "sglang",
        "gemma",
        {"/v1/models": listing({"id": "gemma", "owned_by": "sglang", "max_model_len": 32768})},
        sglang_refuses,
        streamed_reply,
    ),
    ChatServer(
        "llama-server",
        "local.gguf",
        {
            "/v1/models": listing({"id": "local.gguf", "owned_by": "llamacpp", "meta": {"n_ctx_train": 131072}}),
            "/props": {"total_slots": 1, "default_generation_settings": {"n_ctx": 32768}},
        },
        llama_refuses,
        llama_streams,
        native_tools=False,
    ),
    ChatServer(
        "ollama",
        "gemma3:4b",
        {
            "/v1/models": listing({"id": "gemma3:4b", "owned_by": "library"}),
            "/api/version": {"version": "0.33.3"},
            "/api/generate": {"model": "gemma3:4b", "response": "", "done": True},
            "/api/ps": {"models": [{"name": "gemma3:4b", "model": "gemma3:4b", "context_length": 32768}]},
        },
        ollama_refuses,
        streamed_reply,
        native_tools=False,
    ),
    ChatServer(
        "lm-studio",
        "qwen2.5-vl-7b",
        {
            "/v1/models": listing({"id": "qwen2.5-vl-7b", "owned_by": "organization_owner"}),
            "/api/v0/models": listing({"id": "qwen2.5-vl-7b", "type": "vlm", "loaded_context_length": 32768}),
        },
        lm_studio_refuses,
        streamed_reply,
    ),
)
BY_NAME = {server.name: server for server in SERVERS}


def play_server(server: ChatServer, speak: Callable[[Body], Turn]) -> Callable[[Body, int], Any]:
    """A play for `endpoint.serving`: the server's refusals first, then what the model behind it says."""

    def play(body: Body, number: int) -> Any:
        refusal = server.refuse(body)
        if refusal is not None:
            return refusal
        turn = speak(body)
        return server.stream(turn, body) if body.get("stream") else whole_reply(turn, body)

    return play
