"""The audit log: the caller of a request, its egress, and erasures. JSON lines; the service appends to it and never
reads it.

It holds names of keys, hashes of photos, tools and hosts, never pictures, hints, positions or what tools found: it
can be kept longer than the requests. The erasure of a request adds a line.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

import orjson

from deployments.config import AppArgs
from deployments.observability.request_observer import RequestObserver
from deployments.runstore import RunMeta
from deployments.wiring.parts import remote_engines
from tts.domain.events import Done, Event, LeftMachine, ToolCalled, ToolResulted
from tts.errors import ConfigError, GeoTTSError
from tts.private_files import make_private
from tts.toolkit.toolbox import now_rfc3339

_log = logging.getLogger("geotts.audit")
_LOCAL_PROVIDERS = ("offline",)


class AuditUnavailable(GeoTTSError):
    """Nothing may be done of which no record can be kept."""

    code = "audit-unavailable"
    status = 503


class AuditLog(RequestObserver):
    """A `RequestObserver` that writes. One file a gateway; the lines are whole, also after a crash. While it cannot
    write, no request is accepted; those at work go on.
    """

    def __init__(self, path: Path, args: AppArgs) -> None:
        try:
            make_private(path)
            self._file: IO[bytes] = path.open("ab", 0)
        except OSError as error:
            raise ConfigError(f"gateway.audit_log cannot be written: {error.strerror}") from error
        self._tools_may_send = any(provider not in _LOCAL_PROVIDERS for provider in args.tools.providers)
        self._engines = remote_engines(args)

    def on_accepted(self, meta: RunMeta) -> None:
        """Raises AuditUnavailable."""
        try:
            self._write("accepted", meta, photos=meta.photos)
            for host in self._engines:  # said before it is, so that it is said whatever becomes of the request
                self._write("photo_sent", meta, host=host, photos=meta.photos)
        except OSError as error:
            raise AuditUnavailable(f"the audit log cannot be written: {error.strerror}") from error

    def on_event(self, meta: RunMeta, event: Event) -> None:
        """Write lines for tool calls that may leave the machine, for what left it, and for the end."""
        if isinstance(event, ToolCalled) and self._tools_may_send:
            who = {"asker": "verifier"} if event.asker == "verifier" else {"rollout": event.rollout_id}
            self._write_if_possible("tool_called", meta, tool=event.call.name, **who)
        elif isinstance(event, ToolResulted) and self._tools_may_send and not event.result.cached:
            self._write_if_possible(
                "tool_answered", meta, tool=event.result.name, hosts=_hosts_of_facts(event), ok=event.result.ok
            )
        elif isinstance(event, LeftMachine):
            for sent in event.sent:
                self._write_if_possible(
                    "left", meta, sent_at=sent.at, host=sent.host, method=sent.method, bytes=sent.bytes_sent
                )
            if not event.complete:
                self._write_if_possible("left_unknown", meta)
        elif isinstance(event, Done):
            self._write_if_possible("ended", meta, stop_reason=event.stop_reason.value)

    def on_erased(self, meta: RunMeta) -> None:
        """Write the line that stays of an erased request."""
        self._write_if_possible("erased", meta)

    def close(self) -> None:
        """Close the file; nothing may be written afterwards."""
        self._file.close()

    def _write_if_possible(self, what: str, meta: RunMeta, **details: Any) -> None:
        try:
            self._write(what, meta, **details)
        except OSError as error:
            _log.error("a line of the audit log is missing (%s): %s", what, error.strerror)

    def _write(self, what: str, meta: RunMeta, **details: Any) -> None:
        line = {"at": now_rfc3339(), "event": what, "request_id": meta.request_id, "key": meta.tenant, **details}
        self._file.write(orjson.dumps(line) + b"\n")


def _hosts_of_facts(event: ToolResulted) -> list[str]:
    urls = (getattr(fact, "url", None) for fact in event.result.facts)
    return sorted({host for url in urls if url and (host := urlsplit(url).hostname)})
