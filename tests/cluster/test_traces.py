"""One trace a request, across every process, joined to the caller's own."""

import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from geotts_benchmarks.fanout import plain_photo
from geotts_benchmarks.harness import free_port
from tts.config import AppArgs, RoutingConfig, ScriptedEngine, TelemetryConfig

PORT = free_port()
ARGS = AppArgs(
    engine=ScriptedEngine(turns=2, tokens_per_turn=4),
    routing=RoutingConfig(method="cues"),
    telemetry=TelemetryConfig(traces="otlp", endpoint=f"http://127.0.0.1:{PORT}/v1/traces"),
)
CALLER = "4bf92f3577b34da6a3ce929d0e0e4736"
pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def collector():
    """A real OTLP/HTTP collector; `spans` are (service, span)."""
    spans = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                name = {a.key: a.value.string_value for a in resource.resource.attributes}["service.name"]
                spans.extend((name, span) for scope in resource.scope_spans for span in scope.spans)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", PORT), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield spans
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module", autouse=True)
def quick_export():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OTEL_BSP_SCHEDULE_DELAY", "100")
        yield


def test_one_trace_a_request(collector, service):
    headers = {"traceparent": f"00-{CALLER}-00f067aa0ba902b7-01"}
    reply = httpx.post(
        f"{service.url}/locate",
        files={"image": plain_photo(320, 240)},
        data={"depth": "deep"},
        headers=headers,
        timeout=30,
    )
    assert reply.status_code == 200
    wanted = {"request", "route", "locatability", "rollout", "turn", "tool", "broker", "verify", "judge"}
    give_up = time.monotonic() + 10
    while not wanted <= {span.name for _, span in collector} and time.monotonic() < give_up:
        time.sleep(0.1)
    assert wanted <= {span.name for _, span in collector}
    assert {span.trace_id.hex() for _, span in collector} == {CALLER}
    assert {service for service, _ in collector} == {"gateway", "locatability", "rollout", "tools", "verifier"}
    ids = {span.span_id: span.name for _, span in collector}
    parents = {(span.name, ids.get(span.parent_span_id)) for _, span in collector}
    expected = {
        ("request", None),
        ("route", "request"),
        ("rollout", "request"),
        ("turn", "rollout"),
        ("broker", "tool"),
    }
    assert expected <= parents
