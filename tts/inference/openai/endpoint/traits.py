"""A record of what one endpoint and model take. The request writer follows it; refusals and detection extend it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from tts.config import OpenAIEngine
from tts.domain.token_price import Price
from tts.domain.value import Value
from tts.inference.openai.endpoint.list_prices import shipped_prices

ServerKind = Literal[
    "openai", "gemini", "anthropic", "openrouter", "vllm", "sglang", "llama_cpp", "ollama", "lm_studio", "other"
]
ToolForm = Literal["native", "template", "text"]
PictureForm = Literal["uuid", "inline"]
SchemaForm = Literal["json_schema", "json_object", "none"]
HOSTED: frozenset[ServerKind] = frozenset({"openai", "gemini", "anthropic", "openrouter"})
_TOOL_FORMS = get_args(ToolForm)
_SCHEMA_FORMS = get_args(SchemaForm)
_PICTURE_FORMS = get_args(PictureForm)
_LISTED_PRICE_SOURCES = ("auto", "openrouter")  # asked first, the shipped table after it
TokenField = Literal["max_tokens", "max_completion_tokens"]


class EndpointTraits(Value):
    """What an endpoint accepts. Each adaptation narrows a field and none widens one, so adaptation ends.

    `dropped` are fields of the body that it refuses, `dropped_message_fields` those of messages.
    """

    kind: ServerKind = "other"
    version: str = Field(default="", description="of the server, where it tells it")
    tools: ToolForm = "native"
    schema_form: SchemaForm = "json_schema"
    token_field: TokenField = "max_tokens"
    pictures: PictureForm = Field(default="inline", description="uuid: once whole, afterwards by name")
    streams: bool = True
    system_role: bool = Field(default=True, description="False: the system text opens the first user message")
    system_alone: bool = Field(
        default=True, description="False: the same in requests that list no tools, where the chat template loses it"
    )
    alternates: bool = Field(default=False, description="True: user and assistant messages take strict turns")
    dropped: frozenset[str] = frozenset()
    dropped_message_fields: frozenset[str] = frozenset()
    context_tokens: Annotated[int, Field(ge=1)] | None = Field(default=None, description="prompt and completion")
    context_proven: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description="tokens of a prompt that was read from its first word; for servers that tell no context",
    )
    max_output_tokens: Annotated[int, Field(ge=1)] | None = None
    max_images: Annotated[int, Field(ge=1)] | None = Field(default=None, description="pictures in one request")
    max_picture_pixels: Annotated[int, Field(ge=1)] | None = None
    price: Price | None = Field(default=None, description="as configured, listed by the endpoint, or shipped")
    slots: Annotated[int, Field(ge=1)] | None = Field(default=None, description="requests served side by side")

    @classmethod
    def from_config(cls, config: OpenAIEngine) -> EndpointTraits:
        """What the configuration says; with `server: auto` the rest is detected."""
        kind: ServerKind = "other" if config.server == "auto" else config.server
        return cls(
            kind=kind,
            tools=config.tools,
            token_field="max_completion_tokens" if kind == "openai" else "max_tokens",
            context_tokens=config.context_tokens,
            max_images=config.max_images,
            price=config.price
            or (None if config.server in _LISTED_PRICE_SOURCES else shipped_prices().price_of(config.model)),
        )

    def keeps_system(self, *, lists_tools: bool) -> bool:
        """Whether the system text of a request arrives as a message of its own."""
        return self.system_role and (self.system_alone or lists_tools)

    @property
    def server(self) -> str:
        """What the server reports about itself. While this is unchanged, earlier refusals are still valid."""
        if self.kind in HOSTED:
            return self.kind
        template = f"{self.tools} {'alone' if self.system_alone else 'joined'}"
        return f"{self.kind} {self.version or '-'} {self.context_tokens or '-'} {self.slots or '-'} {template}"

    def with_known_traits(self, before: EndpointTraits) -> EndpointTraits:
        """These traits with what the server said of itself earlier, in place of asking it again."""
        known: dict[str, Any] = {"kind": before.kind, "version": before.version}
        limits = {name: getattr(before, name) for name in ("context_tokens", "slots") if getattr(self, name) is None}
        listed = {"price": before.price} if before.kind == "openrouter" and self.price is None else {}
        return self.model_copy(update=known | limits | listed)

    def narrow(self, other: EndpointTraits, *, fixed: Collection[str] = ()) -> EndpointTraits:
        """These traits with everything that `other` knows to be refused, but for the fields named in `fixed`."""
        found: dict[str, Any] = {
            "tools": max(self.tools, other.tools, key=_TOOL_FORMS.index),
            "schema_form": max(self.schema_form, other.schema_form, key=_SCHEMA_FORMS.index),
            "pictures": max(self.pictures, other.pictures, key=_PICTURE_FORMS.index),
            "streams": self.streams and other.streams,
            "system_role": self.system_role and other.system_role,
            "alternates": self.alternates or other.alternates,
            "dropped": self.dropped | other.dropped,
            "dropped_message_fields": self.dropped_message_fields | other.dropped_message_fields,
            "token_field": other.token_field,
            "context_proven": max((n for n in (self.context_proven, other.context_proven) if n), default=None),
        }
        for name in ("max_output_tokens", "max_images", "max_picture_pixels"):
            found[name] = min((n for n in (getattr(self, name), getattr(other, name)) if n), default=None)
        return self.model_copy(update={name: value for name, value in found.items() if name not in fixed})

    @property
    def takes_sampling_extensions(self) -> bool:
        """Whether `top_k` and `min_p`, which OpenAI's API lacks, are worth sending: a server may still refuse them."""
        return self.kind not in ("openai", "gemini", "anthropic")
