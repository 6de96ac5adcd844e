"""Detects the kind of server behind an endpoint, and reads what it reports: models, context, slots.

A `Detection` does no input or output: it returns the next path to get, and takes the response. Sources: vLLM and SGLang
list `max_model_len`; vLLM's `/version` and Ollama's `/api/version` tell their release; llama-server's `/props` has
`build_info`, `total_slots` and `n_ctx`; Ollama's `/api/ps` the context of loaded models (an empty `/api/generate` loads
one); LM Studio's `/api/v0/models` has `loaded_context_length`; OpenRouter lists the parameters and the context of each
model. llama-server names itself in the header `Server` (`server-http.cpp` of llama.cpp), which a proxy before it passes
on; Anthropic sends `anthropic-organization-id` with every response. Servers that render a conversation are looked at
for what their chat template loses (`template_probe`).
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from types import MappingProxyType
from typing import Any

from tts.config.setting_names import SettingNames
from tts.domain.token_price import Price
from tts.errors import ModelError
from tts.inference.chat_template import TemplateTraits
from tts.inference.openai.endpoint.list_prices import shipped_prices
from tts.inference.openai.endpoint.question import Question
from tts.inference.openai.endpoint.template_probe import RENDERING, form_for_template, losses, probe_template
from tts.inference.openai.endpoint.traits import EndpointTraits, ServerKind

_KIND_BY_OWNER: dict[str, ServerKind] = {
    "vllm": "vllm",
    "sglang": "sglang",
    "llamacpp": "llama_cpp",
    "library": "ollama",
    "organization_owner": "lm_studio",
    "organization-owner": "lm_studio",
    "google": "gemini",
    "anthropic": "anthropic",
    "openai": "openai",
    "openai-internal": "openai",
    "system": "openai",
}
_KIND_BY_HOST: dict[str, ServerKind] = {
    "api.openai.com": "openai",
    "generativelanguage.googleapis.com": "gemini",
    "api.anthropic.com": "anthropic",
    "openrouter.ai": "openrouter",
}
# Header, what it holds (anything, when empty), and who sends it.
_KIND_BY_HEADER: tuple[tuple[str, str, ServerKind], ...] = (
    ("server", "llama.cpp", "llama_cpp"),
    ("anthropic-organization-id", "", "anthropic"),
)
_SINGLE_SLOT_KINDS: frozenset[ServerKind] = frozenset({"ollama", "lm_studio"})
_FURTHER_PATHS: dict[ServerKind, tuple[str, ...]] = {
    "llama_cpp": ("/props",),
    "ollama": ("/api/version", "/api/generate", "/api/ps"),
    "vllm": ("/version",),
    "lm_studio": ("/api/v0/models",),
}
_MAX_VERSION_CHARS = 64
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_LIMIT_TRAITS = ("context_tokens", "max_images", "slots", "price")
_SAMPLING_PARAMETERS = frozenset(
    {"temperature", "top_p", "seed", "stop", "presence_penalty", "top_k", "min_p", "repetition_penalty"}
)


class Detection:
    """Asks what is not configured. `question` is the next one, None at the end; `traits` and `model` are the result.

    `lost` names what the chat template loses of a conversation; the traits then have a form in which it does not.
    """

    def __init__(self, traits: EndpointTraits, *, host: str, model: str, full: bool, names: SettingNames) -> None:
        """`full`: also ask what the server is; otherwise only which model it has, where none is named.
        `names`: how advice names the setting of the model.
        """
        self.traits = traits
        self.model = model
        self.lost: tuple[str, ...] = ()
        self._host = host
        self._names = names
        self._is_full = full
        self._pending_questions = [Question("models")] if full or not model else []
        self._template_probe: Generator[Question, Any, TemplateTraits | None] | None = None
        self._has_asked_for_template = False
        self._render_template_if_done()

    @property
    def question(self) -> Question | None:
        """What to ask next; `feed` takes the answer. None when nothing more is to be asked."""
        return self._pending_questions[0] if self._pending_questions else None

    def _render_template_if_done(self) -> None:
        """When nothing else is left to ask: have the chat template rendered, where the server can."""
        if self._pending_questions or self._has_asked_for_template:
            return
        self._has_asked_for_template = True
        if self.traits.kind in RENDERING:
            self._template_probe = probe_template(self.traits.kind, self.model)
            self._pending_questions = [next(self._template_probe)]

    def feed(self, answer: Any, headers: Mapping[str, str] = _NO_HEADERS) -> None:
        """Take the parsed JSON of the answer to `question`, None when there was none, and the headers it came with.

        Raises ModelError when no model is named and the endpoint lists none, or more than one.
        """
        question = self._pending_questions.pop(0)
        if self._template_probe is not None:
            try:
                self._pending_questions = [self._template_probe.send(answer)]
            except StopIteration as end:
                self._template_probe = None
                if end.value is not None:
                    self.lost = losses(end.value)
                    self.traits = form_for_template(self.traits, end.value)
            return
        if question.path == "models":
            self._feed_models(_model_entries(answer), headers)
        elif question.path == "/props":
            self._learn(_traits_of_props(answer))
        elif question.path in ("/version", "/api/version"):
            self._learn({"version": _version(answer, "version")})
        elif question.path == "/api/ps":
            self._learn(_traits_of_ps(answer, self.model))
        elif question.path == "/api/v0/models":
            self._learn(_traits_of_lm_studio(answer, self.model))
        self._render_template_if_done()

    def _feed_models(self, listed: list[dict[str, Any]], headers: Mapping[str, str]) -> None:
        self.model = self.model or self._only_model([str(entry.get("id", "")) for entry in listed])
        if not self._is_full:
            return
        entry = next((entry for entry in listed if entry.get("id") in (self.model, f"models/{self.model}")), {})
        kind = self.traits.kind
        if kind == "other":
            kind = _kind(self._host, headers, entry or next(iter(listed), {}))
        self._learn({"kind": kind, **_traits_of_entry(entry)})
        if kind == "openai":
            self._learn({"token_field": "max_completion_tokens"})
        if kind == "openrouter":
            self._learn(_traits_of_openrouter(entry, self.traits))
        if self.traits.price is None:
            self._learn({"price": shipped_prices().price_of(self.model)})
        if kind in _SINGLE_SLOT_KINDS:
            self._learn({"slots": 1})
        self._pending_questions = [
            Question(path, {"model": self.model} if path == "/api/generate" else None)
            for path in _FURTHER_PATHS.get(kind, ())
        ]

    def _only_model(self, ids: list[str]) -> str:
        listed, setting = [one for one in ids if one], self._names.shortest("model")
        if len(listed) == 1:
            return listed[0]
        if not listed:
            raise ModelError(f"the endpoint lists no model: name one with {setting}")
        some = ", ".join(listed[:8]) + (" …" if listed[8:] else "")
        raise ModelError(f"the endpoint lists {len(listed)} models: name one with {setting} ({some})")

    def _learn(self, found: dict[str, Any]) -> None:
        """Configured values, and values that are already known, are not replaced."""
        kept = {name for name in _LIMIT_TRAITS if getattr(self.traits, name) is not None}
        new = {name: value for name, value in found.items() if value is not None and name not in kept}
        self.traits = self.traits.model_copy(update=new)


def _model_entries(listing: Any) -> list[dict[str, Any]]:
    entries = listing.get("data") if isinstance(listing, dict) else listing
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def _kind(host: str, headers: Mapping[str, str], entry: dict[str, Any]) -> ServerKind:
    """By its address, else by what it calls itself, else by how it lists a model."""
    for known, kind in _KIND_BY_HOST.items():
        if host == known or host.endswith(f".{known}"):
            return kind
    for name, value, kind in _KIND_BY_HEADER:
        if name in headers and value in ("", headers[name].strip().lower()):
            return kind
    if "supported_parameters" in entry and "architecture" in entry:
        return "openrouter"
    if entry.get("type") == "model" and "display_name" in entry:
        return "anthropic"
    return _KIND_BY_OWNER.get(str(entry.get("owned_by", "")).lower(), "other")


def _traits_of_entry(entry: dict[str, Any]) -> dict[str, Any]:
    """vLLM and SGLang: `max_model_len`; OpenRouter and others: `context_length`."""
    return {"context_tokens": _count(entry.get("max_model_len")) or _count(entry.get("context_length"))}


def _traits_of_props(props: Any) -> dict[str, Any]:
    if not isinstance(props, dict):
        return {}
    settings = props.get("default_generation_settings")
    return {
        "version": _version(props, "build_info"),
        "slots": _count(props.get("total_slots")),
        "context_tokens": _count(settings.get("n_ctx")) if isinstance(settings, dict) else None,
    }


def _version(answer: Any, name: str) -> str | None:
    version = answer.get(name) if isinstance(answer, dict) else None
    return version[:_MAX_VERSION_CHARS] if isinstance(version, str) else None


def _traits_of_ps(loaded: Any, model: str) -> dict[str, Any]:
    entries = _model_entries({"data": loaded.get("models")}) if isinstance(loaded, dict) else []
    entry: dict[str, Any] = next((e for e in entries if model in (e.get("name"), e.get("model"))), {})
    return {"context_tokens": _count(entry.get("context_length"))}


def _traits_of_lm_studio(listing: Any, model: str) -> dict[str, Any]:
    entry = next((entry for entry in _model_entries(listing) if entry.get("id") == model), {})
    return {"context_tokens": _count(entry.get("loaded_context_length"))}


def _traits_of_openrouter(entry: dict[str, Any], traits: EndpointTraits) -> dict[str, Any]:
    taken = {str(name) for name in _list(entry.get("supported_parameters"))}
    if not taken:
        return {}
    found: dict[str, Any] = {"dropped": traits.dropped | (_SAMPLING_PARAMETERS - taken), "price": _listed_price(entry)}
    if "tools" not in taken and traits.tools == "native":
        found["tools"] = "text"
    if not taken & {"structured_outputs", "response_format"}:
        found["schema_form"] = "none"
    return found


def _listed_price(entry: dict[str, Any]) -> Price | None:
    """OpenRouter's `pricing`: dollars a token, as text."""
    pricing = entry.get("pricing")
    if not isinstance(pricing, dict):
        return None
    try:
        cached = pricing.get("input_cache_read")
        return Price(
            input=float(pricing["prompt"]) * 1e6,
            cached_input=None if cached is None else float(cached) * 1e6,
            output=float(pricing["completion"]) * 1e6,
        )
    except (KeyError, TypeError, ValueError):
        return None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _count(value: Any) -> int | None:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 2**40 else None
