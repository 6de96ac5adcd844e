"""Spans and token counts by the conventions for generative AI, as a real OTLP receiver gets them."""

import asyncio
import json
import os
import sys
import threading
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as conventions
from opentelemetry.semconv._incubating.metrics import gen_ai_metrics

from tts import gen_ai

ROOT = Path(__file__).parents[3]
PROGRAM = ROOT / "tests" / "fixtures" / "traced_request.py"
KNOWN = {value for name, value in vars(conventions).items() if name.startswith("GEN_AI_") and isinstance(value, str)}
pytestmark = pytest.mark.slow


@contextmanager
def receiver():
    """An OTLP/HTTP receiver: its address, the spans, and the metrics by name."""
    spans: list[Span] = []
    counts: dict[str, Metric] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path == "/v1/traces":
                for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                    spans.extend(span for scope in resource.scope_spans for span in scope.spans)
            elif self.path == "/v1/metrics":
                for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                    counts.update({one.name: one for scope in resource.scope_metrics for one in scope.metrics})
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", spans, counts
        finally:
            server.shutdown()
            thread.join()


async def trace_request(**settings):
    with receiver() as (url, spans, counts):
        paths = os.pathsep.join([str(ROOT), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")])
        process = await asyncio.create_subprocess_exec(
            sys.executable, PROGRAM, url, json.dumps({"traces": "otlp", **settings}),
            stdout=asyncio.subprocess.PIPE, env={**os.environ, "PYTHONPATH": paths},
        )  # fmt: skip
        out, _ = await asyncio.wait_for(process.communicate(), 120)
        assert process.returncode == 0
    return spans, counts, float(out)


def attributes(span):
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in span.attributes}


async def test_spans_have_the_names_tree_tokens_and_score_of_the_conventions(data_store):
    spans, counts, _ = await trace_request(gen_ai=True)
    by_id = {span.span_id: span for span in spans}
    names = Counter(span.name for span in spans)
    assert names["invoke_agent geotts"] == 2
    assert names["chat scripted"] == 4
    assert names["execute_tool poi_keyword_search"] == 2
    assert not {"rollout", "tool"} & set(names)

    def ancestors(span):
        while span is not None:
            span = by_id.get(span.parent_span_id)
            yield span.name if span is not None else ""

    for span in spans:
        if span.name.startswith(("chat", "execute_tool")):
            assert list(ancestors(span))[:3] == ["turn", "invoke_agent geotts", "request"]
        stated = {name for name in attributes(span) if name.startswith("gen_ai.")}
        assert stated <= KNOWN, stated - KNOWN
    chat = attributes(next(span for span in spans if span.name == "chat scripted"))
    assert (chat["gen_ai.operation.name"], chat["gen_ai.provider.name"]) == ("chat", "scripted")
    assert chat["gen_ai.usage.output_tokens"] > 0
    assert chat["gen_ai.request.model"] == "scripted"
    tool = attributes(next(span for span in spans if span.name.startswith("execute_tool")))
    assert (tool["gen_ai.tool.name"], tool["gen_ai.tool.type"]) == ("poi_keyword_search", "function")
    [score] = [event for span in spans for event in span.events if event.name == "gen_ai.evaluation.result"]
    assert 0 <= attributes(score)["gen_ai.evaluation.score.value"] <= 1
    tokens = counts[gen_ai_metrics.GEN_AI_CLIENT_TOKEN_USAGE].histogram.data_points
    assert {attributes(point)["gen_ai.token.type"] for point in tokens} == {"input", "output"}
    assert sum(point.count for point in tokens) == 8


async def test_spans_have_content_only_when_it_is_asked_for(data_store):
    silent, _, _ = await trace_request(gen_ai=True)
    with_content, _, _ = await trace_request(gen_ai=True, content=True)
    words = b"".join(span.SerializeToString() for span in silent)
    assert b"SECRET HINT" not in words
    assert not {"gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.tool.call.result"} & {
        name for span in silent for name in attributes(span)
    }
    chat = attributes(next(span for span in with_content if span.name == "chat scripted"))
    assert json.loads(chat["gen_ai.output.messages"])[0]["role"] == "assistant"
    tool = attributes(next(span for span in with_content if span.name.startswith("execute_tool")))
    assert "query" in json.loads(tool["gen_ai.tool.call.arguments"])
    assert tool["gen_ai.tool.call.result"]


async def test_spans_without_the_setting_have_no_gen_ai_attributes(data_store):
    spans, counts, _ = await trace_request()
    assert {"request", "rollout", "turn", "tool"} <= {span.name for span in spans}
    assert not any(name.startswith("gen_ai") for span in spans for name in attributes(span))
    assert counts == {}


def test_secrets_in_urls_are_masked_in_content():
    assert "hunter2" not in gen_ai._content([{"text": "https://x.example/?key=hunter2"}])
