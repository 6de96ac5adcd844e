"""One trace a request, and none for what only looks at the service."""

import httpx
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from support.service import PHOTO, an_app, serving, talking_to

from tts import telemetry

CALLER = "4bf92f3577b34da6a3ce929d0e0e4736"
CALLERS_SPAN = "00f067aa0ba902b7"
PARENT = f"00-{CALLER}-{CALLERS_SPAN}-01"
MESSAGE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
PROTOCOL = {
    "Accept": "application/json, text/event-stream",
    "MCP-Method": "tools/call",
    "MCP-Name": "locate_photo",
    "MCP-Protocol-Version": "2026-07-28",
}


@pytest.fixture
def exported(monkeypatch):
    """Reads the spans that ended, in a process that traces."""
    provider, exporter = TracerProvider(), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    monkeypatch.setattr(telemetry, "_tracer", provider.get_tracer("geotts"))
    return exporter.get_finished_spans


async def locate_photo(**headers):
    async with talking_to(an_app()) as http:
        reply = await http.post("/locate", files={"image": PHOTO}, data={"n_parallel": "2"}, headers=headers)
    assert reply.status_code == 200


async def test_a_request_is_one_trace_that_begins_with_the_request(data_store, exported):
    await locate_photo()
    assert {span.context.trace_id for span in exported()} == {exported()[0].context.trace_id}
    assert [span.name for span in exported() if span.parent is None] == ["request"]
    assert {"rollout", "turn", "tool"} <= {span.name for span in exported()}


async def test_a_request_joins_its_callers_trace(data_store, exported):
    await locate_photo(traceparent=PARENT, tracestate="vendor=1")
    assert {span.context.trace_state.to_header() for span in exported()} == {"vendor=1"}
    assert {f"{span.context.trace_id:032x}" for span in exported()} == {CALLER}
    [root] = [span for span in exported() if span.name == "request"]
    assert f"{root.parent.span_id:016x}" == CALLERS_SPAN


@pytest.mark.parametrize(
    ("meta", "headers", "joins"),
    [
        ({"traceparent": PARENT, "tracestate": "vendor=1"}, {}, True),
        ({}, {"traceparent": PARENT, "tracestate": "vendor=1"}, True),
        ({"traceparent": PARENT, "tracestate": "vendor=1"}, {"traceparent": PARENT.replace("4b", "5b")}, True),
        ({"traceparent": 7, "tracestate": []}, {"traceparent": "00-0-0-00"}, False),
    ],
)
async def test_a_call_over_mcp_joins_the_trace_that_its_message_names(data_store, exported, meta, headers, joins):
    async with serving(an_app()) as (url, _), httpx.AsyncClient(base_url=url, timeout=30) as http:
        ticket = (await http.post("/uploads", content=PHOTO)).json()["upload_id"]
        params = {
            "name": "locate_photo",
            "arguments": {"upload": ticket, "n_parallel": 1},
            "_meta": {**MESSAGE, **meta},
        }
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        reply = await http.post("/mcp", json=message, headers={**PROTOCOL, **headers})
        assert reply.status_code == 200
        assert '"request_id":"loc_' in reply.text.replace(" ", "")
    [root] = [span for span in exported() if span.name == "request"]
    assert {span.context.trace_id for span in exported()} == {root.context.trace_id}
    assert (f"{root.context.trace_id:032x}" == CALLER) is joins
    if joins:
        assert f"{root.parent.span_id:016x}" == CALLERS_SPAN
        assert {span.context.trace_state.to_header() for span in exported()} == {"vendor=1"}
    else:
        assert root.parent is None


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
async def test_a_probe_or_a_scrape_is_no_trace(data_store, exported, path):
    async with talking_to(an_app()) as http:
        assert (await http.get(path)).status_code == 200
    assert exported() == ()
