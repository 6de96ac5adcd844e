"""`telemetry.logs: json`: one object a line, where a collector finds it, with the ids of the request it is about."""

import io
import json
import logging
import sys

import pytest
from opentelemetry.sdk.trace import TracerProvider

from tts.logs import JsonFormatter, configure_logs
from tts.request_traces import RequestTraces

OURS = ("geotts", "tts", "tools", "deployments")


@pytest.fixture(autouse=True)
def loggers_as_before():
    before = [(logger, logger.handlers, logger.level, logger.propagate) for logger in map(logging.getLogger, OURS)]
    yield
    for logger, handlers, level, propagate in before:
        logger.handlers = handlers
        logger.propagate = propagate
        logger.setLevel(level)


def line_about(request_id, formatter):
    record = logging.LogRecord("geotts.access", logging.INFO, __file__, 1, "POST /locate", (), None)
    record.request_id = request_id
    return json.loads(formatter.format(record))


def test_log_lines_go_to_the_stderr_of_the_process_not_to_the_one_of_ray_serve(monkeypatch):
    own, serves = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "__stderr__", own)
    monkeypatch.setattr(sys, "stderr", serves)
    configure_logs("json", "gateway")
    logging.getLogger("geotts.access").info("GET %s", "/x", extra={"request_id": "loc_1"})
    [line] = map(json.loads, own.getvalue().splitlines())
    assert (line["message"], line["request_id"]) == ("GET /x", "loc_1")
    assert serves.getvalue() == ""


def test_text_logs_leave_the_handlers_as_they_are():
    before = logging.getLogger("geotts").handlers
    configure_logs("text", "gateway")
    assert logging.getLogger("geotts").handlers is before


def test_a_line_about_a_request_has_its_trace_also_after_its_work():
    provider, traces = TracerProvider(), RequestTraces()
    provider.add_span_processor(traces)
    formatter = JsonFormatter("gateway", traces.trace_of)
    with provider.get_tracer("t").start_as_current_span("request", attributes={"request_id": "loc_1"}) as span:
        within = line_about("loc_1", formatter)
    after = line_about("loc_1", formatter)
    assert within["trace_id"] == after["trace_id"] == f"{span.get_span_context().trace_id:032x}"
    assert "span_id" in within
    assert "span_id" not in after
    assert "trace_id" not in line_about("loc_2", formatter)


def test_only_the_traces_of_the_last_requests_are_remembered():
    provider, traces = TracerProvider(), RequestTraces()
    provider.add_span_processor(traces)
    tracer = provider.get_tracer("t")
    for i in range(5000):
        tracer.start_span("request", attributes={"request_id": f"loc_{i}"})
    assert traces.trace_of("loc_0") is None
    assert traces.trace_of("loc_4999") is not None
