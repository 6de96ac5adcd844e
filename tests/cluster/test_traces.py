"""One trace a request, across every process, joined to the caller's own."""

import time

import httpx
import pytest
from support.otlp_receiver import run_receiver
from support.plain_photo import plain_photo
from support.ports import free_port

from deployments.config import AppArgs
from tts.config import RoutingConfig, ScriptedEngine, TelemetryConfig

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
    """A real OTLP/HTTP collector; `spans()` are (service, span)."""
    with run_receiver(PORT) as receiver:
        yield receiver


@pytest.fixture(scope="module", autouse=True)
def quick_export():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OTEL_BSP_SCHEDULE_DELAY", "100")
        yield


def test_a_request_is_one_trace_across_all_deployments(collector, service):
    headers = {"traceparent": f"00-{CALLER}-00f067aa0ba902b7-01", "tracestate": "vendor=1"}
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
    while not wanted <= {span.name for _, span in collector.spans()} and time.monotonic() < give_up:
        time.sleep(0.1)
    assert wanted <= {span.name for _, span in collector.spans()}
    assert {(span.trace_id.hex(), span.trace_state) for _, span in collector.spans()} == {(CALLER, "vendor=1")}
    assert {service for service, _ in collector.spans()} == {"gateway", "locatability", "rollout", "tools", "verifier"}
    ids = {span.span_id: span.name for _, span in collector.spans()}
    parents = {(span.name, ids.get(span.parent_span_id)) for _, span in collector.spans()}
    expected = {
        ("request", None),
        ("route", "request"),
        ("rollout", "request"),
        ("turn", "rollout"),
        ("broker", "tool"),
    }
    assert expected <= parents
