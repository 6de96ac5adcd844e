"""Log lines for machines: one JSON object each, with the ids that join it to its request and its trace."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Literal

import orjson
from opentelemetry import trace

_OWN_LOGGERS = ("geotts", "tts", "tools", "deployments")
_FIELDS = ("request_id", "route", "status", "seconds", "bytes_out", "tenant")

TraceOf = Callable[[str], str | None]  # the trace of a request, by the request's id


class JsonFormatter(logging.Formatter):
    """`at, level, logger, service, message`, what `extra` says of `_FIELDS`, and the trace: the one that is running, or
    that of the request the line is about.
    """

    def __init__(self, service: str, trace_of: TraceOf = lambda _: None) -> None:
        super().__init__()
        self._service = service
        self._trace_of = trace_of

    def format(self, record: logging.LogRecord) -> str:
        """One line of JSON without a line break; a traceback goes into `exception`."""
        line: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "service": self._service,
            "message": record.getMessage(),
        }
        line |= {name: value for name in _FIELDS if (value := getattr(record, name, None)) not in (None, "")}
        current = trace.get_current_span().get_span_context()
        if current.is_valid:
            line |= {"trace_id": f"{current.trace_id:032x}", "span_id": f"{current.span_id:016x}"}
        elif (trace_id := self._trace_of(getattr(record, "request_id", ""))) is not None:
            line["trace_id"] = trace_id
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return orjson.dumps(line, default=str).decode()


def configure_logs(form: Literal["text", "json"], service: str, trace_of: TraceOf = lambda _: None) -> None:
    """With `json`, what this project logs at level info and above goes to stderr as JSON; text is left as it is.

    That is the process's own stderr: Serve puts a logger of its own in the place of `sys.stderr`, which would write
    each line as the message of another, into a file that it fills in blocks.
    """
    if form == "text":
        return
    handler = logging.StreamHandler(sys.__stderr__)
    handler.setFormatter(JsonFormatter(service, trace_of))
    for name in _OWN_LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(logging.INFO)
        logger.propagate = False
