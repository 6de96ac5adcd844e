"""What to do about a refusal that no other form of the request avoids. Each advice names the setting to change."""

from __future__ import annotations

import re

from tts.config.setting_names import SettingNames
from tts.inference.context_overflow import reports_context_overflow
from tts.inference.openai.endpoint.adaptation import TOO_LARGE
from tts.inference.openai.endpoint.refusal import Refusal

_PICTURES_UNSUPPORTED = re.compile(
    r"(image|vision|multimodal|multi-modal).{0,40}(not (supported|enabled|available)|unsupported)|"
    r"not support.{0,20}(image|vision|multimodal)|support image input|not a (multimodal|vision) model|mmproj",
    re.IGNORECASE,
)
_MODEL_NOT_FOUND = re.compile(
    r"model.{0,80}(not found|does not exist|not exist|is not loaded|no models? loaded|not a valid model)|"
    r"no models? (loaded|found)|no such model|model_not_found",
    re.IGNORECASE,
)
_QUOTA_EXCEEDED = re.compile(
    r"insufficient_quota|exceeded your current quota|insufficient credits|insufficient balance|billing", re.IGNORECASE
)
_CONTENT_FILTERED = re.compile(r"content[_ ]?(filter|policy|management)|safety|moderation|flagged", re.IGNORECASE)

_LONGER_CONTEXT = {
    "ollama": "Ollama: OLLAMA_CONTEXT_LENGTH=16384 ollama serve, or num_ctx in the Modelfile",
    "lm_studio": "LM Studio: context length of the loaded model",
    "llama_cpp": "llama-server -c 16384",
    "vllm": "vLLM --max-model-len",
    "sglang": "SGLang --context-length",
}
_LONGER_CONTEXT_DEFAULT = (
    "vLLM --max-model-len, llama-server -c, Ollama OLLAMA_CONTEXT_LENGTH, LM Studio: context length of the loaded model"
)


def lacks_quota(refusal: Refusal) -> bool:
    """Whether waiting does not help: the account has no money or quota left."""
    return refusal.status == 402 or bool(_QUOTA_EXCEEDED.search(f"{refusal.code} {refusal.message}"))


def longer_context(kind: str = "") -> str:
    """What to do about a context that is too short: by the setting of that kind of server, else of all known ones."""
    return (
        f"serve the model with a longer context ({_LONGER_CONTEXT.get(kind, _LONGER_CONTEXT_DEFAULT)}), "
        "or ask for less: limits.max_turns, limits.max_tokens, --profile small"
    )


def overflows_context(refusal: Refusal) -> bool:
    """Whether the conversation is longer than the endpoint's context."""
    return reports_context_overflow(f"{refusal.code} {refusal.message}")


def advice(refusal: Refusal, names: SettingNames, *, key_env: str) -> str:
    """What to do, as the end of a sentence; empty when the message has to speak for itself."""
    text = f"{refusal.code} {refusal.message}"
    if lacks_quota(refusal):
        return f"the account has no quota left: top it up, or name another endpoint with {names.shortest('base_url')}"
    if refusal.status in (401, 403):
        return f"the key is taken from ${key_env}"
    if _MODEL_NOT_FOUND.search(text):
        return f"name a model that the endpoint lists with {names.shortest('model')}"
    if overflows_context(refusal):
        return longer_context()
    if _PICTURES_UNSUPPORTED.search(text):
        return f"the model does not take pictures: name one that does with {names.shortest('model')}"
    if _CONTENT_FILTERED.search(text):
        return "the endpoint withholds this photo or question by its own rules"
    if refusal.status == 413 or TOO_LARGE.search(text):
        return "send smaller pictures: dialect_settings.pictures, or --profile small"
    return ""
