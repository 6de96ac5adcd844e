"""One rollout: think, act, observe, until it answers or something is spent.

A bad rollout is data. Whatever happens inside (a crash of the engine or of a tool, a spent budget, the deadline), the
rollout ends with one `rollout_finished` that says why, with its answer or its best hypothesis, and its siblings go on.
After every turn it leaves a `Checkpoint`, from which it can be continued in another process.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from functools import partial

from tts.aio import Deadline, Send, closing, stream
from tts.dialects.base import Completion, ParsedTurn
from tts.domain.answer import StopReason
from tts.domain.events import (
    Hypothesised,
    RolloutFinished,
    RolloutResumed,
    RolloutStarted,
    ToolCalled,
    ToolResulted,
    TurnFinished,
)
from tts.domain.hypothesis import Hypothesis
from tts.domain.messages import Message, TextPart
from tts.domain.request import RequestContext
from tts.domain.tooling import ToolCall
from tts.domain.usage import Usage
from tts.errors import (
    DeadlineExceeded,
    FatalError,
    GeoTTSError,
    ModelError,
    ToolError,
    ToolErrorKind,
    boundary,
)
from tts.ports import (
    Checkpoint,
    GroupRequest,
    ModelRequest,
    RolloutItem,
    RolloutTask,
    ToolContext,
    ToolOutcome,
)
from tts.rollout.agent import Agent, Brief
from tts.rollout.budget import Budget
from tts.rollout.resolve import placed
from tts.rollout.speech import Sent, Speech, told
from tts.rollout.tally import calls_made
from tts.telemetry import span, traceparent
from tts.toolkit.toolbox import failed

_MAX_CORRECTIONS = 2
_FINAL_TURN_SHARE = 0.2
_FINAL_TURN_MAX_S = 15.0


async def roll_out(agent: Agent, group: GroupRequest, brief: Brief, task: RolloutTask, send: Send[Sent]) -> None:
    """Send events, checkpoints and attachments of one rollout. Cancelling it aborts the engine and the tools."""
    await _Rollout(agent, group, brief, task).run(send)


async def run_rollout(agent: Agent, group: GroupRequest, task: RolloutTask) -> AsyncIterator[RolloutItem]:
    """`roll_out` as an iterator. Closing it aborts the engine and the tools."""
    async with aclosing(stream(partial(roll_out, agent, group, agent.brief(group), task))) as items:
        async for item in items:
            for event in told([item]):
                yield event


class _Rollout:
    def __init__(self, agent: Agent, group: GroupRequest, brief: Brief, task: RolloutTask) -> None:
        self._agent, self._group, self._brief, self._task = agent, group, brief, task
        self._dialect = agent.dialect
        self._id = task.rollout_id
        self._deadline = Deadline(group.context.remaining_s)
        self._reserve_s = min(_FINAL_TURN_MAX_S, _FINAL_TURN_SHARE * group.context.remaining_s)
        self._schemas = brief.schemas
        self._budget = Budget(brief.limits)
        self._best: Hypothesis | None = None
        self._files: dict[str, bytes] = dict(group.files)
        self._corrections = 0
        self._messages: list[Message] = []

    async def run(self, send: Send[Sent]) -> None:
        await self._open(send)
        error = ""
        with span("rollout", parent=self._group.context.traceparent, rollout_id=self._id):
            try:
                async with self._deadline.timeout():
                    with boundary(ModelError, "rollout"):
                        stop = await self._turns(send)
            except (TimeoutError, DeadlineExceeded):
                stop = StopReason.DEADLINE
            except FatalError:
                raise
            except GeoTTSError as broken:
                stop, error = StopReason.FAILED, f"{broken.code}: {broken.detail}"
        await send(
            RolloutFinished(
                rollout_id=self._id, stop_reason=stop, answer=self._best, usage=self._budget.usage, error=error
            )
        )

    async def _open(self, send: Send[Sent]) -> None:
        saved = self._task.resume_from
        if saved is not None:
            self._messages = list(saved.messages)
            self._budget = self._budget.spend(saved.usage)
            self._budget = replace(
                self._budget, prompt_tokens=saved.prompt_tokens, observed_tokens=saved.observed_tokens
            )
            self._corrections = saved.corrections
            self._best = saved.best
            await send(RolloutResumed(rollout_id=self._id, from_turn=saved.turn))
            return
        self._messages = list(self._brief.opening)
        await send(RolloutStarted(rollout_id=self._id, seed=self._task.seed))

    async def _turns(self, send: Send[Sent]) -> StopReason:
        while True:
            turn = self._budget.usage.turns
            if self._budget.spent() is not None:
                return StopReason.BUDGET
            final = None if self._dialect.paper_mode else self._final_reason()
            if final is not None and turn > 0:
                self._ask(self._dialect.final_demand(final))
            with span("turn", turn=turn, rollout_id=self._id):
                parsed = await self._think_again(turn, send, final=final is not None)
                stop = await self._act(turn, parsed, send, final=final is not None)
            usage = self._budget.usage
            await send(TurnFinished(rollout_id=self._id, turn=turn, usage=usage))
            if stop is not None:
                return stop
            await send(
                Checkpoint(
                    rollout_id=self._id,
                    turn=turn,
                    messages=tuple(self._messages),
                    usage=usage,
                    corrections=self._corrections,
                    best=self._best,
                    prompt_tokens=self._budget.prompt_tokens,
                    observed_tokens=self._budget.observed_tokens,
                )
            )

    def _final_reason(self) -> str | None:
        """Why the coming turn is the last one, in the words of `final_demand`; None when it is not."""
        if self._budget.last_turn:
            return "turn budget"
        if self._schemas and self._budget.calls_left == 0:
            return "tool budget"
        if self._budget.tokens_left <= self._budget.answer_tokens:
            return "token budget"
        if self._deadline.remaining_s() < self._reserve_s:
            return "time"
        return None

    async def _think_again(self, turn: int, send: Send[Sent], *, final: bool) -> ParsedTurn:
        """A turn; once more when the engine was lost in the middle of it. What was said of it before is void then."""
        try:
            return await self._think(turn, send, final=final)
        except ModelError as lost:
            if not lost.fields.get("transient"):
                raise
        await send(RolloutResumed(rollout_id=self._id, from_turn=turn - 1))
        return await self._think(turn, send, final=final)

    async def _think(self, turn: int, send: Send[Sent], *, final: bool) -> ParsedTurn:
        """One generation: stream its text, parse it, keep it in the conversation."""
        kept_back = 0 if final or self._dialect.paper_mode else self._budget.answer_tokens
        request = ModelRequest(
            context=self._context(),
            session_id=f"{self._group.context.id}/{self._id}",
            messages=tuple(self._messages),
            sampling=self._dialect.sampling(
                rollout_id=self._id,
                n=self._group.n_total,
                seed=self._task.seed,
                turn=turn,
                max_tokens=max(1, self._budget.tokens_left - kept_back),
            ),
            photos=self._group.photos,
            files=self._files,
            tools=() if final else self._schemas,
            listed_tools=self._dialect.listed(self._schemas),
            pictures=self._dialect.pictures,
            readings=self._group.readings,
            within=self._group.within,
        )
        text: list[str] = []
        calls: list[ToolCall] = []
        token_ids: list[int] = []
        usage, truncated = Usage(), False
        speech = Speech(self._id, turn, send)
        with boundary(ModelError, f"engine {self._agent.model.name}"):
            async with closing(self._agent.model.generate(request)) as deltas:
                async for delta in deltas:
                    for sent in delta.sent:
                        await send(sent)
                        speech.pause()
                    if delta.text:
                        text.append(delta.text)
                        await speech.say(delta.text)
                    calls += delta.tool_calls
                    token_ids += delta.token_ids
                    usage = delta.usage or usage
                    truncated = truncated or delta.finish_reason == "length"
        self._budget = self._budget.spend(usage + Usage(turns=1, model_calls=1))
        if self._dialect.counts_observations:
            self._budget = self._budget.observe(usage)
        written = "".join(text)
        self._messages.append(
            Message(
                role="assistant",
                parts=(TextPart(text=written),) if written else (),
                tool_calls=tuple(calls),
                token_ids=tuple(token_ids) or None,
            )
        )
        return self._dialect.parse(Completion(written, tuple(calls), truncated), turn=turn)

    async def _act(self, turn: int, parsed: ParsedTurn, send: Send[Sent], *, final: bool) -> StopReason | None:
        """Do what the turn asks for; returns why the rollout ends, or None when it goes on."""
        await self._state(turn, parsed, send)
        if parsed.answer is not None:
            return StopReason.ANSWERED
        if final:
            return StopReason.BUDGET
        if parsed.calls and self._schemas:
            await self._observe(turn, parsed.calls, send)
            return None
        problem = parsed.problem or ("there are no tools here" if parsed.calls else "nothing usable was in it")
        self._corrections += 1
        if self._corrections > _MAX_CORRECTIONS or self._dialect.paper_mode:
            raise ModelError(f"{self._corrections} turns could not be used: {problem}")
        self._ask(self._dialect.correction(problem))
        return None

    def _ask(self, message: Message) -> None:
        """Say something to the model; after a correction it joins that, as some templates want turns to alternate."""
        before = self._messages[-1]
        if self._corrections and before.role == "user" and before.result is None:
            parts = (*before.parts, TextPart(text="\n"), *message.parts)
            self._messages[-1] = before.model_copy(update={"parts": parts})
        else:
            self._messages.append(message)

    async def _state(self, turn: int, parsed: ParsedTurn, send: Send[Sent]) -> None:
        """Tell what the turn states, with what the conversation adds to it; keep it when it is the best so far."""
        stated = parsed.answer or parsed.hypothesis
        if stated is None:
            return
        stated = self._dialect.settle(await self._located(turn, stated, parsed.lookups, send), self._messages)
        if parsed.answer is None and stated.abstains and not stated.claims:
            return
        self._best = stated if parsed.answer is not None or not stated.abstains else self._best
        await send(Hypothesised(rollout_id=self._id, turn=turn, hypothesis=stated))

    async def _located(
        self, turn: int, stated: Hypothesis, lookups: tuple[ToolCall, ...], send: Send[Sent]
    ) -> Hypothesis:
        """An answer that only names its place, with the point of the first lookup that finds it."""
        for call in lookups:
            await send(ToolCalled(rollout_id=self._id, turn=turn, call=call))
            result = (await self._run_tool(call)).result
            await send(ToolResulted(rollout_id=self._id, turn=turn, result=result))
            self._budget = self._budget.spend(Usage(tool_calls=1, tool_errors=not result.ok))
            if (found := placed(stated, result)) is not None:
                return found
        return stated

    async def _observe(self, turn: int, calls: tuple[ToolCall, ...], send: Send[Sent]) -> None:
        """Run the calls of a turn side by side; their results enter the conversation in the order of the calls."""
        for call in calls:
            await send(ToolCalled(rollout_id=self._id, turn=turn, call=call))
        allowed = min(self._dialect.calls_per_turn, self._budget.calls_left)
        outcomes: list[ToolOutcome] = []
        try:
            async with asyncio.TaskGroup() as running:
                tasks = [running.create_task(self._call(call)) for call in calls[:allowed]]
            outcomes = [task.result() for task in tasks]
        except BaseExceptionGroup as crashes:
            raise crashes.exceptions[0] from None
        refusal = ToolError(f"not run: {allowed} calls were possible in this turn", kind=ToolErrorKind.BUDGET)
        outcomes += [failed(call, refusal) for call in calls[allowed:]]
        for outcome in outcomes:
            for attachment in outcome.attachments:
                self._files[attachment.sha256] = attachment.data
                await send(attachment)
            await send(ToolResulted(rollout_id=self._id, turn=turn, result=outcome.result))
        results = [outcome.result for outcome in outcomes]
        self._budget = self._budget.spend(
            Usage(
                tool_calls=min(len(calls), allowed),
                tool_errors=sum(not result.ok for result in results),
                cache_hits=sum(result.cached for result in results),
            )
        )
        self._messages += self._dialect.observation(tuple(outcomes))

    async def _call(self, call: ToolCall) -> ToolOutcome:
        """One call of the model, under its names; refused when it is none of the tools it was offered."""
        if (refusal := self._refusal(call)) is not None:
            return failed(call, refusal)
        outcome = await self._run_tool(self._dialect.to_tool(call, self._group.photos))
        if outcome.result.name == call.name:
            return outcome
        renamed = outcome.result.model_copy(update={"name": call.name})
        return ToolOutcome(renamed, outcome.attachments)

    def _refusal(self, call: ToolCall) -> ToolError | None:
        offered = [schema.name for schema in self._schemas]
        if call.name not in offered:
            known = ", ".join(offered)
            return ToolError(f"there is no tool {call.name!r}; there are: {known}", kind=ToolErrorKind.UNKNOWN_TOOL)
        limit = self._dialect.calls_per_tool.get(call.name)
        if limit is not None and calls_made(self._messages, call.name) >= limit:
            return ToolError(f"{call.name} may be called {limit} times only", kind=ToolErrorKind.BUDGET)
        return None

    async def _run_tool(self, call: ToolCall) -> ToolOutcome:
        with span("tool", tool=call.name, rollout_id=self._id):
            if self._group.tools is not None and call.name not in self._group.tools:
                refusal = ToolError(f"{call.name} is not allowed in this request", kind=ToolErrorKind.NOT_ALLOWED)
                return failed(call, refusal)
            group = self._group
            context = ToolContext(self._context(), group.photos, group.within, hide_photo_hosts=group.hide_photo_hosts)
            return await self._agent.toolbox.call(call, context)

    def _context(self) -> RequestContext:
        before = self._group.context
        return before.model_copy(
            update={"remaining_s": self._deadline.remaining_s(), "traceparent": traceparent() or before.traceparent}
        )
