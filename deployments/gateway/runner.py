"""Runs the requests of this gateway: one task for each, from the first event to the closed log.

Every log ends with `done` and is closed: by this gateway when the request is answered, fails or is cancelled; by
another gateway if this one is lost. The other gateway continues the work if it can (`Takeover`, ADR 0045), and
otherwise ends the log.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from contextvars import Context
from dataclasses import dataclass, field

from deployments.config import GatewayConfig
from deployments.gateway.admission import Admission
from deployments.gateway.closing_events import ends_of_failure, number_closing_events, seconds_of
from deployments.gateway.lease import Lease
from deployments.gateway.lease_renewal import LeaseRenewal
from deployments.gateway.precision.coarsening import Coarsening
from deployments.gateway.saved_request import TakenOver, before_second_checkpoints, save_checkpoint, save_request
from deployments.gateway.takeover import Takeover
from deployments.observability.request_observer import RequestObservers
from deployments.runstore import LogEntry, RunMeta, RunStore, StoreUnavailable
from deployments.wiring.brokers import Brokers
from tts.aio import Milestone, batches, cancel_and_wait, closing, run_in_background, spawn
from tts.domain.answer import StopReason
from tts.domain.events import Answered, Done, Event, Failed, LeftMachine
from tts.domain.request import LocateRequest
from tts.domain.trajectory import Run, fold
from tts.domain.usage import NO_USAGE
from tts.egress.records import EgressRecord
from tts.egress.request_egress import RequestEgress, write_to_log
from tts.errors import FatalError, GeoTTSError, boundary
from tts.pipeline import Solution
from tts.ports.request_ports import Ports
from tts.ports.rollout_groups import Checkpoint, MayBegin
from tts.ports.toolbox import Attachment

_log = logging.getLogger("geotts.gateway")
_UNFOLLOWED_WINDOW_S = 0.05
_MAX_UNRECORDED_ENDS = 1000
ATTENDED_S = 3.0  # a reader says twice in this time that it is there


@dataclass(slots=True)
class _Job:
    """`last_seq` is set before an entry is written: after a cancelled write nobody knows how far it came."""

    request: LocateRequest
    meta: RunMeta
    lease: Lease
    egress: RequestEgress
    attended: bool = True
    earlier: TakenOver | None = None  # what the gateway did that was lost
    last_seq: int = 0
    has_begun: bool = False
    rollouts_started: Milestone = field(default_factory=Milestone)
    solution: Solution | None = None
    run: Run | None = None  # all that the log says, once that came to its own end
    coarse_run: Run = field(default_factory=Run)  # where the log is coarser than what is known: what it says so far
    started_at_s: float = field(default_factory=time.perf_counter)
    task: asyncio.Task[None] | None = None


class Runner:
    """Runs requests, and renews their leases in the store."""

    def __init__(
        self,
        config: GatewayConfig,
        ports: Ports,
        store: RunStore,
        observers: RequestObservers,
        admission: Admission,
        brokers: Brokers | None = None,
        coarsening: Coarsening | None = None,
    ) -> None:
        self._config = config
        self._ports = ports
        self._store = store
        self._brokers = brokers
        self._observers = observers
        self._admission = admission
        self._coarsening = coarsening
        self._jobs: dict[str, _Job] = {}
        self._duties: list[asyncio.Task[None]] = []
        self._unrecorded_ends: dict[str, StoreUnavailable] = {}  # ended here, but the store could not record it
        self._takeover = Takeover(config, store, self)
        self._renewal = LeaseRenewal(store, config.lease_s, self._held_requests, self.cancel)

    def start_duties(self) -> None:
        """Renew leases, hear cancels, take over requests of lost gateways, and purge, until `aclose`."""
        if not self._duties or any(task.done() for task in self._duties):
            for task in self._duties:
                task.cancel()
            duties = [self._apply_cancels(), self._renewal.run(), self._purge_regularly()]
            if self._store.shared:
                duties.append(self._takeover.adopt())
            self._duties = [spawn(duty, name="gateway duty") for duty in duties]

    def launch(
        self,
        request: LocateRequest,
        meta: RunMeta,
        asked_at: float,
        rollouts_started: Milestone,
        *,
        attended: bool = True,
    ) -> None:
        """Start the work of a request whose log is open. `asked_at`: when the store was asked to open it, on the clock
        of the loop. `rollouts_started`: reached when its first rollout has asked its engine or has been sent to the
        process that does, or its work has ended. `attended`: somebody reads it.

        In a context of its own: Serve cancels what was called in the context of an HTTP request when its client goes
        away, but whether the work ends then is ours to say.
        """
        self.start_duties()
        lease = Lease(self._config.lease_s, asked_at)
        egress = self._ports.egress_of(request.id, meta.egress_before)
        self._start_job(_Job(request, meta, lease, egress, attended, rollouts_started=rollouts_started))

    def _start_job(self, job: _Job) -> None:
        self._observers.on_accepted(job.meta)  # it may refuse
        self._admission.count_start()
        self._jobs[job.request.id] = job
        job.task = spawn(self._run_job(job), name=f"solve {job.request.id}", context=Context())
        job.task.add_done_callback(lambda _: self._on_job_done(job))

    async def record_refusal(self, meta: RunMeta) -> None:
        """Tell what went out for a request that was never launched."""
        self.start_duties()
        self._observers.on_event(meta, LeftMachine(sent=meta.fetched))
        await write_to_log(self._brokers, [EgressRecord(meta.request_id, outgoing) for outgoing in meta.fetched])

    def is_running(self, request_id: str) -> bool:
        """Whether this gateway works on the request."""
        return request_id in self._jobs

    async def wait(self, request_id: str) -> Run | None:
        """Wait until a request has come to its end; what its log says, None when it did not end well, or not here.

        Raises:
            StoreUnavailable: it did not end well, and the log cannot record it.
        """
        job = self._jobs.get(request_id)
        if job is None or job.task is None:
            return None
        await asyncio.wait([job.task])
        if (broken := self._unrecorded_ends.get(request_id)) is not None:
            raise broken
        return job.run

    def is_broken(self, request_id: str) -> bool:
        """Whether a request ended here, but its end could not be written to the run store."""
        return request_id in self._unrecorded_ends

    def cancel(self, request_id: str) -> None:
        """Cancel without waiting; nothing when it does not run here."""
        job = self._jobs.get(request_id)
        if job is not None and job.task is not None:
            job.task.cancel()

    async def cancel_and_wait(self, request_id: str) -> None:
        """Cancel and wait until everything has stopped and the log is closed."""
        job = self._jobs.get(request_id)
        if job is not None and job.task is not None:
            await cancel_and_wait(job.task)
            if not job.has_begun:
                await self._write_closing_events(job.meta, job.egress, [Done(stop_reason=StopReason.CANCELLED)])

    def _on_job_done(self, job: _Job) -> None:
        del self._jobs[job.meta.request_id]
        job.rollouts_started.reach()
        seconds = time.perf_counter() - job.started_at_s
        self._admission.count_end(seconds)
        self._observers.on_end(job.meta, seconds, NO_USAGE if job.solution is None else job.solution.usage)
        if not job.has_begun:  # cancelled before its first step: its own handlers never ran
            ends = [Done(stop_reason=StopReason.CANCELLED)]
            spawn(self._write_closing_events(job.meta, job.egress, ends), name="end unstarted")

    async def _run_job(self, job: _Job) -> None:
        job.has_begun = True
        request, meta = job.request, job.meta
        watcher = spawn(self._cancel_when_unattended(meta), name=f"watch {request.id}") if meta.grace_s > 0 else None
        try:
            with boundary(FatalError, f"request {request.id}"):
                await self._solve(job)
        except GeoTTSError as error:
            _log.error("request failed: %s", error.detail, extra={"request_id": request.id})
            failure = error if isinstance(error, StoreUnavailable) else FatalError("the request failed unexpectedly")
            code = "internal" if isinstance(failure, FatalError) else failure.code
            await self._end_job(job, ends_of_failure(code, failure.status, failure.detail))
        except asyncio.CancelledError:
            await self._end_job(job, [Done(stop_reason=StopReason.CANCELLED)])
            raise
        else:
            await self._close_log(meta, failed=job.run is not None and job.run.failure is not None)
        finally:
            if watcher is not None:
                watcher.cancel()

    async def _solve(self, job: _Job) -> None:
        solution = job.solution = await (
            self._resumed_solution(job.earlier, job) if job.earlier else self._first_solution(job)
        )
        # the way to the engine, and from it to the reply, is free of the log when nobody follows it
        followed = job.request.followed
        batched = batches(solution.run, window_s=0.0 if followed else _UNFOLLOWED_WINDOW_S, patient=not followed)
        first_batch_logged = asyncio.Event()
        async with (
            run_in_background(self._attach_photos(job, first_batch_logged)) as attached,
            closing(batched) as recorded,
        ):
            async for batch in recorded:
                if any(isinstance(item, (Answered, Failed, Done)) for item in batch):
                    first_batch_logged.set()
                    await attached()  # it may fail: then that is the end of the request
                await self._record_batch(job, batch)
                first_batch_logged.set()
        job.run = solution.current_run if self._coarsening is None else job.coarse_run

    @property
    def _may_continue_elsewhere(self) -> bool:
        """Whether another gateway may go on with a request: not where its log holds less than its rollouts found."""
        return self._store.shared and self._coarsening is None

    async def _first_solution(self, job: _Job) -> Solution:
        """Keep what another gateway may need of the request; its photos go to the store beside the first turn."""
        wanted_s = job.request.options.wanted_s or self._config.default_deadline_s
        deadline_s = min(wanted_s, self._config.max_deadline_s)
        if self._may_continue_elsewhere:
            await save_request(self._store, job.request, attended=job.attended, deadline_s=deadline_s)
        begins, started = self._begin_condition(job), job.rollouts_started
        return Solution(job.request, self._ports, deadline_s, job.egress, may_begin=begins, rollouts_started=started)

    async def _resumed_solution(self, earlier: TakenOver, job: _Job) -> Solution:
        job.last_seq = earlier.resumed.run.last_seq
        may_begin = self._begin_condition(job)
        return Solution(job.request, self._ports, earlier.remaining_s, job.egress, earlier.resumed, may_begin)

    def _begin_condition(self, job: _Job) -> MayBegin | None:
        """What the work of a request waits for before it begins anything; nothing where there is one gateway only."""
        return job.lease.wait_until_valid if self._store.shared else None

    async def _attach_photos(self, job: _Job, first_batch_logged: asyncio.Event) -> None:
        """Beside the first turn: no rollout waits until the store has the photos."""
        await first_batch_logged.wait()
        for photo in () if job.earlier else job.request.photos:
            file = Attachment(sha256=photo.sha256, media_type=photo.media_type, data=photo.data)
            await self._store.attach(job.request.id, file)

    async def _record_batch(self, job: _Job, batch: Sequence[Event | Attachment | Checkpoint]) -> None:
        for part in before_second_checkpoints(batch):
            await self._record_part(job, part)

    async def _record_part(self, job: _Job, batch: Sequence[Event | Attachment | Checkpoint]) -> None:
        events: list[Event] = []
        checkpoints: list[Checkpoint] = []
        for item in batch:
            if isinstance(item, Checkpoint):
                checkpoints.append(item)
            elif not isinstance(item, Attachment):
                events.append(item)
            elif self._coarsening is None:
                await self._store.attach(job.request.id, item)
        if self._may_continue_elsewhere:
            for checkpoint in checkpoints:  # before the end of its turn is logged: so that turn is never done again
                await save_checkpoint(self._store, job.request.id, checkpoint)
        if events:
            job.last_seq = events[-1].seq
            logged = await self._write_events(job.meta, events)
            if self._coarsening is not None:
                job.coarse_run = fold(logged, job.coarse_run)

    async def _write_events(self, meta: RunMeta, events: Sequence[Event]) -> Sequence[Event]:
        """Write them to the log, coarse where it is coarser than what is known; what was written."""
        logged = events if self._coarsening is None else self._coarsening.events(events)
        if logged:
            await self._store.append(meta.request_id, [LogEntry(e.seq, e.type, e.json_bytes()) for e in logged])
        for event in events:
            self._observers.on_event(meta, event)
        return logged

    async def _end_job(self, job: _Job, ends: Sequence[Event]) -> None:
        """Without a store that can be written, a reader ends the log later: it has no lease any more."""
        try:
            before_s = 0.0 if job.earlier is None else job.earlier.resumed.elapsed_s
            elapsed_s = before_s + time.perf_counter() - job.started_at_s
            await self._write_closing_events(job.meta, job.egress, ends, job.last_seq, elapsed_s)
        except StoreUnavailable as error:
            _log.error("the end of a request was not recorded: %s", error.detail, extra={"request_id": job.request.id})
            if len(self._unrecorded_ends) >= _MAX_UNRECORDED_ENDS:
                self._unrecorded_ends.pop(next(iter(self._unrecorded_ends)))
            self._unrecorded_ends[job.request.id] = error

    async def _close_log(self, meta: RunMeta, *, failed: bool) -> None:
        """Of a log that has its own end already: nobody misses more if the store fails now. A request that `failed` may
        be tried again under its key.
        """
        try:
            if await self._store.close(meta) and meta.claim and failed:
                await self._store.release(meta.claim, meta.request_id)
        except StoreUnavailable as error:
            _log.warning("a log was not closed: %s", error.detail, extra={"request_id": meta.request_id})

    async def _write_closing_events(
        self, meta: RunMeta, egress: RequestEgress, ends: Sequence[Event], last_seq: int = 0, elapsed_s: float = 0.0
    ) -> None:
        """Close a log that did not come to its own end. Its key is given back: the same request may be tried again.
        The last of `ends` is `done`; what left the machine is told directly before it (ADR 0022).
        """
        left_machine = await egress.to_event()
        if left_machine is not None:
            ends = [*ends[:-1], left_machine, ends[-1]]
        await self._write_events(meta, number_closing_events(ends, last_seq, elapsed_s))
        if await self._store.close(meta) and meta.claim:
            await self._store.release(meta.claim, meta.request_id)

    async def end_orphan(self, request_id: str, *, at_once: bool = False) -> None:
        """See `Takeover.end`."""
        await self._takeover.end(request_id, at_once=at_once)

    def resume_request(self, earlier: TakenOver, meta: RunMeta, asked_at: float) -> None:
        """Start to work on a request that was taken over. `asked_at`: when the store was asked for it."""
        self._unrecorded_ends.pop(meta.request_id, None)
        egress = self._ports.egress_of(meta.request_id, meta.egress_before, complete=False)
        self._start_job(_Job(earlier.request, meta, Lease(self._config.lease_s, asked_at), egress, earlier=earlier))

    async def end_lost(self, meta: RunMeta, last_entry: LogEntry | None) -> None:
        """Close the log of a request that was taken over to be ended."""
        ends = ends_of_failure("gateway-lost", 503, "the gateway at work on this was lost; send it again")
        egress = self._ports.egress_of(meta.request_id, meta.egress_before, complete=False)
        last_seq = 0 if last_entry is None else last_entry.seq
        await self._write_closing_events(meta, egress, ends, last_seq, seconds_of(last_entry))
        self._unrecorded_ends.pop(meta.request_id, None)

    async def stop_unattended(self, request_id: str) -> None:
        """Stop the work, unless a reader at another gateway joined it: then as soon as that one has left, too."""
        job = self._jobs.get(request_id)
        if job is None:
            return
        try:
            attended_s = await self._store.attended_s(request_id)
        except StoreUnavailable:
            attended_s = 0.0
        while attended_s > 0 and request_id in self._jobs:
            await asyncio.sleep(attended_s)
            attended_s = await self._attended_s(request_id)
        self.cancel(request_id)

    async def _attended_s(self, request_id: str) -> float:
        try:
            return await self._store.attended_s(request_id)
        except StoreUnavailable:
            return ATTENDED_S  # readers cannot say now that they are there

    async def _cancel_when_unattended(self, meta: RunMeta) -> None:
        """Stop the work if there has been no reader for its grace time."""
        await self._store.attend(meta.request_id, meta.grace_s + ATTENDED_S)
        remaining_s = meta.grace_s
        while remaining_s > 0:
            await asyncio.sleep(remaining_s)
            remaining_s = await self._attended_s(meta.request_id)
        self.cancel(meta.request_id)

    def _held_requests(self) -> dict[str, tuple[RunMeta, Lease]]:
        return {request_id: (job.meta, job.lease) for request_id, job in self._jobs.items()}

    async def _apply_cancels(self) -> None:
        async with closing(self._store.cancels()) as asked:
            async for request_id in asked:
                self.cancel(request_id)

    async def _purge_regularly(self) -> None:
        while True:
            for purge in (self._store.purge, *((self._brokers.purge,) if self._brokers is not None else ())):
                try:
                    await purge()
                except GeoTTSError as error:
                    _log.warning("not everything was purged: %s", error.detail)
            await asyncio.sleep(min(60.0, max(1.0, self._config.retention_s / 4)))

    async def aclose(self) -> None:
        """Stop everything."""
        for request_id in list(self._jobs):
            await self.cancel_and_wait(request_id)
        for duty in self._duties:
            await cancel_and_wait(duty)
        await self._takeover.aclose()
