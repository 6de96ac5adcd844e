"""Webhooks for ended requests, as Standard Webhooks (https://www.standardwebhooks.com, 1.0.0) describes them.

A message says that a request has ended and how, and nothing about the photo or the place: the receiver asks for those
with its key. It goes through the safe client to hosts that the operator allows, and follows no redirect.

The run store keeps a reminder for each message that was not delivered. It is put off while a gateway works on it, so
that another gateway, or the same one after a restart, delivers the remaining messages if a gateway ends.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
import logging
import os
import time
from collections.abc import Awaitable, Callable
from contextvars import Context
from functools import partial
from urllib.parse import urlsplit

import orjson

from deployments.config import WebhookConfig
from deployments.gateway.logged_request import logged_entries
from deployments.gateway.periodic_work import repeat_every
from deployments.observability.request_observer import RequestObserver
from deployments.runstore import RunMeta, RunStore
from deployments.wiring.brokers import Brokers
from tts.aio import cancel_and_wait, spawn
from tts.domain.answer import StopReason
from tts.domain.events import Event
from tts.egress.records import EGRESS
from tts.egress.request_egress import write_to_log
from tts.errors import ConfigError, FetchError, GeoTTSError, RequestError
from tts.net.fetch_limits import FetchLimits
from tts.net.http_client import SafeHttpClient
from tts.toolkit.toolbox import now_rfc3339

HEADER = "webhook-url"
_SECRET_VARIABLE = "GEOTTS_WEBHOOK_SECRET"
_SECRET_PREFIX = "whsec_"
_HTTP_GONE = 410
_CHECK_INTERVAL_S = 2.0
_ATTEMPT_MARGIN_S = 30.0
_log = logging.getLogger("geotts.webhooks")


class WebhookRefused(RequestError):
    """Nothing is reported to this address."""

    code = "webhook-refused"
    status = 422


class WebhookSender(RequestObserver):
    """An observer of requests. It also delivers messages that earlier gateways of its run store did not deliver."""

    def __init__(
        self,
        config: WebhookConfig,
        store: RunStore,
        brokers: Brokers | None = None,
        *,
        end_orphan: Callable[[str], Awaitable[None]] | None = None,
    ) -> None:
        """`end_orphan` ends a request whose gateway was lost. Raises ConfigError when there are hosts and no secret."""
        self._config = config
        self._brokers = brokers
        self._store = store
        self._end_orphan = end_orphan
        self._duty: asyncio.Task[None] | None = None
        self._secret = _read_secret() if config.hosts else b""
        self._end_states: dict[str, str] = {}
        self._sending_tasks: dict[str, asyncio.Task[None]] = {}
        self._client: SafeHttpClient | None = None

    def check_url(self, url: str | None) -> str:
        """The address that a caller names, empty for none. Raises WebhookRefused for one that is not allowed."""
        if not url:
            return ""
        try:
            parts = urlsplit(url)
            host, port = (parts.hostname or "").lower(), parts.port
        except ValueError:
            raise WebhookRefused("Webhook-Url is not a URL that can be read") from None
        named = f"{host}:{port}" in self._config.hosts
        if not (named or (parts.scheme == "https" and port in (None, 443) and host in self._config.hosts)):
            raise WebhookRefused("Webhook-Url: this host is not allowed; an operator adds it to gateway.webhooks.hosts")
        self._fetch_limits().check(url)
        return url

    def start_duties(self) -> None:
        """Look for messages that other gateways did not deliver, until `aclose`."""
        if self._config.hosts and self._duty is None:
            duty = repeat_every(_CHECK_INTERVAL_S, self._deliver_pending, _log, "pending webhooks cannot be delivered")
            self._duty = spawn(duty, name="webhooks that are left", context=Context())

    def on_accepted(self, meta: RunMeta) -> None:
        """Store a reminder in the run store, so that the end is reported even if this gateway is lost."""
        if meta.webhook:
            self._run_after_previous(
                meta.request_id, partial(self._set_reminder, meta.request_id, self._attempt_timeout_s())
            )
            self.start_duties()

    def on_event(self, meta: RunMeta, event: Event) -> None:
        """Remember how the request ends, and report it."""
        if not meta.webhook:
            return
        if event.type in ("answer", "error"):
            self._end_states[meta.request_id] = "done" if event.type == "answer" else "failed"
        elif event.type == "done":
            state = self._end_states.pop(meta.request_id, "cancelled")
            self._run_after_previous(meta.request_id, partial(self._deliver, meta, state, event.stop_reason.value))

    def on_erased(self, meta: RunMeta) -> None:
        """Send no message for an erased request."""
        if (task := self._sending_tasks.get(meta.request_id)) is not None:
            task.cancel()

    async def aclose(self) -> None:
        """Stop sending. What was not delivered is due at once for another gateway, or for this one after a restart."""
        if self._duty is not None:
            await cancel_and_wait(self._duty)
        for request_id, task in list(self._sending_tasks.items()):
            if not task.done():
                await cancel_and_wait(task)
                await self._set_reminder(request_id, 0.0)
        if self._client is not None:
            await self._client.aclose()

    async def _deliver(self, meta: RunMeta, state: str, stop_reason: str) -> None:
        data = {"request_id": meta.request_id, "status": state, "stop_reason": stop_reason}
        body = orjson.dumps({"type": "request.ended", "timestamp": now_rfc3339(), "data": data})
        message_id = f"msg_{meta.request_id.removeprefix('loc_')}"
        for pause_s in (0.0, *self._config.retry_after_s):
            await self._set_reminder(meta.request_id, pause_s + self._attempt_timeout_s())
            await asyncio.sleep(pause_s)
            if await self._deliver_once(meta, message_id, body):
                break
        else:
            _log.warning("a webhook was not delivered", extra={"request_id": meta.request_id})
        await self._set_reminder(meta.request_id, None)

    async def _deliver_pending(self) -> None:
        for request_id in await self._store.reminders(again_s=self._attempt_timeout_s()):
            await self._deliver_logged_end(request_id)

    async def _deliver_logged_end(self, request_id: str) -> None:
        """Report the end that is in the log. One that has not ended stays due: its gateway works, or is replaced."""
        meta = await self._store.meta(request_id)
        if meta is None or not meta.webhook:
            await self._store.set_reminder(request_id, None)
        elif request_id in self._sending_tasks:
            return
        elif await self._store.is_open(request_id):
            if self._end_orphan is not None:
                await self._end_orphan(request_id)
        else:
            self._run_after_previous(request_id, partial(self._deliver, meta, *await self._read_end(request_id)))

    async def _read_end(self, request_id: str) -> tuple[str, str]:
        """State and stop reason of a request whose log is closed."""
        state, stop_reason = "cancelled", StopReason.FAILED.value
        for entry in await logged_entries(self._store, request_id):
            if entry.kind in ("answer", "error"):
                state = "done" if entry.kind == "answer" else "failed"
            elif entry.kind == "done":
                stop_reason = str(orjson.loads(entry.payload)["stop_reason"])
        return state, stop_reason

    def _run_after_previous(self, request_id: str, work: Callable[[], Awaitable[None]]) -> None:
        """Do it after what is under way for the request, if anything is."""
        previous = self._sending_tasks.get(request_id)

        async def work_after_previous() -> None:
            if previous is not None:
                await asyncio.wait([previous])
            await work()

        task = spawn(work_after_previous(), name=f"webhook {request_id}", context=Context())
        self._sending_tasks[request_id] = task
        task.add_done_callback(
            lambda _: self._sending_tasks.get(request_id) is task and self._sending_tasks.pop(request_id)
        )

    async def _set_reminder(self, request_id: str, after_s: float | None) -> None:
        try:
            await self._store.set_reminder(request_id, after_s)
        except GeoTTSError as error:
            _log.warning("a webhook is lost if this gateway ends: %s", error.detail, extra={"request_id": request_id})

    def _attempt_timeout_s(self) -> float:
        """The time in which an attempt ends, with something to spare."""
        return _ATTEMPT_MARGIN_S + 2 * self._config.timeout_s

    async def _deliver_once(self, meta: RunMeta, message_id: str, body: bytes) -> bool:
        """Whether the receiver has it, or wants none."""
        stamp = str(int(time.time()))
        headers = {
            "Content-Type": "application/json",
            "webhook-id": message_id,
            "webhook-timestamp": stamp,
            "webhook-signature": signature(self._secret, message_id, stamp, body),
        }
        self._client = self._client or SafeHttpClient(self._fetch_limits(), record_query=False)
        try:
            reply = await self._client.fetch(
                meta.webhook, method="POST", headers=headers, content=body, any_status=True,
                request_id=meta.request_id,
            )  # fmt: skip
        except FetchError as error:
            _log.info("a webhook failed: %s", error.detail, extra={"request_id": meta.request_id})
            return False
        finally:
            await write_to_log(self._brokers, EGRESS.take(meta.request_id))
        return reply.status // 100 == 2 or reply.status == _HTTP_GONE

    def _fetch_limits(self) -> FetchLimits:
        private = frozenset(host for host in self._config.hosts if ":" in host)
        return FetchLimits(
            ports=frozenset({443}), allow_hosts=private, max_redirects=0, max_bytes=64 * 1024,
            timeout_s=self._config.timeout_s,
        )  # fmt: skip


def signature(secret: bytes, message_id: str, stamp: str, body: bytes) -> str:
    """`v1,` and the HMAC-SHA-256 of id, time and body, in base64."""
    signed = b".".join((message_id.encode(), stamp.encode(), body))
    return "v1," + base64.b64encode(hmac.new(secret, signed, hashlib.sha256).digest()).decode()


def _read_secret() -> bytes:
    try:
        secret = base64.b64decode(os.environ.get(_SECRET_VARIABLE, "").removeprefix(_SECRET_PREFIX), validate=True)
    except binascii.Error as error:
        raise ConfigError(f"{_SECRET_VARIABLE} is not base64 (after {_SECRET_PREFIX})") from error
    if len(secret) < 24:
        raise ConfigError(
            f"gateway.webhooks needs a secret of 24 bytes or more in {_SECRET_VARIABLE}: {_SECRET_PREFIX} and base64"
        )
    return secret
