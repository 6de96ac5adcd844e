"""The audit log: who asked, what may have left this machine for it, what was erased. JSON lines, appended and never
read.

It holds names of keys, hashes of photos, tools and hosts, never pictures, hints, positions or what tools found: it
can be kept longer than the requests it tells of. An erased request leaves one line here that says so.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

import orjson

from deployments.parts import remote_engines
from deployments.runstore import RunMeta
from tts.config import AppArgs
from tts.domain.events import Done, Event, LeftMachine, ToolCalled, ToolResulted
from tts.errors import ConfigError
from tts.toolkit.toolbox import now_rfc3339

_STAYS_HERE = ("offline",)


class AuditLog:
    """An `Observer` that writes. One file a gateway; the lines are whole, also after a crash."""

    def __init__(self, path: Path, args: AppArgs) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: IO[bytes] = os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab", 0)
        except OSError as error:
            raise ConfigError(f"gateway.audit_log cannot be written: {error.strerror}") from error
        self._tools_leave = any(provider not in _STAYS_HERE for provider in args.tools.providers)
        self._engines = remote_engines(args)

    def accepted(self, meta: RunMeta) -> None:
        self._write("accepted", meta, photos=meta.photos)
        for host in self._engines:  # said before it is, so that it is said whatever becomes of the request
            self._write("photo_sent", meta, host=host, photos=meta.photos)

    def saw(self, meta: RunMeta, event: Event) -> None:
        if isinstance(event, ToolCalled) and self._tools_leave:
            self._write("tool_called", meta, tool=event.call.name, rollout=event.rollout_id)
        elif isinstance(event, ToolResulted) and self._tools_leave and not event.result.cached:
            self._write("tool_answered", meta, tool=event.result.name, hosts=_hosts(event), ok=event.result.ok)
        elif isinstance(event, LeftMachine):
            for sent in event.sent:
                self._write("left", meta, sent_at=sent.at, host=sent.host, method=sent.method, bytes=sent.bytes_sent)
            if not event.complete:
                self._write("left_unknown", meta)
        elif isinstance(event, Done):
            self._write("ended", meta, stop_reason=event.stop_reason.value)

    def ended(self, meta: RunMeta, seconds: float) -> None:
        return

    def erased(self, meta: RunMeta) -> None:
        self._write("erased", meta)

    def close(self) -> None:
        self._file.close()

    def _write(self, what: str, meta: RunMeta, **details: Any) -> None:
        line = {"at": now_rfc3339(), "event": what, "request_id": meta.request_id, "key": meta.tenant, **details}
        self._file.write(orjson.dumps(line) + b"\n")


def _hosts(event: ToolResulted) -> list[str]:
    urls = (getattr(fact, "url", None) for fact in event.result.facts)
    return sorted({host for url in urls if url and (host := urlsplit(url).hostname)})
