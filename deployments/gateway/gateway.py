"""The gateway: it takes requests, sends their event logs to readers, and cancels a request that has no reader.

The work itself is the `Runner`'s; the log is in the run store, so readers may follow it here or in any other gateway
that shares the store. If a reader disconnects, its request is cancelled, unless the caller asked for a grace time.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from contextvars import Context
from dataclasses import dataclass
from functools import partial

from deployments.config import AppArgs
from deployments.gateway.admission import Admission
from deployments.gateway.arrival import Arrival, LocateBody
from deployments.gateway.auth import Caller, TooManyRequests
from deployments.gateway.claimed_places import look_up_claimed_places, with_ruled_out_places
from deployments.gateway.closing_events import ends_of_failure, number_closing_events, seconds_of
from deployments.gateway.continued_request import Continuation, continuation_of
from deployments.gateway.idempotency import claim_of, earlier_request
from deployments.gateway.logged_request import logged_events
from deployments.gateway.option_checks import check_questions, check_walk
from deployments.gateway.photos.decoding_process import PhotoProcess
from deployments.gateway.precision.coarsening import Coarsening
from deployments.gateway.readers import Readers
from deployments.gateway.runner import Runner
from deployments.gateway.webhooks import WebhookSender
from deployments.observability.request_observer import RequestObserver, RequestObservers
from deployments.runstore import KeyTaken, LogEntry, LogLost, RunMeta, RunStore, StoreUnavailable, open_store
from deployments.runstore.stored_values import event_of
from deployments.runstore.write_probe import StoreProbe
from deployments.wiring.brokers import Brokers
from geotts_client.continue_options import ContinueOptions
from tts.aio import Milestone, closing, spawn
from tts.domain.events import Event
from tts.domain.exif_claims import file_claim
from tts.domain.photo import Photo
from tts.domain.request import MAX_PHOTOS, LocateOptions, LocateRequest
from tts.domain.trace_context import TraceContext
from tts.domain.trajectory import Run, fold
from tts.errors import NotFound, RequestError, boundary
from tts.ports.closable import close_each
from tts.ports.request_ports import Ports
from tts.ports.toolbox import Attachment
from tts.toolkit.toolbox import now_rfc3339

_log = logging.getLogger("geotts.gateway")
_MAX_STOP_WAIT_S = 3.0
_MAX_END_FAILURES = 2  # heartbeats without a word from the store on who works on a request
_MAX_PHOTO_WAIT_S = 5.0  # photos go to the store beside the first turn


@dataclass(frozen=True, slots=True)
class StartedRequest:
    """`replayed`: the same request was sent before under the same key; this is its id."""

    request_id: str
    replayed: bool = False


class Gateway:
    """One per gateway replica. `in_flight` counts requests that are being read or whose work has not ended."""

    def __init__(
        self,
        args: AppArgs,
        ports: Ports,
        *,
        store: RunStore | None = None,
        brokers: Brokers | None = None,
        observers: Sequence[RequestObserver] = (),
        photo_process: PhotoProcess | None = None,
    ) -> None:
        self._config = args.gateway
        self._args = args
        self.ports = ports
        self.brokers = brokers
        self.store: RunStore = store or open_store(
            args.gateway.run_store, args.gateway.retention_s, args.gateway.blob_store
        )
        self.webhooks = WebhookSender(args.gateway.webhooks, self.store, brokers, end_orphan=self._end_orphan)
        self._observers = RequestObservers([*observers, self.webhooks])
        self.store_probe = StoreProbe(self.store)
        self._photo_process = photo_process
        self.admission = Admission(args.gateway, photo_process)
        precision = args.gateway.max_precision
        self._coarsening = None if precision is None else Coarsening(precision, args.data_dir)
        self._runner = Runner(
            args.gateway, ports, self.store, self._observers, self.admission, brokers, self._coarsening
        )
        self._readers = Readers(self._runner, self.store)

    def start_duties(self) -> None:
        """Start the background tasks of a gateway, such as the takeover of requests of lost gateways."""
        self._runner.start_duties()
        self.webhooks.start_duties()

    async def _end_orphan(self, request_id: str) -> None:
        await self._runner.end_orphan(request_id)

    @property
    def in_flight(self) -> int:
        """Requests that are being read or whose work has not ended."""
        return self.admission.in_flight

    @asynccontextmanager
    async def receive_request(self, caller: Caller) -> AsyncIterator[Arrival]:
        """A context manager around reading and starting a request. The egress for its photos is reported in every
        case."""
        with self.admission.reading_slot(caller):
            arrival = Arrival(caller, fetch_slot=partial(self.admission.fetch_slot, caller))
            try:
                yield arrival
            finally:
                if not arrival.launched:
                    arrival.rollouts_started.reach()  # it has none: those behind it need not wait
                if not arrival.launched and (egress := arrival.egress()):
                    await self._runner.record_refusal(
                        RunMeta(request_id=arrival.request_id, tenant=caller.name, fetched=egress)
                    )

    async def start(
        self,
        raw_photos: Sequence[bytes],
        options: LocateOptions,
        *,
        arrival: Arrival | None = None,
        key: str | None = None,
        attended: bool = True,
        followed: bool = True,
        trace: TraceContext | None = None,
        webhook: str = "",
        continuation: Continuation | None = None,
    ) -> StartedRequest:
        """Check and clean the photos, start the work. Unless `attended`, it goes on without readers.

        `arrival`: whose request it is, and what went out for it already.
        `followed`: its events will be read as they come, not only when it has ended. `webhook`: a checked address.
        `trace`: the trace of the caller, which it joins.
        `continuation`: what it has from an earlier request; the photos are then added to those of that one.

        Raises:
            PhotoError: for bytes that are not an acceptable photo.
            RequestError: a claim that names no place, or another option that cannot be used here.
            KeyReused: `key` stands for another request.
            TooManyRequests: the caller has too many requests at work.
            StoreUnavailable: the run store does not answer.
        """
        arrival = arrival or Arrival()
        caller = arrival.caller
        check_questions(options, self._args.verifier)
        options = self.ports.router.within_budget(_limit_cost(self._args.request_defaults.fill(options), caller))
        options = await with_ruled_out_places(options, self._args.data_dir)
        claimed = await look_up_claimed_places(options, self._args.data_dir)
        if self._coarsening is not None:
            count = len(raw_photos) + (len(continuation.photos) if continuation is not None else 0)
            self._coarsening.refuse_fine(options, claimed, count, continues=continuation is not None)
        photos = await self._collect_photos(raw_photos, continuation, arrival.rollouts_started)
        check_walk(options, len(photos))
        file_claims = tuple(file_claim(raw) for raw in raw_photos) if options.exif == "report" or options.claims else ()
        if continuation is not None:
            file_claims = (*continuation.file_claims, *file_claims)
        request = LocateRequest(
            arrival.request_id,
            photos,
            options,
            trace=trace,
            file_claims=file_claims,
            followed=followed,
            claimed=claimed,
            continued=continuation.continued if continuation is not None else None,
            kept=continuation.kept if continuation is not None else (),
        )
        meta = RunMeta(
            request_id=request.id,
            tenant=caller.name,
            include=options.include,
            grace_s=options.resume_grace_s if attended else 0.0,
            photos=tuple(photo.sha256 for photo in photos),
            claim=f"{caller.name}\n{key}" if key else "",  # no name and no key has a line break
            started_at=now_rfc3339(),
            attended=attended,
            options=options.model_dump_json(),
            webhook=webhook,
            fetched=arrival.egress(),
            continues=request.continued.request_id if request.continued is not None else "",
        )
        settled = False
        try:
            if (earlier := await self._open_log(request, meta, arrival, attended=attended)) is not None:
                arrival.request_id = earlier
                settled = True
                return StartedRequest(earlier, replayed=True)
            settled = True
        finally:
            if not settled:  # whoever waits for us may be gone: what is there of the request goes by itself
                spawn(self._erase_unlaunched(meta), name=f"withdraw {request.id}", context=Context())
        arrival.launched = True
        return StartedRequest(request.id)

    async def _collect_photos(
        self, raw: Sequence[bytes], continuation: Continuation | None, rollouts_started: Milestone
    ) -> tuple[Photo, ...]:
        """Those of the earlier request, if there is one, and those that were sent."""
        before = continuation.photos if continuation is not None else ()
        if len(before) + len(raw) > MAX_PHOTOS:
            raise RequestError(
                f"the earlier request has {len(before)} photos; with {len(raw)} more, they are more than {MAX_PHOTOS}"
            )
        return (*before, *(await self.admission.photos(raw, rollouts_started) if raw else ()))

    async def _open_log(self, request: LocateRequest, meta: RunMeta, arrival: Arrival, *, attended: bool) -> str | None:
        """Open the log of a request and start its work; or the id of the one that has its idempotency key.

        The store opens it only while it has its key: a gateway that is stopped after it took the key may find, when it
        goes on, that another gateway has begun the same request under it.
        """
        now, most = asyncio.get_running_loop().time, arrival.caller.max_concurrent
        while True:
            if meta.claim and (earlier := await earlier_request(self.store, meta, claim_of(request))) is not None:
                return earlier
            asked_at = now()
            try:
                opened = await self.store.open(meta, lease_s=self._config.lease_s, max_open=most)
            except KeyTaken:
                continue
            if not opened:
                raise TooManyRequests(f"{most} requests of this key are running, which is its limit", retry_after_s=2.0)
            self._runner.launch(request, meta, asked_at, arrival.rollouts_started, attended=attended)
            return None

    async def _erase_unlaunched(self, meta: RunMeta) -> None:
        """Leave nothing of a request that was not launched."""
        try:
            if meta.claim:
                await self.store.release(meta.claim, meta.request_id)
            await self.store.erase(meta.request_id)
        except StoreUnavailable as error:
            _log.warning("a request that was not launched left traces: %s", error.detail)

    async def cancel(self, request_id: str) -> bool:
        """Stop the work of a request, wherever it is, and wait until it has stopped. False when none was at work."""
        if self._runner.is_running(request_id):
            await self._runner.cancel_and_wait(request_id)
            return True
        if not await self.store.is_open(request_id):
            return False
        await self.store.ask_cancel(request_id)
        try:
            async with asyncio.timeout(_MAX_STOP_WAIT_S):
                while await self.store.is_open(request_id):
                    await self._runner.end_orphan(request_id, at_once=True)
                    await asyncio.sleep(0.02)
        except TimeoutError:
            _log.warning("a request did not stop in time", extra={"request_id": request_id})
        return True

    async def erase(self, request_id: str, *, scrub: bool = True) -> bool:
        """Stop the work of a request and remove every trace of it. False when there was none.

        Args:
            request_id: the request.
            scrub: whether remains in the store's files are removed before this returns, or at its next purge.

        Raises:
            NotErased: the tools could not erase their part. The request is still there: ask again.
            StoreUnavailable: something may be left in the files of the store, until its next purge.
        """
        meta = await self.store.meta(request_id)
        await self.cancel(request_id)
        if meta is not None and self.brokers is not None:
            await self.brokers.forget(request_id, meta.photos)
        if meta is None or not await self.store.erase(request_id):
            return False
        self._observers.on_erased(meta)
        if scrub:
            await self.store.scrub()
        return True

    async def meta(self, request_id: str, caller: Caller) -> RunMeta:
        """Raises NotFound for requests that are unknown, erased, or of another key."""
        meta = await self.store.meta(request_id)
        if meta is None or meta.tenant != caller.name:
            raise _not_found(request_id)
        return meta

    async def continuation(
        self, request_id: str, asked: ContinueOptions, caller: Caller, photos: list[bytes]
    ) -> LocateBody:
        """A request that continues an earlier one of its caller, with further photos. Raises RequestError."""
        meta, identity, added = await self.meta(request_id, caller), self.ports.identity, len(photos)
        found = await continuation_of(self.store, meta, asked, identity, self._args.data_dir, added=added)
        return LocateBody(found.options, photos, found)

    async def file(self, meta: RunMeta, sha256: str) -> Attachment | None:
        """A file of a request. One that asks for its photo as it begins waits until the photo is there."""
        give_up_at = asyncio.get_running_loop().time() + _MAX_PHOTO_WAIT_S
        while (found := await self.store.file(meta.request_id, sha256)) is None and sha256 in meta.photos:
            if asyncio.get_running_loop().time() > give_up_at or not await self.store.is_open(meta.request_id):
                return None
            await asyncio.sleep(0.02)
        return found

    def attach_reader(self, request_id: str, grace_s: float, *, joins: bool = False) -> AbstractContextManager[None]:
        """While a reader is in this context, the work continues. If the last reader leaves early, it is cancelled after
        `grace_s`.

        `joins`: a reader of a request that another began; it keeps the work alive, but the work may not be its own to
        end.
        """
        return self._readers.attach_reader(request_id, grace_s, joins=joins)

    async def follow(self, request_id: str, *, after: int = 0) -> AsyncIterator[LogEntry | None]:
        """The log from `after` on; None is a heartbeat. Whatever becomes of the log, the last entry is `done`."""
        last_entry, last_seq, has_ended = None, after, False
        try:
            with boundary(StoreUnavailable, "reading the log"):
                async with closing(self._read_log(request_id, after)) as entries:
                    async for entry in entries:
                        if entry is not None:
                            last_entry, last_seq, has_ended = entry, entry.seq, entry.kind == "done"
                        elif has_ended:  # closing it takes the store a while
                            break
                        yield entry
            if has_ended or (last_seq and last_seq == after and await self.store.meta(request_id) is not None):
                return
            lost: StoreUnavailable = LogLost()
        except StoreUnavailable as error:
            if has_ended:
                return
            lost = error
        ends = ends_of_failure(lost.code, lost.status, lost.detail)
        for event in number_closing_events(ends, last_seq, seconds_of(last_entry)):
            yield LogEntry(event.seq, event.type, event.json_bytes())

    async def _read_log(self, request_id: str, after: int) -> AsyncIterator[LogEntry | None]:
        """What the store has, and an end for a request whose gateway was lost."""
        idle_s = min(self._config.heartbeat_s, self._config.lease_s)
        failures = 0
        async with closing(self.store.read(request_id, after=after, idle_s=idle_s)) as entries:
            async for entry in entries:
                try:
                    if entry is None:
                        await self._runner.end_orphan(request_id)
                    failures = 0
                except StoreUnavailable:
                    failures += 1
                    if failures > _MAX_END_FAILURES or self._runner.is_broken(request_id):
                        raise
                yield entry

    async def is_past(self, request_id: str, seq: int) -> bool:
        """Whether the log is closed and has nothing above `seq`."""
        async with closing(self.store.read(request_id, after=seq, idle_s=0.0)) as entries:
            async for _ in entries:
                return False
        return True

    async def result(self, request_id: str) -> Run:
        """The fold of the log, when the request is done."""
        if (run := await self._runner.wait(request_id)) is not None:
            return run
        return fold(await self.events_to_end(request_id))

    async def events_to_end(self, request_id: str) -> list[Event]:
        """The events of the log, when the request is done."""
        async with closing(self.follow(request_id)) as entries:
            found = [event_of(entry) async for entry in entries if entry is not None]
        return [event for event in found if event is not None]

    async def current_run(self, request_id: str) -> Run:
        """The fold of what there is now. Raises NotFound for a request that was erased meanwhile."""
        await self._runner.end_orphan(request_id)
        events = await logged_events(self.store, request_id)
        if not events and await self.store.meta(request_id) is None:
            raise _not_found(request_id)
        return fold(events)

    async def aclose(self) -> None:
        """Cancel what runs and let go of the store."""
        await self._runner.aclose()
        await self.webhooks.aclose()
        await close_each(self.ports.rollouts, self.ports.verifier)
        await self.store.aclose()
        if self._photo_process is not None:
            await self._photo_process.aclose()


def _not_found(request_id: str) -> NotFound:
    return NotFound(f"there is no request {request_id[:40]}: it never existed, or it was erased")


def _limit_cost(options: LocateOptions, caller: Caller) -> LocateOptions:
    """A request may not cost more than its key allows."""
    bounds = [usd for usd in (options.max_cost_usd, caller.max_cost_usd) if usd is not None]
    return options.model_copy(update={"max_cost_usd": min(bounds)}) if bounds else options
