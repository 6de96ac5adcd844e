"""The broker: a toolbox in which calls that mean the same are made once.

It looks for a result in this order: the caches of this process and of the shared store; an equal call that is running,
in this process (`SingleFlight`) or in another one (a lease in the store); the tool itself. "Not found" is cached too,
for a shorter time. If the provider fails, an expired result is used. If the store fails, calls are made again.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from tts.domain.tooling import ToolCall
from tts.erasure.erased_names import ErasedNames
from tts.errors import ToolError, ToolErrorKind
from tts.ports.toolbox import ToolContext, ToolOutcome, ToolSchema
from tts.toolkit.broker.cache_entry import Entry
from tts.toolkit.broker.cache_key import call_key
from tts.toolkit.broker.cache_store import CacheStore, MemoryStore, StoreError
from tts.toolkit.broker.single_flight import SingleFlight
from tts.toolkit.broker.stats import BrokerSnapshot, ProviderFigures, Source, ToolCounter
from tts.toolkit.execute import check_consent, parse_arguments, run_tool, timed_out, tool_named
from tts.toolkit.spec import Arguments, Observation, Tool, schema_of
from tts.toolkit.toolbox import failure_outcome, now_rfc3339, success_outcome

T = TypeVar("T")

_CACHED_ERROR_KINDS = frozenset({ToolErrorKind.NOT_FOUND})
_LEASE_MARGIN_S = 2.0
_FIRST_POLL_S = 0.002
_MAX_POLL_S = 0.05
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _FoundEntry:
    """An entry and where it came from."""

    entry: Entry
    source: Source


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What the model is to see, whether no provider was asked for it, and since when it is known."""

    made: Observation | ToolError
    cached: bool = False
    retrieved_at: str = ""


class Broker:
    """The `Toolbox` port over tools that need a cache, a key or a limit.

    Args:
        store: shared between processes; a `MemoryStore` when there is only this one.
        providers: figures of the clients, for the snapshot.
        ttl_s: overrides of `ToolSpec.ttl_s` by tool name.
        photo_kept_s: the longest that a result which belongs to a photo is kept.
        tools: what may be called; of several with one name, the last one is used.
        now: a clock in seconds since the epoch.
    """

    def __init__(
        self,
        tools: Iterable[Tool],
        store: CacheStore,
        *,
        providers: Callable[[], Mapping[str, ProviderFigures]] = dict,
        ttl_s: Mapping[str, float] | None = None,
        photo_kept_s: float = math.inf,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}
        self._schemas = tuple(map(schema_of, self._tools.values()))
        self._store = store
        self._now = now
        self._providers = providers
        self._memory_store = store if isinstance(store, MemoryStore) else MemoryStore(now=now)
        self._ttl_s = dict(ttl_s or {})
        self._photo_kept_s = photo_kept_s
        self._erased_names = ErasedNames()
        self._single_flight: SingleFlight[_FoundEntry] = SingleFlight()
        self._counters = {name: ToolCounter() for name in self._tools}
        self._store_errors = 0

    def schemas(self) -> tuple[ToolSchema, ...]:
        """The broker's tools in the order in which they were given."""
        return self._schemas

    async def call(self, call: ToolCall, context: ToolContext) -> ToolOutcome:
        """Check consent, then answer from the cache, from a call under way, or from the tool."""
        started = time.perf_counter()
        counter = self._counters.get(call.name)
        try:
            tool = tool_named(self._tools, call.name)
            check_consent(tool, context)  # before the cache: what another request was sent to find is not shown
            outcome = await self._observe(tool, parse_arguments(tool, call), context)
        except ToolError as error:
            outcome = _Outcome(error)
        elapsed_s = time.perf_counter() - started
        if counter is not None:
            counter.record_time(elapsed_s)
        if isinstance(outcome.made, ToolError):
            if counter is not None:
                counter.record_failure(outcome.made.kind)
            return failure_outcome(call, outcome.made, elapsed_s=elapsed_s, cached=outcome.cached)
        return success_outcome(
            call, outcome.made, elapsed_s=elapsed_s, retrieved_at=outcome.retrieved_at, cached=outcome.cached
        )

    async def forget(self, photo_sha256: str) -> int:
        """Erase every result that belongs to a photo; returns how many there were. What is being fetched for it now
        will be shown to whoever waits, and not kept.

        Args:
            photo_sha256: `Photo.sha256`, as in `Entry.photos`.

        Raises:
            StoreError: the store cannot be reached: the results may still be there.
        """
        self._erased_names.add(photo_sha256)
        return await self._store.forget(photo_sha256)

    async def purge(self) -> None:
        """Remove what is past its time."""
        await self._tolerate_store_error(self._store.purge(), None)
        await self._memory_store.purge()

    def snapshot(self) -> BrokerSnapshot:
        """Report what this process has done since its start.

        Returns:
            The counts by tool and by provider, as a value that does not change.
        """
        return BrokerSnapshot(
            tools={name: counter.figures() for name, counter in self._counters.items()},
            providers=dict(self._providers()),
            store_errors=self._store_errors,
        )

    async def aclose(self) -> None:
        """Close the store. A store that fails is counted and no error."""
        await self._tolerate_store_error(self._store.aclose(), None)

    async def _observe(self, tool: Tool, arguments: Arguments, context: ToolContext) -> _Outcome:
        if tool.splitting is None:
            found = await self._find_entry(tool, arguments, context)
            return _Outcome(_unwrap_result(found), found.source != "call", found.entry.retrieved_at)
        parts: Sequence[Arguments] = tool.splitting.split(arguments)
        results = await asyncio.gather(*(self._find_part(tool, part, context) for part in parts))
        opened = [_unwrap_result(result) for result in results]
        found_parts = [result for result in results if isinstance(result, _FoundEntry)]
        cached = len(found_parts) == len(results) and all(result.source != "call" for result in found_parts)
        try:
            observation = tool.splitting.join(arguments, opened, context)
        except ToolError as error:
            return _Outcome(error, cached)
        if not found_parts:  # every part failed, and the tool tells that as a result
            return _Outcome(observation, cached, now_rfc3339())
        oldest = min((result.entry for result in found_parts), key=lambda entry: entry.stored_at)
        return _Outcome(observation, cached, oldest.retrieved_at)

    async def _find_part(self, tool: Tool, arguments: Arguments, context: ToolContext) -> _FoundEntry | ToolError:
        try:
            return await self._find_entry(tool, arguments, context)
        except ToolError as error:
            return error

    async def _find_entry(self, tool: Tool, arguments: Arguments, context: ToolContext) -> _FoundEntry:
        counter = self._counters[tool.spec.name]
        if not tool.spec.cacheable:
            counter.count_source("call")
            return _FoundEntry(self._new_entry(tool, await run_tool(tool, arguments, context), context), "call")
        key = call_key(tool, arguments, context)
        entry = self._memory_store.peek(key)
        if entry is not None and entry.is_fresh(self._now()):
            counter.count_source("hit")
            return _FoundEntry(entry, "hit")
        limit_s = min(tool.spec.timeout_s, context.request.remaining_s)
        try:
            async with asyncio.timeout(limit_s):
                found, joined = await self._single_flight.join(
                    key, lambda: self._find_or_make(key, tool, arguments, context)
                )
        except TimeoutError:
            raise timed_out(tool, limit_s) from None
        source: Source = "joined" if joined and found.source == "call" else found.source
        counter.count_source(source)
        return _FoundEntry(found.entry, source)

    async def _find_or_make(self, key: str, tool: Tool, arguments: Arguments, context: ToolContext) -> _FoundEntry:
        """Find or make the entry, alone in this process and, while the lease lasts, in all of them."""
        kept = await self._tolerate_store_error(self._store.get(key), None)
        if kept is not None and kept.is_fresh(self._now()):
            return self._remember(key, kept, "hit")
        token, other = await self._wait_for_lease(key, tool.spec.timeout_s + _LEASE_MARGIN_S)
        try:
            if other is not None:
                return self._remember(key, other, "joined")
            return await self._make_entry(key, tool, arguments, context, kept)
        finally:
            if token:
                await self._tolerate_store_error(self._store.release(key, token), None)

    async def _make_entry(
        self, key: str, tool: Tool, arguments: Arguments, context: ToolContext, kept: Entry | None
    ) -> _FoundEntry:
        # others may wait for this call: it gets the tool's whole time, however little its first caller has left
        mark = self._erased_names.mark()
        unhurried = context.request.model_copy(update={"remaining_s": tool.spec.timeout_s})
        try:
            made = await run_tool(tool, arguments, replace(context, request=unhurried))
            entry = self._new_entry(tool, made, context)
        except ToolError as error:
            if error.kind in _CACHED_ERROR_KINDS:
                entry = self._new_entry(tool, error, context)
            elif kept is not None and kept.is_usable(self._now()):
                _log.info("%s: an older result stands in: %s", tool.spec.name, error.kind.value)
                return _FoundEntry(kept, "stale")
            else:
                raise
        if not self._erased_names.was_erased_since(mark, entry.photos):
            await self._tolerate_store_error(self._store.put(key, entry), None)
        return self._remember(key, entry, "call")

    async def _wait_for_lease(self, key: str, ttl_s: float) -> tuple[str, Entry | None]:
        """The lease's token, or the entry that its holder made meanwhile. Waits as long as somebody holds it."""
        look_s = _FIRST_POLL_S
        while True:
            token = await self._tolerate_store_error(self._store.lease(key, ttl_s), "")
            if token is not None:
                entry = await self._tolerate_store_error(self._store.get(key), None) if token else None
                return token, entry if entry is not None and entry.is_fresh(self._now()) else None
            await asyncio.sleep(look_s)
            look_s = min(1.5 * look_s, _MAX_POLL_S)
            entry = await self._tolerate_store_error(self._store.get(key), None)
            if entry is not None and entry.is_fresh(self._now()):
                return "", entry

    def _new_entry(self, tool: Tool, made: Observation | ToolError, context: ToolContext) -> Entry:
        spec = tool.spec
        longest_s = self._photo_kept_s if spec.depends_on_photo else math.inf
        ttl_s = min(longest_s, self._ttl_s.get(spec.name, spec.ttl_s))
        refused = isinstance(made, ToolError)
        return Entry(
            stored_at=self._now(),
            ttl_s=min(ttl_s, spec.negative_ttl_s) if refused else ttl_s,
            stale_s=0.0 if refused else min(spec.stale_s, longest_s - ttl_s),
            retrieved_at=now_rfc3339(),
            observation=None if isinstance(made, ToolError) else made,
            refusal=(made.kind, made.detail) if isinstance(made, ToolError) else None,
            verbatim=isinstance(made, ToolError) and bool(made.fields.get("verbatim")),
            photos=context.photo_hashes() if spec.depends_on_photo else (),
        )

    def _remember(self, key: str, entry: Entry, source: Source) -> _FoundEntry:
        if not entry.photos:  # what belongs to a photo stays in the store, where `forget` finds it for all replicas
            self._memory_store.keep(key, entry)
        return _FoundEntry(entry, source)

    async def _tolerate_store_error(self, work: Awaitable[T], otherwise: T) -> T:
        try:
            return await work
        except StoreError as error:
            self._store_errors += 1
            _log.warning("going on without the store: %s", error.detail)
            return otherwise


def _unwrap_result(result: _FoundEntry | ToolError) -> Observation | ToolError:
    if isinstance(result, ToolError):
        return result
    try:
        return result.entry.unwrap()
    except ToolError as error:
        return error
