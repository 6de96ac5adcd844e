"""A receiver of OTLP over HTTP on loopback: it keeps what arrives as it came, and reads it when somebody asks."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

_TRACES = "/v1/traces"


class OtlpReceiver:
    """`endpoint` is what `telemetry.endpoint` takes."""

    def __init__(self, port: int) -> None:
        self.endpoint = f"http://127.0.0.1:{port}{_TRACES}"
        self._bodies: list[tuple[str, bytes]] = []

    def add(self, path: str, body: bytes) -> None:
        """Keep one message."""
        self._bodies.append((path, body))

    def spans(self) -> list[tuple[str, Span]]:
        """The service and the span of all that has arrived."""
        found = []
        for path, body in list(self._bodies):
            if path != _TRACES:
                continue
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                name = {one.key: one.value.string_value for one in resource.resource.attributes}["service.name"]
                found += [(name, span) for scope in resource.scope_spans for span in scope.spans]
        return found


@contextmanager
def run_receiver(port: int = 0) -> Iterator[OtlpReceiver]:
    """A receiver on 127.0.0.1 until the block ends; on a free port unless one is named."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            receiver.add(self.path, self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    receiver = OtlpReceiver(server.server_port)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
