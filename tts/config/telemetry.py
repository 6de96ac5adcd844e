"""Traces and logs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tts.domain.value import Value


class TelemetryConfig(Value):
    """Off unless an exporter is named. W3C trace context is passed on either way."""

    traces: Literal["off", "otlp", "console"] = Field(
        default="off", description="where traces are sent. off: nowhere; otlp: to `endpoint`; console: to stdout"
    )
    endpoint: str | None = Field(
        default=None, description="URL of an OTLP/HTTP endpoint for traces. Default: that of the OTEL_* variables"
    )
    gen_ai: bool = Field(
        default=False,
        description="whether spans have the names of OpenTelemetry's conventions for generative AI, and tokens are "
        "counted",
    )
    content: bool = Field(
        default=False,
        description="whether spans also contain what models and tools say, which may be private; needs gen_ai. "
        "Pictures are never included",
    )
    sample_ratio: Annotated[float, Field(ge=0, le=1)] = Field(
        default=1.0, description="share of requests that are traced, 0 to 1"
    )
    logs: Literal["text", "json"] = Field(
        default="text",
        description="format of the logs. text: lines for people; json: one JSON object a line on stderr, with the ids "
        "of request and trace",
    )
