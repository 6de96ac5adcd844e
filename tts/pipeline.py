"""A request from its photos to its answer, in one file. Start reading here.

    accepted → route → N rollouts in groups, side by side, watched → verify → (escalate) → answer → what left → done

If the engine can see, the first rollout starts at once, and the photo is rated beside it. `solve` takes ports, and
yields one `answer` or `error`, then `done`, with rising `seq`. Closing it stops everything it started. Rollouts end
early enough for the verifier to answer in time. If none of them could work, that is an error, never an abstention.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from functools import partial

from tts.aio import Deadline, Milestone, Send, run_in_background, stream
from tts.assembly import answer_from
from tts.decision_weights import weights
from tts.domain.answer import Answer, StopReason, Verdict
from tts.domain.events import Answered, Done, Escalated, Event, Routed, Sequencer, VerifierText
from tts.domain.plan import Depth, Plan
from tts.domain.request import LocateRequest, RequestContext
from tts.domain.stop_policy import StopPolicy
from tts.domain.trace_context import TraceContext
from tts.domain.trajectory import Run
from tts.domain.usage import NO_USAGE, Usage
from tts.egress.request_egress import RequestEgress
from tts.ensemble.consensus_watch import ConsensusWatch
from tts.ensemble.ensemble import Ensemble, GroupPlan, LeaderPhase, Sink
from tts.ensemble.escalation import reason_to_escalate
from tts.ensemble.failed_tools import is_for_tools
from tts.ensemble.leader import LeaderRule, decide_first_calls, leading_point
from tts.ensemble.resumed_request import TESTS_CLAIM, ResumedRequest
from tts.ensemble.rollout_failures import failure_of_rollouts, stop_reason_of
from tts.errors import GeoTTSError
from tts.growing_run import GrowingRun
from tts.inference.unreported_gpu_time import UNREPORTED_GPU_TIME
from tts.ports.locator import UNRATED, Routing
from tts.ports.request_ports import Ports
from tts.ports.rollout_groups import Checkpoint, GroupRequest, MayBegin
from tts.ports.toolbox import Attachment
from tts.ports.verification import VerdictText, VerifyRequest
from tts.request_events import accepted_event, failed_event
from tts.request_seeds import request_seed, rollout_seed
from tts.telemetry import current_trace, span
from tts.verdict_call import VerifierPiece, ask_verifier
from tts.verify.claims.places_in_question import places_in_question
from tts.verify.verifiers.fallback import fallback_verdict

_VERIFIER_TIME_SHARE = weights("rollouts")["verifier_time"]
_MAX_VERIFIER_S = weights("rollouts")["verifier_most_s"]
_GRACE_S = 0.1
_LEADER_WAIT_S = 0.05  # how long the rating waits at most for the leader to ask its engine
_REQUEST_STOPS = (StopReason.DEADLINE, StopReason.QUORUM, StopReason.BUDGET)

Item = Event | Attachment
_RolledOut = tuple[Plan, Routing, StopReason | None]  # the last: why the rollouts were stopped


async def solve(
    request: LocateRequest, ports: Ports, *, deadline_s: float, egress: RequestEgress | None = None
) -> AsyncIterator[Item]:
    """Locate the photos of a request. Yields numbered events, and attachments for the files of the request.

    Args:
        request: the photos and the options.
        ports: the parts of the service that work on it.
        deadline_s: seconds from now until the answer is due.
        egress: records what leaves the machine; its maker can read it also when this is closed early. None: a new one.
    """
    solution = Solution(request, ports, deadline_s, egress)
    async with aclosing(stream(solution.run)) as items:
        async for item in items:
            if not isinstance(item, Checkpoint):
                yield item


class Solution:
    """One request, from its photos to its answer; a caller takes its items in batches. Its time starts with `__init__`.
    Its state is the fold of its events.

    Args:
        request: the photos and the options; the plan keeps to the budget that the options state.
        ports: the parts of the service that work on it.
        deadline_s: seconds from now until the answer is due.
        egress: records what leaves the machine for the request. None: a new one.
        resumed: the state in which a lost process left the request. None: it starts from the beginning.
        may_begin: the verifier waits until this returns. None: it need not wait.
        rollouts_started: reached when the first rollout has asked its engine, or has been sent to the process that
            does; others may wait for it.
    """

    def __init__(
        self,
        request: LocateRequest,
        ports: Ports,
        deadline_s: float,
        egress: RequestEgress | None = None,
        resumed: ResumedRequest | None = None,
        may_begin: MayBegin | None = None,
        rollouts_started: Milestone | None = None,
    ) -> None:
        self._resumed_request = resumed
        self._may_begin = may_begin
        self._rollouts_started = rollouts_started or Milestone()
        run_before, before_s = (Run(), 0.0) if resumed is None else (resumed.run, resumed.elapsed_s)
        self._growing_run = GrowingRun(run_before)
        self._options = decide_first_calls(ports.router.within_budget(request.options), ports.watch)
        self._request = replace(request, options=self._options)
        self._ports = ports
        self._egress = egress or ports.egress_of(request.id)
        self._sequencer = Sequencer(asyncio.get_running_loop().time, last_seq=run_before.last_seq, elapsed_s=before_s)
        self._deadline = Deadline(deadline_s)
        self._verifier_s = min(_MAX_VERIFIER_S, _VERIFIER_TIME_SHARE * deadline_s)
        self._seed = request_seed(self._request)
        self._other_usage = NO_USAGE  # of models asked by locator and verifier, and GPU time of what was cut off
        self._descriptions: dict[str, str] = {}  # an observer's text on each photo, by SHA-256
        self._n_blind: int | None = None  # rollouts that do not know the claim, once others test it
        self._parent: TraceContext | None = None
        self._phase_times_s: dict[str, float] = {}

    @property
    def current_run(self) -> Run:
        """What was sent, folded."""
        return self._growing_run.run

    @property
    def usage(self) -> Usage:
        """What its rollouts have used so far, and what else was used for it."""
        return sum((trajectory.usage for trajectory in self.current_run.trajectories), self._other_usage)

    @property
    def _budget_usage(self) -> Usage:
        """What counts against budgets: all of the rollouts, and the money for the models of locator and verifier."""
        return sum((one.usage for one in self.current_run.trajectories), Usage(cost_usd=self._other_usage.cost_usd))

    async def run(self, send: Send[Item | Checkpoint]) -> None:
        """Send numbered events, attachments for the files of the request, and the checkpoints of its rollouts."""
        self._send = send
        stop = StopReason.FAILED
        with span("request", parent=self._request.trace, request_id=self._request.id, n=self._options.n_parallel):
            self._parent = current_trace()
            if self.current_run.accepted is None:
                await self._emit(accepted_event(self._request, self._ports.identity, self._seed))
            if self.current_run.answer is not None:
                stop = self.current_run.answer.stop_reason
            elif self.current_run.failure is None:
                stop = await self._conclude()
            if (egress := await self._egress.to_event()) is not None:
                await self._emit(egress)
            await self._emit(Done(stop_reason=stop))

    async def _conclude(self) -> StopReason:
        try:
            try:
                verdict, stop = await self._roll_out_and_verify()
            finally:
                self._other_usage += Usage(gpu_s=max(0.0, UNREPORTED_GPU_TIME.take(self._request.id)))
            await self._emit(Answered(answer=self._answer(verdict, stop)))
        except GeoTTSError as error:
            await self._emit(failed_event(error))
            return StopReason.FAILED
        return stop

    async def _roll_out_and_verify(self) -> tuple[Verdict, StopReason]:
        """Roll out and verify, and once more a little harder as long as that is called for and affordable."""
        ensemble = self._first_ensemble()
        plan, routing, cut = await self._start_rollouts(ensemble)
        while True:
            failed = failure_of_rollouts(self.current_run, self._ports.identity.endpoint)
            if failed is not None and not is_for_tools(failed):
                raise failed
            request = self._verify_request(routing)  # of rollouts that only lacked tools there is nothing to verify
            verdict = await self._verify(request) if failed is None else fallback_verdict(request, failed.detail)
            final = cut is StopReason.DEADLINE or self._n_blind is not None  # a claim is tested when nothing is added
            harder = None if final else self._harder_plan(ensemble, plan, verdict)
            if harder is None and failed is not None:
                raise failed
            if harder is None:
                stop = cut if cut in _REQUEST_STOPS else stop_reason_of(self.current_run)
                return await self._test_claim(ensemble, plan, routing, verdict), stop
            plan, why = harder
            await self._emit(Escalated(reason=why, added=plan.n_planned, plan=plan))
            cut = await self._roll_out(ensemble, plan, routing)

    async def _start_rollouts(self, ensemble: Ensemble) -> _RolledOut:
        if self._resumed_request is not None:
            return await self._resume_rollouts(ensemble, self._resumed_request)
        return await (self._roll_out_with_leader if self._ports.watch.leader else self._rate_and_roll_out)(ensemble)

    async def _resume_rollouts(self, ensemble: Ensemble, resumed: ResumedRequest) -> _RolledOut:
        """Read the photos again, and continue the rollouts of the process that was lost."""
        routing = await self._rate_with_fallback()
        opened = self._ports.router.opening(self._options) if self._ports.watch.leader else None
        plan = resumed.plan or await self._decide(routing, opened)
        group, total = self._group(plan, routing), resumed.n_planned(plan)
        self._n_blind = None if resumed.tests is None else total
        cut = await ensemble.resume(group, resumed, total, self._rollout_deadline(group))
        self._mark_time("rollouts_s")
        return plan, routing, cut

    async def _rate_and_roll_out(self, ensemble: Ensemble) -> _RolledOut:
        """Rate the photos, plan, and roll out."""
        routing = await self._route()
        plan = await self._decide(routing)
        return plan, routing, await self._roll_out(ensemble, plan, routing)

    async def _roll_out_with_leader(self, ensemble: Ensemble) -> _RolledOut:
        """Roll out from the first moment; the photos are rated beside the leader, and planned for when they are."""
        opening = self._ports.router.opening(self._options)
        plans: list[tuple[Plan, Routing]] = []
        automatic = self._options.depth is Depth.AUTO and opening.n_planned > 1

        async def join(routing: Routing) -> GroupPlan:
            plans.append((await self._decide(routing, opening), routing))
            return GroupPlan(self._group(plans[0][0], routing), plans[0][0].n_planned)

        group = self._group(opening, UNRATED)
        width = self._ports.watch.width if automatic else "full"
        async with run_in_background(self._rate_after_leader()) as rating:
            company = LeaderPhase(
                rate=rating,
                join=join,
                rule=LeaderRule.for_request(self._options, self._ports.watch, opening.n_planned, self._deadline, width),
                planned=None if automatic else GroupPlan(group, opening.n_planned),
            )
            cut = await ensemble.run_with_leader(group, company, self._rollout_deadline(group))
            if not plans:
                needed = (automatic or self._request.states_something) and cut is not StopReason.DEADLINE
                await join(await rating() if needed else UNRATED)
        self._mark_time("rollouts_s")
        return *plans[0], cut

    async def _rate_after_leader(self) -> Routing:
        await self._rollouts_started.wait(at_most_s=_LEADER_WAIT_S)  # the threads that rate would keep the leader back
        return await self._rate_with_fallback()

    async def _rate_with_fallback(self) -> Routing:
        """What the photos are rated; unrated where that fails, as rollouts have begun without it."""
        try:
            async with asyncio.timeout(max(0.05, self._deadline.remaining_s() - self._verifier_s)):
                return await self._route()
        except (TimeoutError, GeoTTSError):
            return UNRATED

    async def _decide(self, routing: Routing, opened: Plan | None = None) -> Plan:
        plan = self._ports.router.plan(self._options, routing, opened=opened)
        await self._emit(Routed(locatability=routing.locatability, plan=plan))
        return plan

    async def _test_claim(self, blind: Ensemble, plan: Plan, routing: Routing, verdict: Verdict) -> Verdict:
        """The verdict, with the check of a claim by rollouts that know of it, where there is one and time for it."""
        if self._resumed_request is not None and self._resumed_request.tests is not None:
            return await self._resume_test(self._resumed_request, self._resumed_request.tests, blind, routing, verdict)
        if not self._request.claimed or self._deadline.remaining_s() < 2.0 * blind.longest_s + self._verifier_s:
            return verdict
        testing = self._ports.router.testing(plan, self._options, started=blind.n_started, spent=self._budget_usage)
        if testing is None:
            return verdict
        await self._emit(Escalated(reason=TESTS_CLAIM, added=testing.n_planned, plan=testing))
        self._n_blind = len(self.current_run.trajectories)
        group = replace(self._group(testing, routing), testing=places_in_question(self._request.claimed, verdict))
        await self._testing_ensemble(blind).run(group, testing.n_planned, self._rollout_deadline(group))
        return await self._verify(self._verify_request(routing))

    async def _resume_test(
        self, resumed: ResumedRequest, tests: Escalated, blind: Ensemble, routing: Routing, verdict: Verdict
    ) -> Verdict:
        """The test goes on that a lost process began."""
        group = replace(self._group(tests.plan, routing), testing=places_in_question(self._request.claimed, verdict))
        await self._testing_ensemble(blind).resume(group, resumed, tests.added, self._rollout_deadline(group))
        return await self._verify(self._verify_request(routing))

    def _testing_ensemble(self, blind: Ensemble) -> Ensemble:
        """Rollouts that test a claim never stop each other: each of them is asked for."""
        watch = ConsensusWatch(StopPolicy.parse("none"), self._options.target_radius_km, self._ports.watch.guesses)
        return self._make_ensemble(watch, numbered_from=blind.n_started)

    def _first_ensemble(self) -> Ensemble:
        watch, radius_km = self._ports.watch, self._options.target_radius_km
        policy = StopPolicy.parse(self._options.stop or watch.stop)
        self._watch = ConsensusWatch(policy, radius_km, watch.guesses, led=watch.leader, experience=watch.experience)
        return self._make_ensemble(self._watch)

    def _make_ensemble(self, watch: ConsensusWatch, *, numbered_from: int = 0) -> Ensemble:
        sink = Sink(self._emit, self._send, self._send, run=lambda: self.current_run, descriptions=self._descriptions)
        rollouts, settings, most = self._ports.rollouts, self._ports.watch, self._options.max_tokens_total
        return Ensemble(rollouts, settings, watch, sink, partial(rollout_seed, self._seed), most, numbered_from)

    def _harder_plan(self, ensemble: Ensemble, plan: Plan, verdict: Verdict) -> tuple[Plan, str] | None:
        """The next plan and why it is needed; None when it is not, or when there is no time for it."""
        agreement = partial(self._watch.agreement, self.current_run.trajectories)
        why = reason_to_escalate(self._options, plan.depth, self.current_run, agreement, verdict)
        if why is None or self._deadline.remaining_s() < 2.0 * ensemble.longest_s + self._verifier_s:
            return None
        harder = self._ports.router.escalate(plan, self._options, started=ensemble.n_started, spent=self._budget_usage)
        return None if harder is None else (harder, why)

    async def _route(self) -> Routing:
        context = self._paid_context(self._deadline.remaining_s())
        with span("route"):
            routing = await self._ports.locator.rate(self._request.photos, context)
        self._other_usage += routing.usage
        self._descriptions |= {description.photo_sha256: description.text for description in routing.described}
        self._mark_time("routed_s")
        return routing

    async def _roll_out(self, ensemble: Ensemble, plan: Plan, routing: Routing) -> StopReason | None:
        """Run the planned rollouts; why they were stopped, None when all ended by themselves."""
        group = self._group(plan, routing)
        rule = LeaderRule.for_request(self._options, self._ports.watch, plan.n_planned, self._deadline)
        cut = await ensemble.run(group, plan.n_planned, self._rollout_deadline(group), rule)
        self._mark_time("rollouts_s")
        return cut

    def _rollout_deadline(self, group: GroupRequest) -> Deadline:
        return Deadline(group.context.remaining_s + min(_GRACE_S, 0.5 * self._verifier_s))

    def _group(self, plan: Plan, routing: Routing) -> GroupRequest:
        return GroupRequest(
            context=self._context(max(0.05, self._deadline.remaining_s() - self._verifier_s)),
            photos=self._request.photos,
            tasks=(),
            n_total=plan.n_planned,
            limits=plan.limits,
            options=self._options,
            use_tools=plan.use_tools,
            leader=leading_point(self.current_run),
            readings=routing.readings,
            followed=self._request.followed,
            continued=self._request.continued,
            kept=self._request.kept,
            may_begin=self._may_begin,
            when_sent=self._rollouts_started.reach,
        )

    def _verify_request(self, routing: Routing) -> VerifyRequest:
        return VerifyRequest(
            context=self._paid_context(max(0.05, self._deadline.remaining_s())),
            photos=self._request.photos,
            options=self._options,
            trajectories=self.current_run.trajectories[: self._n_blind],
            readings=routing.readings,
            claimed=self._request.claimed,
            testing=() if self._n_blind is None else self.current_run.trajectories[self._n_blind :],
            inquiry=self.current_run.inquiry,
        )

    async def _verify(self, request: VerifyRequest) -> Verdict:
        """The verifier's verdict; its failure or silence never costs the caller an answer."""
        verdict, problem = await ask_verifier(
            self._ports.verifier, request, self._deadline, self._receive_from_verifier, self._may_begin
        )
        self._mark_time("verified_s")
        return verdict or fallback_verdict(request, problem or "the verifier gave no verdict")

    async def _receive_from_verifier(self, piece: VerifierPiece) -> None:
        if isinstance(piece, Usage):
            self._other_usage += piece
        else:
            await self._emit(VerifierText(text=piece.text) if isinstance(piece, VerdictText) else piece)

    async def _emit(self, event: Event) -> None:
        numbered = self._sequencer(event)
        self._growing_run.add(numbered)
        if event.type == "hypothesis":
            self._phase_times_s.setdefault("first_hypothesis_s", numbered.t_s)
        elif event.type in ("rollout_started", "rollout_resumed"):
            self._rollouts_started.reach()  # it asked its engine while this event was on its way here
        await self._send(numbered)

    def _answer(self, verdict: Verdict, stop: StopReason) -> Answer:
        return answer_from(
            verdict,
            self.current_run,
            beside=self._other_usage,
            identity=self._ports.identity,
            stop_reason=stop,
            marks={**self._phase_times_s, "total_s": self._sequencer.elapsed_s()},
            file_claims=self._request.file_claims,
            check_files=self._options.claims,
            continued=self._request.continued,
            budget=self._options.budget,
            states_something=self._request.states_something,
        )

    def _mark_time(self, name: str) -> None:
        self._phase_times_s[name] = self._sequencer.elapsed_s()

    def _context(self, remaining_s: float) -> RequestContext:
        seen = dict(self._descriptions)  # rollouts that start from now on have them, in whatever process
        return RequestContext(id=self._request.id, remaining_s=remaining_s, trace=self._parent, described=seen)

    def _paid_context(self, remaining_s: float) -> RequestContext:
        """With the money that is left for the models of locator and verifier."""
        money_usd = self._ports.router.money_usd(self._options)
        left_usd = None if money_usd is None else max(0.0, money_usd - self._budget_usage.cost_usd)
        return self._context(remaining_s).model_copy(update={"money_left_usd": left_usd})
