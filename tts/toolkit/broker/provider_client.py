"""The HTTP client of one provider: slots, rate limit, keys, retries and a circuit breaker around the safe client.

Every request of a provider goes through its `ProviderClient`. It returns a classified reply, or raises a `ToolError`
without keys in its text. Order: wait for a fair slot, wait for the shared rate limit, choose a key, send. If the
service says "rate limited" or "out of quota", the client waits or takes another key. Transient faults are retried with
jitter.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from tts.domain.request import RequestContext
from tts.errors import FetchError, FetchErrorKind, ToolError, ToolErrorKind
from tts.net.http_client import HttpReply, SafeHttpClient, retry_after_s
from tts.net.secret import Credential, Secret
from tts.toolkit.broker.cache_store import CacheStore, Rate, StoreError
from tts.toolkit.broker.circuit_breaker import Breaker
from tts.toolkit.broker.fair_slots import FairLimiter
from tts.toolkit.broker.keypool import KeyPool
from tts.toolkit.broker.provider_limits import ProviderLimits
from tts.toolkit.broker.stats import ProviderFigures

FailureKind = Literal["rate", "quota", "key", "passing", "late", "refused", "not_found"]
_PROVIDER_FAULTS = ("passing", "late")  # the provider's: they count for the breaker and are worth another try


@dataclass(frozen=True, slots=True)
class ProviderFailure:
    """What a reply says went wrong.

    Attributes:
        kind: decides whether the call is made again, and with which key.
        detail: for the model.
        retry_after_s: seconds after which the provider may be asked again, where it names a time.
    """

    kind: FailureKind
    detail: str = ""
    retry_after_s: float | None = None


M = TypeVar("M", bound=BaseModel)


class Reply(BaseModel):
    """Base of reply shapes: what is not asked for is ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


def accept_any(reply: Any) -> ProviderFailure | None:
    """Find nothing wrong with a reply.

    Args:
        reply: any, of any status.

    Returns:
        None.
    """
    return None


Judge = Callable[[HttpReply], ProviderFailure | None]


@dataclass(frozen=True, slots=True)
class KeyPlace:
    """Where this provider wants its key.

    Attributes:
        where: in the query of the URL, or in a header.
        name: the name of the parameter or of the header.
        prefix: what stands before the key, such as `Bearer ` with its blank.
    """

    where: Literal["query", "header"]
    name: str
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class ProviderRequest:
    """One request to a provider.

    Attributes:
        url: the address, without a query and without a key.
        params: the query.
        headers: headers without the key.
        method: GET or POST.
        json: a body that is sent as JSON; None for none.
        content: a body that is sent as it is; None for none.
        content_types: beginnings of media types, one of which a successful reply must have; any if empty.
        max_bytes: most bytes of the reply; None for the limit of the client.
        idempotent: whether it may be sent again.
        key_place: where this service of the provider wants the key; None if where the others do.
    """

    url: str
    params: Mapping[str, str] | None = None
    headers: Mapping[str, str] | None = None
    method: Literal["GET", "POST"] = "GET"
    json: Any = None
    content: bytes | None = None
    content_types: Sequence[str] = ("application/json",)
    max_bytes: int | None = None
    idempotent: bool = True
    key_place: KeyPlace | None = None  # where this service of the provider wants it, if not where the others do


def judge_status(reply: HttpReply) -> ProviderFailure | None:
    """What an HTTP status alone tells; providers add what their bodies say.

    Args:
        reply: of any status; of its headers `Retry-After` is read.

    Returns:
        None below 400.
    """
    status = reply.status
    if status < 400:
        return None
    after = retry_after_s(reply.headers.get("retry-after", ""))
    if status == 429:
        return ProviderFailure("rate", "the service asks to slow down", after)
    if status in (401, 403):
        return ProviderFailure("key", "the service refuses the key")
    if status == 402:
        return ProviderFailure("quota", "the quota is used up")
    if status == 404:
        return ProviderFailure("not_found", "the service knows nothing of it")
    if status >= 500 or status == 408:
        return ProviderFailure("passing", f"the service failed with {status}", after)
    return ProviderFailure("refused", f"the service refused the request with {status}")


class ProviderClient:
    """The way of all calls to one provider: they wait for a slot and for the rate, get a key, and are sent again if
    that helps.

    Args:
        name: the provider's name in limits, logs and errors.
        client: sends the requests; it learns the keys, so that it hides them.
        store: shares the rate between processes.
        limits: rate, slots, retries and the breaker.
        keys: the keys of the provider; they are only used with a `key_place`.
        key_place: where a request has the key; None for a provider without keys.
        judge: finds out what a reply says went wrong; None for the HTTP status alone (`judge_status`).
        now: a clock in seconds.
        draw: gives random numbers in [0, 1), for pauses and for the breaker.
    """

    def __init__(
        self,
        name: str,
        client: SafeHttpClient,
        store: CacheStore,
        limits: ProviderLimits,
        *,
        keys: Sequence[Secret] = (),
        key_place: KeyPlace | None = None,
        judge: Judge | None = None,
        now: Callable[[], float] = time.monotonic,
        draw: Callable[[], float] = random.random,
    ) -> None:
        self.name = name
        self._client = client
        self._store = store
        self._limits = limits
        self._keys = KeyPool(keys, now) if key_place is not None else None
        self._key_place = key_place
        self._judge = judge or judge_status
        self._slots = FairLimiter(limits.max_running, limits.max_queued)
        self._breaker = Breaker(limits.breaker, now, draw)
        self._now = now
        self._draw = draw
        self._paused_until = 0.0
        self._requests = 0
        self._retries = 0
        for key in keys:
            client.scrubber.learn(key)

    async def ask(self, request: ProviderRequest, context: RequestContext, judge: Judge | None = None) -> HttpReply:
        """Send a request until `judge` has nothing to complain about. Time is bounded by the caller and `limits`.

        Args:
            request: sent again only if it is `idempotent`, except with another key.
            context: the request for which it is asked. Its id decides whose turn it is, and what is sent is listed
                under it; its `remaining_s` bounds the waits for the rate.
            judge: what a reply says went wrong, None for nothing; called for every status. None takes the provider's
                own.

        Returns:
            The whole reply, of any status that `judge` accepts.

        Raises:
            ToolError: the provider fails, refuses, knows nothing of it or is left alone; too many calls wait; no key is
                left; or the rate allows no call in time.
        """
        tries = self._limits.retries if request.idempotent else 0
        async with self._slots.slot(context.id):
            while True:
                outcome = await self._attempt(request, context, judge or self._judge)
                if isinstance(outcome, HttpReply):
                    return outcome
                if outcome.kind in ("quota", "key") and self._keys is not None and self._keys.usable:
                    continue  # ends: every round has taken a key out of the pool
                tried = self._limits.retries - tries
                if tries == 0 or not await self._wait_to_retry(outcome, tried, context):
                    raise self._tool_error(outcome)
                tries -= 1
                self._retries += 1

    async def read(
        self,
        request: ProviderRequest,
        context: RequestContext,
        shape: type[M],
        complain: Callable[[M], ProviderFailure | None] = accept_any,
    ) -> M:
        """Send a request and read the reply as JSON. One that does not fit the shape counts as a fault of the provider.

        Args:
            request: as in `ask`.
            context: as in `ask`.
            shape: a model of the whole reply.
            complain: what a reply that fits says went wrong, None for nothing. It is asked after the provider's own
                judge.

        Returns:
            The reply in the given shape; `complain` has found nothing in it.

        Raises:
            ToolError: as in `ask`, or the reply does not fit.
        """
        replies: list[M] = []

        def judge(reply: HttpReply) -> ProviderFailure | None:
            failure = self._judge(reply)
            if failure is not None:
                return failure
            try:
                replies[:] = [shape.model_validate_json(reply.content)]
            except ValidationError:
                return ProviderFailure("passing", "the reply cannot be read")
            return complain(replies[0])

        await self.ask(request, context, judge)
        return replies[0]

    def figures(self) -> ProviderFigures:
        """Report the state of the client.

        Returns:
            Counts since the start; slots, breaker and keys as they are now. `usable_keys` is None if the provider takes
            no key.
        """
        return ProviderFigures(
            requests=self._requests,
            retries=self._retries,
            running=self._slots.running,
            queued=self._slots.queued,
            breaker=self._breaker.state,
            opened=self._breaker.opened,
            usable_keys=None if self._keys is None else self._keys.usable,
        )

    async def _attempt(
        self, request: ProviderRequest, context: RequestContext, judge: Judge
    ) -> HttpReply | ProviderFailure:
        if self._breaker.state == "open":
            self._breaker.enter()  # raises before anything is waited for
        await self._wait_for_rate(context)
        self._breaker.enter()
        reported = False
        try:
            key = self._keys.take() if self._keys is not None else None
            outcome = await self._send(request, context, key, judge)
            reported = True
        finally:
            if not reported:
                self._breaker.record_abandonment()
        if isinstance(outcome, ProviderFailure) and outcome.kind in _PROVIDER_FAULTS:
            self._breaker.record_failure()
        else:
            self._breaker.record_success()
        if isinstance(outcome, ProviderFailure) and key is not None and self._keys is not None:
            if outcome.kind == "quota":
                self._keys.set_aside(key, outcome.retry_after_s or self._limits.quota_rest_s)
            elif outcome.kind == "key":
                self._keys.drop(key)
        return outcome

    async def _send(
        self, request: ProviderRequest, context: RequestContext, key: Secret | None, judge: Judge
    ) -> HttpReply | ProviderFailure:
        self._requests += 1
        try:
            reply = await self._client.fetch(
                request.url,
                method=request.method,
                params=request.params,
                headers=request.headers,
                json=request.json,
                content=request.content,
                credential=self._credential(key, request.key_place),
                content_types=request.content_types,
                max_bytes=request.max_bytes,
                timeout_s=self._limits.timeout_s,
                any_status=True,
                request_id=context.id,
            )
            return judge(reply) or reply
        except FetchError as error:
            return _failure_of(error)

    def _credential(self, key: Secret | None, place: KeyPlace | None) -> Credential | None:
        place = place or self._key_place
        return None if key is None or place is None else Credential(place.where, place.name, key, place.prefix)

    async def _wait_for_rate(self, context: RequestContext) -> None:
        """Wait for a pause the provider asked for, then for a place in the rate all replicas share."""
        if (pause_s := self._paused_until - self._now()) > 0:
            if pause_s > context.remaining_s:
                raise _too_often_error(pause_s)
            await asyncio.sleep(pause_s)
        rate = Rate(per_s=self._limits.per_s, burst=self._limits.burst)
        try:
            wait_s = await self._store.take(self.name, rate, max_wait_s=context.remaining_s)
        except StoreError:
            wait_s = 1.0 / self._limits.per_s  # without the shared count: no burst
        if wait_s < 0:
            raise _too_often_error(-wait_s)
        if wait_s:
            await asyncio.sleep(wait_s)

    async def _wait_to_retry(self, failure: ProviderFailure, tried: int, context: RequestContext) -> bool:
        """Whether to try again, after waiting as the failure demands."""
        if failure.kind == "rate":
            wait_s = failure.retry_after_s or self._limits.backoff_s * 2.0**tried
            self._paused_until = max(self._paused_until, self._now() + wait_s)
            return wait_s <= context.remaining_s
        if failure.kind not in _PROVIDER_FAULTS or self._breaker.state == "open":
            return False
        backoff_s = self._limits.backoff_s * 2.0**tried * (0.5 + self._draw())
        await asyncio.sleep(max(backoff_s, failure.retry_after_s or 0.0))
        return True

    def _tool_error(self, failure: ProviderFailure) -> ToolError:
        kind = {
            "rate": ToolErrorKind.RATE_LIMITED,
            "quota": ToolErrorKind.QUOTA,
            "key": ToolErrorKind.QUOTA,
            "passing": ToolErrorKind.UNAVAILABLE,
            "late": ToolErrorKind.TIMEOUT,
            "refused": ToolErrorKind.BLOCKED,
            "not_found": ToolErrorKind.NOT_FOUND,
        }[failure.kind]
        if failure.kind == "key" and self._keys is None:
            kind = ToolErrorKind.UNAVAILABLE  # it serves nobody without a key, whatever the call is
        detail = self._client.scrubber.scrub(f"{self.name}: {failure.detail}")
        return ToolError(detail, kind=kind, retry_after_s=failure.retry_after_s)


def _too_often_error(wait_s: float) -> ToolError:
    detail = "this service may not be asked that often"
    return ToolError(detail, kind=ToolErrorKind.RATE_LIMITED, retry_after_s=round(wait_s, 1))


_REQUEST_FAULTS = frozenset({FetchErrorKind.BAD_URL, FetchErrorKind.REFUSED, FetchErrorKind.REDIRECTS})


def _failure_of(error: FetchError) -> ProviderFailure:
    kind: FailureKind = "late" if error.kind is FetchErrorKind.TIMEOUT else "passing"
    if error.kind in _REQUEST_FAULTS:
        kind = "refused"
    return ProviderFailure(kind, error.detail, error.retry_after_s)
