"""Watches whether the endpoints of the configured engines answer: it asks each every five seconds, in the background.

`/readyz` and the log report a dead endpoint, and the pools of several endpoints in this process send
no new conversation to it (`tts.inference.openai.endpoint.states`). The question is the list of
models, which costs an endpoint nothing. The reply is not parsed.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Iterator
from contextvars import Context

import httpx

from deployments.doctor_finding import Finding
from tts.aio import cancel_and_wait, spawn
from tts.config import AppArgs, Engine, OpenAIEngine
from tts.inference.openai.endpoint.orders import Orders
from tts.inference.openai.endpoint.states import STATES, EndpointStates
from tts.net.url_secrets import bare_url

EVERY_S = 5.0
_PATIENCE_S = 3.0
_OK = "ok"
_DRAINING = "is being drained: it gets no new conversations"
_log = logging.getLogger("geotts.gateway")


def engines_of(args: AppArgs) -> dict[str, Engine]:
    """The engines that a configuration names, by what each is for."""
    verifier = args.verifier
    consistency = verifier.consistency
    found = {
        **({f"engine {member.name}": member.engine for member in args.engines} or {"engine": args.engine}),
        "observer": args.observer,
        "verifier engine": verifier.engine if verifier.kind == "model" else None,
        "consistency engine": consistency.engine if consistency is not None else None,
    }
    return {role: engine for role, engine in found.items() if engine is not None}


def endpoints_of(args: AppArgs) -> dict[str, OpenAIEngine]:
    """Those of them that are behind an address, one entry an address: `engine`, `engine 2` …"""
    return {
        role if number == 1 else f"{role} {number}": engine.model_copy(update={"base_url": address, "base_urls": ()})
        for role, engine in engines_of(args).items()
        if isinstance(engine, OpenAIEngine)
        for number, address in enumerate(engine.addresses, 1)
    }


class EndpointWatch:
    """Call `start` if the event loop runs for long. Without it, every check asks the endpoints itself."""

    def __init__(
        self,
        args: AppArgs,
        shared: EndpointStates = STATES,
        spread: Callable[[Orders], Awaitable[object]] | None = None,
    ) -> None:
        self._shared = shared
        self._spread = spread
        self._endpoints = endpoints_of(args)
        self._all_remote = all(isinstance(engine, OpenAIEngine) for engine in engines_of(args).values())
        self._states: dict[str, str] = {}
        self._asked = asyncio.Event()
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
        return tuple(engine.base_url for engine in self._endpoints.values())

    async def described(self) -> list[dict[str, str]]:
        """For operators: `role`, `url` without keys, `state`, and who drains it: `operator`, `file` or nobody."""
        states = await self.states()
        found: list[dict[str, str]] = []
        for role, engine in self._endpoints.items():
            url = engine.base_url
            by = "file" if self._shared.is_drained_by_file(url) else "operator" if self._shared.is_draining(url) else ""
            state = _OK if states[role].endswith(_DRAINING) else states[role]
            found.append({"role": role, "url": bare_url(url), "state": state, "draining": by})
        return found

    async def states(self) -> dict[str, str]:
        """`ok` or what is wrong, for every endpoint; waits for the first replies."""
        if not self._endpoints:  # a client alone costs 40 ms: it reads the certificates
            return {}
        if self._task is None:
            await self._ask_all()
        else:
            await self._asked.wait()
        return dict(self._states)

    def _drained(self, states: dict[str, str]) -> dict[str, str]:
        """The states; one that answers and is being drained is no `ok`."""
        return {
            role: f"{bare_url(self._endpoints[role].base_url)} {_DRAINING}"
            if state == _OK and self._shared.is_draining(self._endpoints[role].base_url)
            else state
            for role, state in states.items()
        }

    def none_answers(self) -> bool:
        """Whether no configured engine could work: all are endpoints, and none answered when it was last asked."""
        return self._all_remote and bool(self._states) and _OK not in self._states.values()

    async def _watch(self) -> None:
        while True:
            await self._ask_all()
            if self._spread is not None and len(self._endpoints) > 1:
                await self._spread(self._shared.orders)
            await asyncio.sleep(EVERY_S)

    async def _ask_all(self) -> None:
        async with httpx.AsyncClient(timeout=_PATIENCE_S, trust_env=False) as client:
            asked = [self._ask(client, engine) for engine in self._endpoints.values()]
            found = self._drained(dict(zip(self._endpoints, await asyncio.gather(*asked), strict=True)))
        for role, state in found.items():
            if state != self._states.get(role, _OK):
                _log.log(logging.INFO if state == _OK else logging.WARNING, "%s: %s", role, _state_text(state))
        self._states = found
        self._asked.set()

    async def _ask(self, client: httpx.AsyncClient, engine: OpenAIEngine) -> str:
        key = os.environ.get(engine.api_key_env, "")
        where = bare_url(engine.base_url)
        try:
            url = f"{engine.base_url.rstrip('/')}/models"
            async with client.stream("GET", url, headers={"Authorization": f"Bearer {key}"} if key else {}) as reply:
                status = reply.status_code
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            self._shared.looked(engine.base_url, dead=True)
            return f"{where} does not answer: {type(error).__name__}"
        self._shared.looked(engine.base_url, dead=status >= httpx.codes.INTERNAL_SERVER_ERROR)
        if status in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
            return f"{where} answered {status}: the key is taken from ${engine.api_key_env}"
        return f"{where} answered {status}" if status >= httpx.codes.INTERNAL_SERVER_ERROR else _OK


def _state_text(state: str) -> str:
    if state == _OK or state.endswith(_DRAINING):
        return state if state != _OK else "answers again, or is no longer drained"
    return f"{state}; requests fail until it does"


def drained_findings(url: str) -> Iterator[Finding]:
    """Endpoints that a service at this address drains; nothing where none of ours runs."""
    try:
        checks = httpx.get(f"{url}/readyz", timeout=_PATIENCE_S, trust_env=False).json()["checks"]
        drained = [(role, state) for role, state in checks.items() if str(state).endswith(_DRAINING)]
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, LookupError, TypeError, AttributeError):
        return
    for role, state in drained:
        cost = "the other endpoints do its work"
        yield Finding(f"endpoint of {role} of the service", "off", state, cost, "geotts endpoints undrain URL")
