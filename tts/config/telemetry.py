"""Traces and logs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tts.domain.value import Value


class TelemetryConfig(Value):
    """Off unless an exporter is named. W3C trace context is passed on either way."""

    traces: Literal["off", "otlp", "console"] = "off"
    endpoint: str | None = Field(default=None, description="OTLP/HTTP endpoint; OTEL_* variables are honoured too")
    gen_ai: bool = Field(
        default=False, description="name spans by OpenTelemetry's conventions for generative AI, and count tokens"
    )
    content: bool = Field(
        default=False, description="with gen_ai: also what models and tools say; never pictures. It may be private"
    )
    sample_ratio: Annotated[float, Field(ge=0, le=1)] = 1.0
    logs: Literal["text", "json"] = Field(default="text", description="json: one object a line on stderr, with ids")
