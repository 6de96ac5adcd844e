"""From a refusal to the form of the request that the endpoint would have served.

Each rule knows one kind of refusal and gives the narrower traits, or None. The messages are those of the servers named
beside the patterns; where they differ between versions the pattern takes all of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tts.inference.openai.endpoint.refusal import Refusal
from tts.inference.openai.endpoint.traits import EndpointTraits, TokenField

ADAPTABLE_STATUS = frozenset({400, 404, 413, 415, 422, 500, 501})
_MARGIN_TOKENS = 16
_MIN_OUTPUT_TOKENS = 64
_MIN_PICTURE_PIXELS = 100_000


@dataclass(frozen=True, slots=True)
class Request:
    """What the rules need to know of the refused request: its body, its pictures, and the largest of them."""

    body: Mapping[str, Any]
    images: int = 0
    picture_pixels: int = 0
    boxes_in_pixels: bool = False
    message_fields: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Adaptation:
    """How to ask again. `max_tokens` binds this request only: it is what the context leaves to it."""

    traits: EndpointTraits
    max_tokens: int | None = None


def adapt(traits: EndpointTraits, refusal: Refusal, request: Request) -> Adaptation | None:
    """The first rule that fits and changes anything; None when no other form of the request is known."""
    if refusal.status not in ADAPTABLE_STATUS:
        return None
    for rule in _RULES:
        found = rule(traits, refusal, request)
        if found is not None and (found.traits != traits or found.max_tokens is not None):
            return found
    return None


def _make_adaptation(traits: EndpointTraits, **changes: Any) -> Adaptation:
    return Adaptation(traits.model_copy(update=changes))


# Ollama "… does not support tools"; vLLM "requires --enable-auto-tool-choice and --tool-call-parser"; llama-server
# "tools param requires --jinja flag"; OpenRouter "No endpoints found that support tool use"; Gemini "Function calling
# is not enabled"; templates that know no tool role.
_TOOLS_UNSUPPORTED = re.compile(
    r"not support (tools|tool use|tool call|function)|support tool use|enable-auto-tool-choice|tools param requires|"
    r"(function|tool)[ _-]?(calling|calls?|use) (is|are) not (supported|enabled|available)|"
    r"tools? (is|are) not (supported|enabled|available)|(unsupported|invalid|unknown|unexpected) role:? ?['\"`]?tool",
    re.IGNORECASE,
)


def _adapt_tools(traits: EndpointTraits, refusal: Refusal, request: Request) -> Adaptation | None:
    if traits.tools == "text" or "tools" not in request.body:
        return None
    refused = _TOOLS_UNSUPPORTED.search(refusal.message) or (
        refusal.param == "tools" and _PARAMETER_UNSUPPORTED.search(refusal.message)
    )
    return _make_adaptation(traits, tools="text") if refused else None


# Gemma's template "System role not supported"; Gemini's face for Gemma "Developer instruction is not enabled".
_SYSTEM_ROLE_UNSUPPORTED = re.compile(
    r"system (role|message|prompt|instruction)s? (is |are )?not (supported|enabled|allowed)|"
    r"developer instructions? (is|are) not enabled|(unsupported|invalid|unexpected) role:? ?['\"`]?system",
    re.IGNORECASE,
)


def _adapt_system_role(traits: EndpointTraits, refusal: Refusal, request: Request) -> Adaptation | None:
    return _make_adaptation(traits, system_role=False) if _SYSTEM_ROLE_UNSUPPORTED.search(refusal.message) else None


_ROLES_MUST_ALTERNATE = re.compile(r"roles? must alternate|must alternate (between )?(user|the roles)", re.IGNORECASE)


def _adapt_alternation(traits: EndpointTraits, refusal: Refusal, request: Request) -> Adaptation | None:
    """First neighbours of one role are joined; where results of tools still stand side by side, all goes as text."""
    if not _ROLES_MUST_ALTERNATE.search(refusal.message):
        return None
    if not traits.alternates:
        return _make_adaptation(traits, alternates=True)
    return _make_adaptation(traits, tools="text") if "tools" in request.body else None


# OpenAI "Your organization must be verified to stream this model" (param stream); others "does not support streaming".
_STREAMING_UNSUPPORTED = re.compile(
    r"verified to stream|not support stream|stream(ing)? is not supported", re.IGNORECASE
)


def _adapt_streaming(traits: EndpointTraits, refusal: Refusal, request: Request) -> Adaptation | None:
    refused = refusal.param == "stream" or _STREAMING_UNSUPPORTED.search(refusal.message)
    return _make_adaptation(traits, streams=False) if refused else None


# vLLM "At most 1 image(s) may be provided in one request"; Groq "supports up to 5 images"; Mistral "max 8 images".
_TOO_MANY_IMAGES = re.compile(
    r"(?:at most|up to|max(?:imum)?(?: of| is)?|limit(?: of| is)?|only) (\d+) (?:image|picture)", re.IGNORECASE
)


def _adapt_image_count(traits: EndpointTraits, refusal: Refusal, request: Request) -> Adaptation | None:
    found = _TOO_MANY_IMAGES.search(refusal.message)
    if found is None or not 1 <= int(found[1]) < request.images:
        return None
    return _make_adaptation(traits, max_images=int(found[1]))


# Anthropic "image exceeds 5 MB maximum" and "image dimensions exceed max allowed size"; proxies "Request Entity Too
# Large".
TOO_LARGE = re.compile(
    r"image.{0,40}(exceeds?|too (large|big)|max(imum)? allowed)|(request|payload|content|body).{0,20}too large|"
    r"request_too_large|entity too large",
    re.IGNORECASE,
)


def _adapt_image_size(traits: EndpointTraits, refusal: Refusal, request: Request) -> Adaptation | None:
    """Half the pixels; not where the model's boxes count pixels, because they would shift."""
    too_large = refusal.status == 413 or TOO_LARGE.search(refusal.message)
    pixels = request.picture_pixels // 2
    if not too_large or request.boxes_in_pixels or pixels < _MIN_PICTURE_PIXELS:
        return None
    return _make_adaptation(traits, max_picture_pixels=pixels)


# vLLM "'max_tokens' … is too large: 4000. This model's maximum context length is 4096 tokens and your request has 1500
# input tokens"; its older form and OpenAI's "you requested 5500 tokens (1500 in the messages, 4000 in the completion)".
_CONTEXT_TOKENS = re.compile(
    r"maximum context length (?:is|of) (\d+)|context (?:length|size|window) (?:is |of )?\(?(\d+)", re.IGNORECASE
)
_PROMPT_TOKENS = re.compile(
    r"request has (?:at least )?(\d+) input|(?<!\d)(\d+) (?:tokens )?(?:in|of|from) (?:the )?(?:messages|prompt|input)",
    re.IGNORECASE,
)


def _adapt_to_room(traits: EndpointTraits, refusal: Refusal, request: Request) -> Adaptation | None:
    """The completion asked for does not fit beside the prompt, but a shorter one does."""
    context, prompt = _find_number(_CONTEXT_TOKENS, refusal.message), _find_number(_PROMPT_TOKENS, refusal.message)
    if context is None or prompt is None:
        return None
    room, asked = context - prompt - _MARGIN_TOKENS, request.body.get(traits.token_field)
    if room < _MIN_OUTPUT_TOKENS or not isinstance(asked, int) or asked <= room:
        return None
    return Adaptation(traits.model_copy(update={"context_tokens": context}), max_tokens=room)


# OpenAI "supports at most 16384 completion tokens"; Anthropic "max_tokens: 64000 > 8192"; DeepSeek "the valid range of
# max_tokens is [1, 8192]"; Groq "must be less than or equal to `8192`".
_OUTPUT_CAP = re.compile(
    r"at most (\d+) completion|max(?:_completion)?_tokens:? \d+ > (\d+)|range of max_tokens is \[1, ?(\d+)\]|"
    r"max(?:_completion)?_tokens.{0,60}(?:less than or equal to|<=|at most|cannot exceed) ?[`'\"]?(\d+)",
    re.IGNORECASE,
)


def _adapt_output_cap(traits: EndpointTraits, refusal: Refusal, request: Request) -> Adaptation | None:
    cap, asked = _find_number(_OUTPUT_CAP, refusal.message), request.body.get(traits.token_field)
    if cap is None or cap < 1 or not isinstance(asked, int) or cap >= asked:
        return None
    return _make_adaptation(traits, max_output_tokens=cap)


def _adapt_message_field(traits: EndpointTraits, refusal: Refusal, request: Request) -> Adaptation | None:
    """A field that this or another server put on an assistant message and that is refused when it comes back."""
    named = _refused_fields(refusal, request.message_fields)
    if not named:
        return None
    return _make_adaptation(traits, dropped_message_fields=traits.dropped_message_fields | named)


_PARAMETER_UNSUPPORTED = re.compile(
    r"unsupported|not supported|n[o']t support|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed|"
    r"not available|invalid|deprecated|cannot both|only the default|must be|should be|requires|extra",
    re.IGNORECASE,
)
_PARAMETER_UNSUPPORTED_CODES = frozenset(
    {"unsupported_parameter", "unsupported_value", "unknown_parameter", "extra_forbidden"}
)
_REQUIRED_FIELDS = frozenset({"model", "messages", "tools", "stream"})
_DROPPED_FIRST = ("top_p", "min_p", "top_k")  # of several that cannot go together


def _adapt_parameter(traits: EndpointTraits, refusal: Refusal, request: Request) -> Adaptation | None:
    """A parameter that the message names: sent under its other name, in a weaker form, or not at all."""
    named = _refused_fields(refusal, frozenset(request.body) - _REQUIRED_FIELDS)
    if not named:
        return None
    if traits.token_field in named:
        other: TokenField = "max_tokens" if traits.token_field == "max_completion_tokens" else "max_completion_tokens"
        if other in refusal.message or traits.token_field == "max_completion_tokens":
            return _make_adaptation(traits, token_field=other)
    if "response_format" in named:
        weaker = (
            "json_object" if traits.schema_form == "json_schema" and "json_object" not in refusal.message else "none"
        )
        return _make_adaptation(traits, schema_form=weaker)
    if len(named) > 1 and "both" in refusal.message:
        named = frozenset([next((name for name in _DROPPED_FIRST if name in named), min(named))])
    return _make_adaptation(traits, dropped=traits.dropped | named)


def _refused_fields(refusal: Refusal, known: frozenset[str]) -> frozenset[str]:
    """Which of the known fields the endpoint does not take: by the refusal's `param`, else the words of its message."""
    if not (_PARAMETER_UNSUPPORTED.search(refusal.message) or refusal.code in _PARAMETER_UNSUPPORTED_CODES):
        return frozenset()
    steps = set(re.split(r"[.\[\]]+", refusal.param))
    if steps & known:
        return frozenset(steps & known)
    words = set(re.findall(r"[A-Za-z_]+", refusal.message))
    return frozenset(words & known)


def _find_number(pattern: re.Pattern[str], text: str) -> int | None:
    found = pattern.search(text)
    return next((int(group) for group in found.groups() if group), None) if found else None


_Rule = Callable[[EndpointTraits, Refusal, Request], Adaptation | None]
_RULES: tuple[_Rule, ...] = (
    _adapt_tools,
    _adapt_system_role,
    _adapt_alternation,
    _adapt_streaming,
    _adapt_image_count,
    _adapt_image_size,
    _adapt_to_room,
    _adapt_output_cap,
    _adapt_message_field,
    _adapt_parameter,
)
