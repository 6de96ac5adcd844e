"""Fifty refusals in the words of real servers, each with the kind of server that says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from support.chat_servers import pictures_in, tokens_asked

Body = dict[str, Any]


@dataclass(frozen=True)
class Row:
    """`refused` tells which bodies the server refuses, `reply` how. `error` is what a user reads when nothing helps."""

    name: str
    refused: Callable[[Body], bool]
    reply: Any
    status: int = 400
    error: str = ""

    @property
    def server(self) -> str:
        """A server of `chat_servers` that refuses so; empty for one of a kind that is not known."""
        maker = self.name.partition(" ")[0]
        return {"openai": "openai-chat", "claude": "anthropic", "llama": "llama-server", "lm": "lm-studio"}.get(
            maker, maker if maker in ("gemini", "openrouter", "vllm", "sglang", "ollama") else ""
        )


def openai(message: str, param: Any = None, code: Any = None, kind: str = "invalid_request_error") -> Body:
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def has_fields(*names: str) -> Callable[[Body], bool]:
    return lambda body: any(name in body for name in names)


def always(body: Body) -> bool:
    return True


def has_tools(body: Body) -> bool:
    return "tools" in body


def has_tool_role(body: Body) -> bool:
    return any(message["role"] == "tool" for message in body["messages"])


def has_system(body: Body) -> bool:
    return any(message["role"] == "system" for message in body["messages"])


def repeats_a_role(body: Body) -> bool:
    roles = [message["role"] for message in body["messages"] if message["role"] != "system"]
    return any(one == other for one, other in pairwise(roles))


def writes_above(most: int) -> Callable[[Body], bool]:
    return lambda body: tokens_asked(body) > most


def more_pictures_than(most: int) -> Callable[[Body], bool]:
    return lambda body: pictures_in(body) > most


def picture_bytes_above(most: int) -> Callable[[Body], bool]:
    def refused(body: Body) -> bool:
        contents = [m["content"] for m in body["messages"] if isinstance(m.get("content"), list)]
        shown = [p["image_url"] for c in contents for p in c if p["type"] == "image_url"]
        return any(len(picture["url"]) > most for picture in shown if picture)

    return refused


def has_pictures_by_name(body: Body) -> bool:
    contents = [m["content"] for m in body["messages"] if isinstance(m.get("content"), list)]
    return any(p["type"] == "image_url" and not p["image_url"] for c in contents for p in c)


def sends_value(name: str, field: str, value: Any) -> Callable[[Body], bool]:
    return lambda body: body.get(name, {}).get(field) == value


def extra_forbidden(name: str) -> Body:
    return {"detail": [{"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs are not permitted"}]}


BOTH = "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
AUTO = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
LENGTH = "This model's maximum context length is 4096 tokens"
ROWS = (
    # OpenAI
    Row("openai temperature", has_fields("temperature"), openai("Unsupported value: 'temperature' does not support 0.7 with this model. Only the default (1) value is supported.", "temperature", "unsupported_value")),
    Row("openai top_p", has_fields("top_p"), openai("Unsupported parameter: 'top_p' is not supported with this model.", "top_p", "unsupported_parameter")),
    Row("openai stop", has_fields("stop"), openai("Unsupported parameter: 'stop' is not supported with this model.", "stop", "unsupported_parameter")),
    Row("openai max_tokens", has_fields("max_tokens"), openai("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "max_tokens", "unsupported_parameter")),
    Row("openai extension", has_fields("top_k"), openai("Unrecognized request argument supplied: top_k")),
    Row("openai unverified organisation", lambda body: body.get("stream") is True, openai("Your organization must be verified to stream this model. Please go to the settings.", "stream", "unsupported_value")),
    Row("openai output too long", writes_above(16384), openai("max_tokens is too large: 30000. This model supports at most 16384 completion tokens, whereas you provided 30000.", "max_tokens", "invalid_value")),
    Row("openai json schema", sends_value("response_format", "type", "json_schema"), openai("Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.", "response_format")),
    Row("openai no quota", always, openai("You exceeded your current quota, please check your plan and billing details.", None, "insufficient_quota", "insufficient_quota"), 429, "no quota left"),
    Row("openai wrong key", always, openai("Incorrect API key provided.", None, "invalid_api_key"), 401, "$OPENAI_API_KEY"),
    Row("openai no such model", always, openai("The model `m` does not exist or you do not have access to it.", None, "model_not_found"), 404, "--model"),
    Row("openai context", always, openai("This model's maximum context length is 4096 tokens. However, your messages resulted in 9000 tokens.", "messages", "context_length_exceeded"), 400, "--max-model-len"),
    # Gemini
    Row("gemini seed", has_fields("seed"), [{"error": {"code": 400, "message": 'Invalid JSON payload received. Unknown name "seed": Cannot find field.', "status": "INVALID_ARGUMENT"}}]),
    Row("gemini tools of gemma", has_tools, [{"error": {"code": 400, "message": "Function calling is not enabled for models/gemma-3-27b-it", "status": "INVALID_ARGUMENT"}}]),
    Row("gemini system of gemma", has_system, [{"error": {"code": 400, "message": "Developer instruction is not enabled for models/gemma-3-27b-it", "status": "INVALID_ARGUMENT"}}]),
    Row("gemini context", always, [{"error": {"code": 400, "message": "The input token count exceeds the maximum number of tokens allowed (1048576).", "status": "INVALID_ARGUMENT"}}], 400, "--max-model-len"),
    Row("gemini key", always, [{"error": {"code": 403, "message": "Method doesn't allow unregistered callers", "status": "PERMISSION_DENIED"}}], 403, "$OPENAI_API_KEY"),
    # Claude's OpenAI face and what stands behind it
    Row("claude both", lambda body: "temperature" in body and "top_p" in body, openai(BOTH)),
    Row("claude output", writes_above(8192), openai("max_tokens: 30000 > 8192, which is the maximum allowed number of output tokens for this model")),
    Row("claude picture bytes", picture_bytes_above(30000), openai("messages.1.content.0.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes")),
    Row("claude no picture small enough", always, openai("messages.1.content.0.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes"), 400, "dialect_settings.pictures"),
    Row("claude credit", always, openai("Your credit balance is too low to access the API: billing", None, None), 400, "no quota left"),
    Row("claude prompt", always, openai("prompt is too long: 215000 tokens > 200000 maximum"), 400, "--max-model-len"),
    # OpenRouter
    Row("openrouter tools", has_tools, {"error": {"message": "No endpoints found that support tool use.", "code": 404}}, 404),
    Row("openrouter pictures", always, {"error": {"message": "No endpoints found that support image input", "code": 404}}, 404, "does not take pictures"),
    Row("openrouter credits", always, {"error": {"message": "Insufficient credits. Add more.", "code": 402}}, 402, "no quota left"),
    Row("openrouter wraps a provider", has_fields("seed"), {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": "Unsupported parameter: 'seed'"}}}),
    # vLLM
    Row("vllm no tool parser", lambda body: body.get("tool_choice") == "auto", {"object": "error", "message": AUTO, "type": "BadRequestError", "param": None, "code": 400}),
    Row("vllm pictures", more_pictures_than(1), openai("At most 1 image(s) may be provided in one prompt.", None, 400, "BadRequestError")),
    Row("vllm picture forgotten", has_pictures_by_name, openai("Cache miss for image at index 0 but data is not provided.", None, 400, "BadRequestError")),
    Row("vllm room", writes_above(3096), openai(f"'max_tokens' or 'max_completion_tokens' is too large: 30000. {LENGTH} and your request has 1000 input tokens (30000 > 4096 - 1000).", None, 400, "BadRequestError")),
    Row("vllm room, older words", writes_above(3096), {"object": "error", "message": f"{LENGTH}. However, you requested 31000 tokens (1000 in the messages, 30000 in the completion). Please reduce the length.", "type": "BadRequestError", "code": 400}),
    Row("vllm prompt", always, openai("The decoder prompt (length 9000) is longer than the maximum model length of 4096.", None, 400), 400, "--max-model-len"),
    Row("vllm text model", always, openai("m is not a multimodal model", None, 400), 400, "does not take pictures"),
    Row("vllm model name", always, {"object": "error", "message": "The model `m` does not exist.", "type": "NotFoundError", "code": 404}, 404, "--model"),
    # SGLang
    Row("sglang prompt", always, {"object": "error", "message": "The input (9000 tokens) is longer than the model's context length (4096 tokens).", "type": "BadRequestError", "code": 400}, 400, "--max-model-len"),
    Row("template without system", has_system, {"object": "error", "message": "System role not supported", "type": "BadRequestError", "code": 400}),
    Row("template wants turns", repeats_a_role, {"object": "error", "message": "Conversation roles must alternate user/assistant/user/assistant/...", "type": "BadRequestError", "code": 400}),
    # llama-server
    Row("llama no jinja", has_tools, {"error": {"code": 500, "message": "tools param requires --jinja flag", "type": "server_error"}}, 500),
    Row("llama context", always, {"error": {"code": 400, "message": "request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it", "type": "exceed_context_size_error", "n_prompt_tokens": 9000, "n_ctx": 4096}}, 400, "llama-server -c"),
    Row("llama no projector", always, {"error": {"code": 500, "message": "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj", "type": "server_error"}}, 500, "does not take pictures"),
    # Ollama
    Row("ollama tools", has_tools, openai("registry.ollama.ai/library/gemma3:4b does not support tools", None, None, "api_error")),
    Row("ollama tools, plain", has_tools, {"error": "registry.ollama.ai/library/gemma3:4b does not support tools"}),
    Row("ollama not pulled", always, openai('model "m" not found, try pulling it first', None, None, "api_error"), 404, "--model"),
    # LM Studio
    Row("lm studio json", sends_value("response_format", "type", "json_object"), {"error": "'response_format.type' must be 'json_schema' or 'text'"}),
    Row("lm studio keeps", always, {"error": "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096)."}, 400, "LM Studio: context length"),
    Row("lm studio empty", always, openai("No models loaded. Please load a model in the developer page.", None, "model_not_found"), 404, "--model"),
    # Others that people put behind --endpoint
    Row("mistral extra", has_fields("stream_options"), extra_forbidden("stream_options"), 422),
    Row("mistral seed", has_fields("seed"), extra_forbidden("seed"), 422),
    Row("deepseek output", writes_above(8192), openai("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]")),
    Row("groq pictures", more_pictures_than(2), openai("Too many images provided. This model supports up to 2 images.")),
    Row("proxy body", picture_bytes_above(30000), "<html><h1>413 Request Entity Too Large</h1></html>", 413),
    Row("template without tool role", has_tool_role, openai("Unexpected role: tool")),
    Row("tool choice", has_fields("tool_choice"), openai("tool_choice is not supported by this model", "tool_choice")),
)  # fmt: skip
