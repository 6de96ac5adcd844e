"""Spans, and how a trace crosses processes. Off unless configured; a span then costs a dictionary look-up.

One trace a request: request → route, rollout → turn → model call and tool call, verifier. Its W3C trace
context travels in `RequestContext`, so every process joins the trace it was called from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

from opentelemetry import context as otel_context
from opentelemetry import metrics, trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter, SpanExporter
from opentelemetry.sdk.trace.sampling import ParentBasedTraceIdRatio
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.types import AttributeValue

from tts.config import TelemetryConfig
from tts.domain.trace_context import TraceContext, trace_context
from tts.logs import configure_logs
from tts.request_traces import RequestTraces

_W3C = TraceContextTextMapPropagator()
_tracer = trace.get_tracer("geotts")
_TRACES_PATH = "/v1/traces"
_METRICS_PATH = "/v1/metrics"


@dataclass(slots=True)
class GenAiSettings:
    """Whether spans have the names of generative AI, and whether they tell what was said."""

    on: bool = False
    content: bool = False


GEN_AI = GenAiSettings()  # of this process; `configure_telemetry` sets it
_NO_SPAN = nullcontext(trace.INVALID_SPAN)


def configure_telemetry(config: TelemetryConfig, service: str, exporter: SpanExporter | None = None) -> None:
    """Set up logs, and install `exporter`, or else the one that the configuration names, once a process."""
    traces = RequestTraces()
    configure_logs(config.logs, service, traces.trace_of)
    if config.traces == "off" and exporter is None:
        return
    provider = TracerProvider(
        resource=Resource.create({"service.name": service, "service.namespace": "geotts"}),
        sampler=ParentBasedTraceIdRatio(config.sample_ratio),
    )
    provider.add_span_processor(traces)
    provider.add_span_processor(BatchSpanProcessor(exporter or _exporter(config)))
    trace.set_tracer_provider(provider)
    GEN_AI.on = config.gen_ai
    GEN_AI.content = config.gen_ai and config.content
    if config.gen_ai and config.traces == "otlp":
        _export_metrics(config, provider.resource)


def _export_metrics(config: TelemetryConfig, resource: Resource) -> None:
    """Token counts go to the endpoint of the traces, to its path for metrics."""
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter  # noqa: PLC0415  slow, too
    from opentelemetry.sdk.metrics import MeterProvider  # noqa: PLC0415  as above
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader  # noqa: PLC0415  as above

    endpoint = config.endpoint and config.endpoint.replace(_TRACES_PATH, _METRICS_PATH)
    exporter = OTLPMetricExporter(endpoint=endpoint) if endpoint else OTLPMetricExporter()
    metrics.set_meter_provider(MeterProvider([PeriodicExportingMetricReader(exporter)], resource=resource))


def _exporter(config: TelemetryConfig) -> SpanExporter:
    if config.traces == "console":
        return ConsoleSpanExporter()
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415  150 ms

    return OTLPSpanExporter(endpoint=config.endpoint) if config.endpoint else OTLPSpanExporter()


def tracer() -> trace.Tracer:
    """The tracer of the project."""
    return _tracer


def span(
    name: str, parent: TraceContext | None = None, **attributes: AttributeValue
) -> AbstractContextManager[trace.Span]:
    """A span around a block; `parent` is where it was asked for, in another process."""
    if parent is None and isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return _NO_SPAN
    return _span(name, parent, attributes)


@contextmanager
def _span(name: str, parent: TraceContext | None, attributes: Mapping[str, AttributeValue]) -> Iterator[trace.Span]:
    token = None
    if parent is not None:
        token = otel_context.attach(_W3C.extract(parent.headers()))
    try:
        with _tracer.start_as_current_span(name, attributes=attributes) as current:
            yield current
    finally:
        if token is not None:
            otel_context.detach(token)


def current_trace() -> TraceContext | None:
    """The current span, to be sent along; None when nothing is traced."""
    carrier: dict[str, str] = {}
    _W3C.inject(carrier)
    return trace_context(carrier.get("traceparent"), carrier.get("tracestate"))
