"""Runs the rollouts of one request concurrently, until all have ended or waiting for the others is not worth its cost.

`tts.ensemble.stop_decision` decides when rollouts are stopped, and why. A rollout that is stopped is closed at its
source, so the engine forgets it; it keeps its best hypothesis, and its last event has the reason. Rollouts may be added
to a running request: the place of a straggler, or an escalation.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from tts.aio import Deadline, GrowingMerge
from tts.domain.answer import StopReason
from tts.domain.description import Description
from tts.domain.events import Event, Hypothesised, RolloutFinished, RolloutResumed, TurnFinished
from tts.domain.stop_settings import WatchSettings
from tts.domain.trajectory import Run
from tts.ensemble.consensus_watch import ConsensusWatch
from tts.ensemble.first_description import FirstDescription, with_descriptions
from tts.ensemble.first_turn import LEADER
from tts.ensemble.leader import LeaderRule, named_directions
from tts.ensemble.resumed_request import ResumedRequest
from tts.ensemble.stop_decision import StopDecision
from tts.ports.locator import Routing
from tts.ports.rollout_groups import Checkpoint, GroupRequest, RolloutItem, Rollouts, RolloutTask
from tts.ports.toolbox import Attachment
from tts.rollout.group import split


@dataclass(frozen=True, slots=True)
class GroupPlan:
    """The plan that was made while the leader ran: the total number of rollouts, and the group of the others."""

    group: GroupRequest
    total: int


@dataclass(frozen=True, slots=True)
class LeaderPhase:
    """Work while a leader runs: `rate` rates the photo, `join` makes a plan from the rating and emits it.

    `planned` is known from the start where the caller named the depth, or where the photo was rated before; then
    `rate` and `join` may be None.
    """

    rate: Callable[[], Awaitable[Routing]] | None
    join: Callable[[Routing], Awaitable[GroupPlan]] | None
    rule: LeaderRule
    planned: GroupPlan | None = None


_RolloutMerge = GrowingMerge[Sequence[RolloutItem | Routing]]


@dataclass(frozen=True, slots=True)
class Sink:
    """Where events, files and checkpoints go, and the run that the events so far add up to.

    `descriptions` are an observer's texts on the photos, by SHA-256; rollouts that start later get them.
    """

    emit: Callable[[Event], Awaitable[None]]
    attach: Callable[[Attachment], Awaitable[None]]
    save: Callable[[Checkpoint], Awaitable[None]]
    run: Callable[[], Run]
    descriptions: dict[str, str]


class Ensemble:
    """All rollouts of one request, numbered from `numbered_from` on. `run` is called once, and again for every
    escalation.
    """

    def __init__(
        self,
        rollouts: Rollouts,
        settings: WatchSettings,
        watch: ConsensusWatch,
        sink: Sink,
        seed_for: Callable[[int], int],
        max_tokens_total: int | None,
        numbered_from: int = 0,
    ) -> None:
        self._rollouts = rollouts
        self._settings = settings
        self._watch = watch
        self._sink = sink
        cuts_stragglers = settings.stragglers != "wait" and watch.active
        self._stop_decision = StopDecision(max_tokens_total, cuts_stragglers=cuts_stragglers)
        self._seed_for = seed_for
        self._first_number = numbered_from
        self._started_at: dict[int, float] = {}
        self._durations_s: dict[int, float] = {}
        self._has_hedged = False
        self._n_planned = 0
        self._shown_consensus: object = None
        self._leader_phase: LeaderPhase | None = None
        self._group_plan: GroupPlan | None = None
        wait_s = settings.prefix_wait_s or 0.0 if settings.observer else 0.0
        self._description = FirstDescription(wait_s)

    @property
    def n_started(self) -> int:
        """How many rollouts were started so far, ended or not; replacements of stragglers count."""
        return len(self._started_at)

    @property
    def longest_s(self) -> float:
        """Seconds the slowest rollout that ended took."""
        return max(self._durations_s.values(), default=0.0)

    async def run(
        self, group: GroupRequest, added: int, deadline: Deadline, rule: LeaderRule | None = None
    ) -> StopReason | None:
        """Start `added` more rollouts like `group` and follow them; why they were stopped, None if they all ended.

        The first rollouts of a request wait for the directions of their leader if the `rule` says so.
        """
        if rule is not None and rule.directions_wait_s is not None and not self._started_at:
            return await self.run_with_leader(group, LeaderPhase(None, None, rule, GroupPlan(group, added)), deadline)
        self._n_planned = len(self._started_at) + added
        return await self._run_to_end(lambda merged: self._start(merged, group, added), group, deadline)

    async def resume(
        self, group: GroupRequest, resumed: ResumedRequest, total: int, deadline: Deadline
    ) -> StopReason | None:
        """Continue where a lost process stopped, until there are `total` rollouts. Finished rollouts are not repeated.

        Open rollouts continue from their checkpoints; without one they start again. The rest of `total` is new.
        """
        mine = range(self._first_number, self._first_number + total)
        started_before = {i: trajectory for i, trajectory in resumed.run.rollouts.items() if i in mine}
        ended = [i for i, trajectory in sorted(started_before.items()) if trajectory.stop_reason is not None]
        self._started_at = dict.fromkeys(mine, _now())
        self._durations_s = dict.fromkeys(ended, 0.0)
        self._n_planned = total
        for i in sorted(set(started_before) - set(ended) - set(resumed.checkpoints)):
            await self._sink.emit(RolloutResumed(rollout_id=i, from_turn=-1))
        open_ids = [i for i in mine if i not in ended]
        if not open_ids:
            return None
        whole = replace(group, files=dict(resumed.files))
        return await self._run_to_end(
            lambda merged: self._launch(merged, whole, open_ids, resumed.checkpoints), group, deadline
        )

    async def run_with_leader(self, group: GroupRequest, beside: LeaderPhase, deadline: Deadline) -> StopReason | None:
        """Start the first rollout at once, and others like `run` when the photo was rated and the rule lets them.

        All start at once where the plan is known and they do not wait for directions: in a group of their own an
        engine sees to its prefixes itself.
        """
        self._leader_phase = beside
        self._group_plan = beside.planned
        waits = beside.planned is None or beside.rule.directions_wait_s is not None
        self._n_planned = 1 if waits or beside.planned is None else beside.planned.total

        def begin(merged: _RolloutMerge) -> None:
            self._start(merged, group, self._n_planned)
            if beside.rate is not None:
                merged.add(_single_item(beside.rate))

        reason = await self._run_to_end(begin, group, deadline)
        self._leader_phase = None
        return reason

    async def _run_to_end(
        self, begin: Callable[[_RolloutMerge], None], group: GroupRequest, deadline: Deadline
    ) -> StopReason | None:
        """Follow the rollouts that `begin` starts, and end those that did not end by themselves."""
        merged: _RolloutMerge = GrowingMerge()
        async with merged:
            begin(merged)
            reason = await self._follow_rollouts(merged, group, deadline)
        if reason is not None:
            await self._finish_open_rollouts(reason)
        return reason

    def _current_run(self) -> Run:
        """What the events add up to, with the rollouts of this ensemble only."""
        run = self._sink.run()
        if not self._first_number:
            return run
        own = {number: rollout for number, rollout in run.rollouts.items() if number >= self._first_number}
        return run.model_copy(update={"rollouts": own})

    @property
    def _needs_no_rating(self) -> bool:
        """Whether the plan was known without it, so that nobody waits for a rating that takes longer than rollouts."""
        return self._leader_phase is not None and self._leader_phase.planned is not None

    def _start_waiting_rollouts(self, merged: _RolloutMerge) -> None:
        """Start the rollouts that were waiting for the leader, as far as its rule lets them."""
        if self._leader_phase is None or self._group_plan is None:
            return
        total = self._group_plan.total
        if len(self._started_at) >= total:
            return
        allowed = self._leader_phase.rule.n_allowed(
            self._current_run(), total, waited_s=_now() - self._started_at[LEADER]
        )
        missing = allowed - len(self._started_at)
        if missing > 0:
            self._n_planned = len(self._started_at) + missing
            self._start(merged, replace(self._group_plan.group, warm=True), missing)

    def _end_of_first_token_wait(self) -> float | None:
        """Until when siblings wait for the leader's first token, on the loop's clock; None when none waits for that."""
        if self._leader_phase is None or self._group_plan is None or len(self._started_at) >= self._group_plan.total:
            return None
        return self._leader_phase.rule.waits_until(self._started_at[LEADER], _now())

    def _start(self, merged: _RolloutMerge, group: GroupRequest, added: int) -> None:
        first = self._first_number + len(self._started_at)
        numbers = range(first, first + added)
        self._started_at |= dict.fromkeys(numbers, _now())
        self._launch(merged, group, numbers, {})

    def _launch(
        self, merged: _RolloutMerge, group: GroupRequest, numbers: Sequence[int], saved: Mapping[int, Checkpoint]
    ) -> None:
        group = replace(with_descriptions(group, self._sink.descriptions), n_total=max(group.n_total, self._n_planned))
        started_before = self._current_run().rollouts
        sources = {i: started_before[i].source for i in numbers if i in started_before}
        directions = named_directions(self._current_run())
        asks = group.diverse_first_calls and self._settings.asks_leader and group.n_total > 1
        tasks = [
            RolloutTask(
                rollout_id=i,
                seed=self._seed_for(i),
                resume_from=saved.get(i),
                source=sources.get(i, ""),
                direction="".join(directions[i : i + 1]) if i != LEADER else "",
                taken=(*directions[:i], *directions[i + 1 :]) if i != LEADER else (),
                name_directions=group.n_total if asks and i == LEADER else 0,
            )
            for i in numbers
        ]
        whole = replace(group, tasks=tuple(tasks))
        parts = split(len(tasks), self._rollouts.group_size(whole))
        groups = [replace(group, tasks=tuple(tasks[i] for i in ids)) for ids in parts]
        self._run_groups(merged, self._description.hold(groups, self._sink.descriptions, _now()))

    def _run_groups(self, merged: _RolloutMerge, groups: Sequence[GroupRequest]) -> bool:
        """Run the groups; whether there was any."""
        for group in groups:
            merged.add(self._rollouts.run(group))
        return bool(groups)

    async def _follow_rollouts(
        self, merged: _RolloutMerge, group: GroupRequest, deadline: Deadline
    ) -> StopReason | None:
        while True:
            wait_ends_at = self._end_of_first_token_wait()
            straggler_at = self._stop_decision.straggler_time(self._started_at, self._durations_s)
            until = min(
                at for at in (deadline.at, straggler_at, wait_ends_at, self._description.latest_start) if at is not None
            )
            batches = await merged.take(until=until)
            if batches is None:
                if (reason := self._handle_timeout(merged, group, deadline, wait_ends_at, until)) is not None:
                    return reason
                continue
            if not batches:
                if not self._run_groups(merged, self._description.release_all(self._sink.descriptions)):
                    return None
                continue
            news = await self._forward(batches)
            self._run_groups(merged, self._description.release(self._sink.descriptions, _now()))
            self._start_waiting_rollouts(merged)
            if news and (reason := await self._find_stop_reason()) is not None:
                return reason
            if self._needs_no_rating and len(self._durations_s) >= len(self._started_at):
                return None

    def _handle_timeout(
        self, merged: _RolloutMerge, group: GroupRequest, deadline: Deadline, wait_ends_at: float | None, until: float
    ) -> StopReason | None:
        """Handle the time-out at `until`; returns the reason if the running rollouts are to be stopped."""
        if deadline.has_passed:
            return StopReason.DEADLINE
        if until == self._description.latest_start:
            self._run_groups(merged, self._description.release_all(self._sink.descriptions))
        elif until == wait_ends_at:
            self._start_waiting_rollouts(merged)
        elif not self._start_replacements(merged, group):
            return StopReason.CANCELLED
        return None

    async def _forward(self, batches: Sequence[Sequence[RolloutItem | Routing]]) -> bool:
        """Pass items on; whether beliefs or costs may have changed."""
        news = False
        for batch in batches:
            saved = {(item.rollout_id, item.turn): item for item in batch if isinstance(item, Checkpoint)}
            for item in batch:
                if isinstance(item, TurnFinished) and (item.rollout_id, item.turn) in saved:
                    # it must be safe before anybody learns that its turn is finished
                    await self._sink.save(saved[item.rollout_id, item.turn])
                if isinstance(item, Attachment):
                    await self._sink.attach(item)
                elif isinstance(item, Description):
                    self._sink.descriptions.setdefault(item.photo_sha256, item.text)
                elif isinstance(item, Routing):
                    joins = self._leader_phase.join if self._leader_phase is not None else None
                    joined = await joins(item) if joins is not None else None
                    self._group_plan = self._group_plan or joined
                elif not isinstance(item, Checkpoint):
                    await self._sink.emit(item)
                    news = news or isinstance(item, RolloutFinished | Hypothesised)
                    if isinstance(item, RolloutFinished):
                        self._durations_s[item.rollout_id] = _now() - self._started_at.get(item.rollout_id, _now())
        return news

    async def _find_stop_reason(self) -> StopReason | None:
        """Why the rollouts that still run are not needed any more; None while they are, or when none is left."""
        run = self._current_run()
        outstanding = len(self._started_at) - sum(t.stop_reason is not None for t in run.trajectories)
        agreed = await self._emit_consensus(run, outstanding)
        if outstanding <= 0:
            return None
        return self._stop_decision.reason_to_stop(
            run, self._started_at, self._durations_s, wanted=self._n_planned, agreed=agreed
        )

    async def _emit_consensus(self, run: Run, outstanding: int) -> bool:
        """Emit the state of agreement when it changed; whether it is decided."""
        if len(self._started_at) < 2:
            return False
        consensus = self._watch.look(run.trajectories, len(self._started_at))
        shown = (consensus.clusters, consensus.finished, consensus.decided)
        if shown != self._shown_consensus:
            self._shown_consensus = shown
            await self._sink.emit(consensus)
        return consensus.decided and outstanding > 0

    def _start_replacements(self, merged: _RolloutMerge, group: GroupRequest) -> bool:
        """Run fresh rollouts beside the stragglers, once; whoever ends first counts. False: cut them instead."""
        if self._settings.stragglers != "hedge" or self._has_hedged:
            return False
        self._has_hedged = True
        self._start(merged, group, len(self._started_at) - len(self._durations_s))
        return True

    async def _finish_open_rollouts(self, reason: StopReason) -> None:
        """Rollouts that did not end by themselves keep their best hypothesis."""
        for trajectory in self._current_run().trajectories:
            if trajectory.stop_reason is None:
                await self._sink.emit(
                    RolloutFinished(
                        rollout_id=trajectory.rollout_id,
                        stop_reason=reason,
                        answer=trajectory.best,
                        usage=trajectory.usage,
                    )
                )


async def _single_item(work: Callable[[], Awaitable[Routing]]) -> AsyncIterator[Sequence[Routing]]:
    yield [await work()]


def _now() -> float:
    return asyncio.get_running_loop().time()
