"""Watches whether the endpoints of the configured engines answer: it asks each every five seconds, in the background.

`/readyz` and the log report a dead endpoint, and the pools of several endpoints in this process send
no new conversation to it (`tts.inference.openai.endpoint.states`). The question is the list of
models, which costs an endpoint nothing. The reply is not parsed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextvars import Context

import httpx

from deployments.config import AppArgs
from deployments.doctor_finding import Finding
from deployments.endpoints.listed_models import key_headers
from deployments.endpoints.roles import Endpoint, endpoints_of, engine_uses
from tts.aio import cancel_and_wait, spawn
from tts.config import OpenAIEngine
from tts.inference.openai.endpoint.orders import Orders
from tts.inference.openai.endpoint.states import STATES, EndpointStates
from tts.net.url_secrets import bare_url

EVERY_S = 5.0
_PATIENCE_S = 3.0
_OK = "ok"
_DRAINED_TEXT = " is being drained"
_DRAINING_TEXT = f"{_DRAINED_TEXT}: it gets no new conversations"
_DRAINED_BUT_USED_TEXT = f"{_DRAINED_TEXT}, and is used all the same, because no other endpoint of its engine is in use"
_log = logging.getLogger("geotts.gateway")


class EndpointWatch:
    """Call `start` if the event loop runs for long. Without it, every check asks the endpoints itself."""

    def __init__(
        self,
        args: AppArgs,
        shared: EndpointStates = STATES,
        spread: Callable[[Orders], Awaitable[object]] | None = None,
    ) -> None:
        self._endpoint_states = shared
        self._tell_all_replicas = spread
        self._endpoints = {endpoint.role: endpoint for endpoint in endpoints_of(args)}
        self._all_remote = all(isinstance(use.engine, OpenAIEngine) for use in engine_uses(args))
        self._replies: dict[str, str] = {}  # `ok` or what is wrong, by role, whoever drains it
        self._logged_states: dict[str, str] = {}
        self._first_replies = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Ask now and from now on. Nothing when there is no endpoint."""
        if self._endpoints and self._task is None:
            self._task = spawn(self._watch(), name="watch endpoints", context=Context())

    async def aclose(self) -> None:
        """Stop asking."""
        if self._task is not None:
            await cancel_and_wait(self._task)
            self._task = None

    @property
    def addresses(self) -> tuple[str, ...]:
        """Of every endpoint, keys in them included."""
        return tuple(endpoint.url for endpoint in self._endpoints.values())

    async def describe_endpoints(self) -> list[dict[str, str]]:
        """For operators: `role`, `url` without keys, `state`, and who drains it: `operator`, `file` or nobody."""
        await self._wait_for_replies()
        found: list[dict[str, str]] = []
        for role, endpoint in self._endpoints.items():
            url = endpoint.url
            by = (
                "file"
                if self._endpoint_states.is_drained_by_file(url)
                else "operator"
                if self._endpoint_states.is_draining(url)
                else ""
            )
            found.append({"role": role, "url": bare_url(url), "state": self._replies[role], "draining": by})
        return found

    async def states(self) -> dict[str, str]:
        """`ok`, what is wrong, or that it is being drained, for every endpoint; waits for the first replies."""
        await self._wait_for_replies()
        return {role: self._state(role) for role in self._replies}

    async def _wait_for_replies(self) -> None:
        if not self._endpoints:  # a client alone costs 40 ms: it reads the certificates
            return
        if self._task is None:
            await self._ask_all()
        else:
            await self._first_replies.wait()

    def _state(self, role: str) -> str:
        endpoint = self._endpoints[role]
        if self._replies[role] != _OK or not self._endpoint_states.is_draining(endpoint.url):
            return self._replies[role]
        return f"{bare_url(endpoint.url)}{_DRAINING_TEXT if self._has_undrained(endpoint) else _DRAINED_BUT_USED_TEXT}"

    def _has_undrained(self, endpoint: Endpoint) -> bool:
        return not all(map(self._endpoint_states.is_draining, endpoint.addresses))

    def none_answers(self) -> bool:
        """Whether no configured engine could work: all are endpoints, and none that is in use answered when it was
        last asked. Where all endpoints of an engine are drained, all are in use.
        """
        in_use = [
            role
            for role, endpoint in self._endpoints.items()
            if not self._endpoint_states.is_draining(endpoint.url) or not self._has_undrained(endpoint)
        ]
        return self._all_remote and bool(self._replies) and all(self._replies[role] != _OK for role in in_use)

    async def _watch(self) -> None:
        while True:
            await self._ask_all()
            if self._tell_all_replicas is not None and len(self._endpoints) > 1:
                await self._tell_all_replicas(self._endpoint_states.orders)
            await asyncio.sleep(EVERY_S)

    async def _ask_all(self) -> None:
        async with httpx.AsyncClient(timeout=_PATIENCE_S, trust_env=False) as client:
            asked = [self._ask(client, endpoint.engine) for endpoint in self._endpoints.values()]
            self._replies = dict(zip(self._endpoints, await asyncio.gather(*asked), strict=True))
        self._log_changes()
        self._first_replies.set()

    def _log_changes(self) -> None:
        for role, endpoint in self._endpoints.items():
            state = self._state(role)
            if state == self._logged_states.get(role, _OK):
                continue
            self._logged_states[role] = state
            if state == _OK:
                _log.info("%s: answers again, or is no longer drained", role)
            elif _DRAINED_TEXT in state:
                _log.warning("%s: %s", role, state)
            else:
                _log.warning("%s: %s; meanwhile %s", role, state, endpoint.cost)

    async def _ask(self, client: httpx.AsyncClient, engine: OpenAIEngine) -> str:
        where = bare_url(engine.base_url)
        try:
            url = f"{engine.base_url.rstrip('/')}/models"
            async with client.stream("GET", url, headers=key_headers(engine)) as reply:
                status = reply.status_code
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            self._endpoint_states.note_check(engine.base_url, dead=True)
            return f"{where} does not answer: {type(error).__name__}"
        self._endpoint_states.note_check(engine.base_url, dead=status >= httpx.codes.INTERNAL_SERVER_ERROR)
        if status in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
            return f"{where} answered {status}: the key is taken from ${engine.api_key_env}"
        return f"{where} answered {status}" if status >= httpx.codes.INTERNAL_SERVER_ERROR else _OK


def drained_findings(url: str) -> Iterator[Finding]:
    """Endpoints that a service at this address drains; nothing where none of ours runs."""
    try:
        checks = httpx.get(f"{url}/readyz", timeout=_PATIENCE_S, trust_env=False).json()["checks"]
        drained = [(role, state) for role, state in checks.items() if _DRAINED_TEXT in str(state)]
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, LookupError, TypeError, AttributeError):
        return
    for role, state in drained:
        cost = "none" if state.endswith(_DRAINED_BUT_USED_TEXT) else "the other endpoints do its work"
        yield Finding(f"endpoint of {role} of the service", "off", state, cost, "geotts endpoints undrain URL")
