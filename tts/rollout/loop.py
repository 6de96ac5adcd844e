"""One rollout: think, act, observe, until it answers or something is spent.

A failed rollout is a result, too. Whatever happens inside (a crash of the engine or of a tool, a spent budget, the
deadline), the rollout ends with one `rollout_finished` that says why, with its answer or its best hypothesis, and its
siblings continue. After every turn it emits a `Checkpoint`, from which it can be continued in another process.
"""

from __future__ import annotations

from collections.abc import Sequence

from tts.aio import Deadline, Send, closing
from tts.decision_weights import weights
from tts.dialects.base import Completion, FinishedTurn, ParsedTurn
from tts.dialects.prose_abstention import is_abstention
from tts.dialects.released.written_call import as_plain_call
from tts.dialects.stated_answer import StatedAnswer
from tts.domain.answer import StopReason
from tts.domain.cues import Cues
from tts.domain.events import (
    Hypothesised,
    RolloutFinished,
    RolloutResumed,
    RolloutStarted,
    ToolCalled,
    ToolResulted,
    TurnFinished,
)
from tts.domain.failure import RolloutFailure
from tts.domain.hypothesis import Hypothesis, Level
from tts.domain.messages import Message, ProviderFields, TextPart
from tts.domain.request import RequestContext
from tts.domain.tooling import ToolCall
from tts.domain.usage import NO_USAGE, Usage
from tts.errors import DeadlineExceeded, FatalError, GeoTTSError, GivenAway, ModelError, MoneySpent, boundary
from tts.gen_ai import rollout_span, traced_generation
from tts.inference.token_estimate import prompt_tokens_about, tokens_about, usage_about
from tts.ports.model_client import ModelRequest
from tts.ports.rollout_groups import Checkpoint, GroupRequest, RolloutTask
from tts.ports.toolbox import ToolOutcome
from tts.rollout.agent import Agent, Brief, opening_of
from tts.rollout.answer_draws import are_wanted
from tts.rollout.answer_geocoding import answer_at_place
from tts.rollout.budget import RolloutBudget, final_turn_s
from tts.rollout.draw_timing import AnswerDrawing
from tts.rollout.first_turn import first_cues
from tts.rollout.text_coalescer import RolloutOutput, TextCoalescer
from tts.rollout.tool_runner import ToolRunner
from tts.rollout.usable_turn import problem_of
from tts.telemetry import current_trace, span

_MAX_CORRECTIONS = int(weights("rollouts")["most_corrections"])
_ONE_TURN = Usage(turns=1, model_calls=1)
_REMEDY = "serve the model as it was trained (--profile), or name a stronger one: docs/dialects.md"


async def run_agent(
    agent: Agent, group: GroupRequest, brief: Brief, task: RolloutTask, send: Send[RolloutOutput]
) -> None:
    """Send events, checkpoints and attachments of one rollout. Cancelling it aborts the engine and the tools."""
    await _Rollout(agent, group, brief, task).run(send)


class _Rollout:
    def __init__(self, agent: Agent, group: GroupRequest, brief: Brief, task: RolloutTask) -> None:
        self._agent = agent
        self._group = group
        self._brief = brief
        self._task = task
        self._dialect = brief.dialect
        self._id = task.rollout_id
        self._deadline = Deadline(group.context.remaining_s)
        self._reserve_s = final_turn_s(group.context.remaining_s)
        self._budget = RolloutBudget(brief.limits, price=getattr(agent.model, "price", None))
        self._best: Hypothesis | None = None
        self._files: dict[str, bytes] = dict(group.files)
        self._corrections = 0
        self._was_truncated = False
        self._messages: list[Message] = []
        self._answer_drawing = AnswerDrawing(agent.model, brief.dialect, self._deadline, self._reserve_s)
        self._tool_runner = ToolRunner(agent.toolbox, group, brief, self._id)

    async def run(self, send: Send[RolloutOutput]) -> None:
        await self._start_or_resume(send)
        failure: RolloutFailure | None = None
        with rollout_span(self._group.context.trace, self._group.context.id, self._id, self._agent.model):
            try:
                async with self._deadline.timeout():
                    with boundary(ModelError, "rollout"):
                        stop = await self._record_concluding_answer(await self._run_turns(send), send)
                        self._budget = self._budget.spend(await self._answer_drawing.take(stop, self._budget))
            except (TimeoutError, DeadlineExceeded):
                stop = StopReason.DEADLINE
            except (FatalError, GivenAway):
                raise
            except GeoTTSError as broken:
                stop, failure = StopReason.FAILED, RolloutFailure.from_error(broken)
            finally:
                self._budget = self._budget.spend(await self._answer_drawing.aclose())
        await send(
            RolloutFinished(
                rollout_id=self._id,
                stop_reason=stop,
                answer=self._best,
                usage=self._budget.usage,
                error="" if failure is None else f"{failure.code}: {failure.detail}",
                failure=failure,
                answer_draws=self._answer_drawing.points,
            )
        )

    async def _start_or_resume(self, send: Send[RolloutOutput]) -> None:
        if (saved := self._task.resume_from) is not None:
            self._messages = list(saved.messages)
            self._budget = self._budget.resume(saved)
            self._corrections = saved.corrections
            self._best = saved.best
            await send(RolloutResumed(rollout_id=self._id, from_turn=saved.turn))
        else:
            self._messages = list(opening_of(self._brief, self._task))
            await send(RolloutStarted(rollout_id=self._id, seed=self._task.seed, direction=self._task.direction))

    async def _run_turns(self, send: Send[RolloutOutput]) -> StopReason:
        if (saved := self._task.resume_from) is not None and saved.stop is not None:
            return saved.stop
        while True:
            turn = self._budget.usage.turns
            if self._budget.spent_limit() is not None or self._writable_tokens() < 1:
                return StopReason.BUDGET
            final = None if self._dialect.paper_mode else self._reason_for_last_turn()
            if final is not None and turn > 0:
                self._append_user_message(self._dialect.final_demand(final))
            with span("turn", turn=turn, rollout_id=self._id):
                try:
                    parsed = await self._generate_with_retry(turn, send, final=final is not None)
                except MoneySpent:  # of a model that the engine asks beside its own
                    return StopReason.BUDGET
                written = self._messages[-1].text
                cues = None if turn else first_cues(self._dialect, parsed, written, self._group.photos, self._task)
                try:
                    stop = await self._act(turn, parsed, send, final=final is not None)
                except ModelError:
                    await send(self._finished_event(turn, parsed, cues))
                    raise
            await send(self._finished_event(turn, parsed, cues))
            if stop is None or are_wanted(self._brief.limits, self._dialect, stop):
                await send(self._make_checkpoint(turn, stop))  # before the draws: a loss must not cost the last turn
            if stop is not None:
                return stop

    def _make_checkpoint(self, turn: int, stop: StopReason | None) -> Checkpoint:
        return Checkpoint(
            rollout_id=self._id,
            turn=turn,
            messages=tuple(self._messages),
            usage=self._budget.usage,
            corrections=self._corrections,
            best=self._best,
            prompt_tokens=self._budget.prompt_tokens,
            observed_tokens=self._budget.observed_tokens,
            stop=stop,
        )

    def _finished_event(self, turn: int, parsed: ParsedTurn, cues: Cues | None) -> TurnFinished:
        """The event at the end of a turn, also of a turn that cannot be used and ends the rollout."""
        return TurnFinished(
            rollout_id=self._id,
            turn=turn,
            usage=self._budget.usage,
            cues=cues,
            problem=self._problem(parsed),
            cut=self._was_truncated,
        )

    def _problem(self, parsed: ParsedTurn) -> str:
        return problem_of(parsed, has_tools=bool(self._brief.schemas), released=self._dialect.released)

    async def _record_concluding_answer(self, stop: StopReason, send: Send[RolloutOutput]) -> StopReason:
        """Of a released loop: the answer that counts is read when the rollout is over, and only then."""
        if not self._dialect.released:
            return stop
        concluded = self._dialect.conclusion(self._messages)
        if concluded is not None and concluded.answer is not None:
            await self._record_hypothesis(self._budget.usage.turns - 1, concluded, send)
            return StopReason.ANSWERED
        if stop is StopReason.ANSWERED:
            raise ModelError("the rollout ended without an answer that its reader finds")
        return stop

    def _reason_for_last_turn(self) -> str | None:
        """Why the coming turn is the last one, in the words of `final_demand`; None when it is not."""
        if self._budget.last_turn:
            return "turn budget"
        if self._brief.schemas and self._budget.calls_left == 0:
            return "tool budget"
        if self._budget.tokens_left <= self._budget.answer_tokens:
            return "token budget"
        if self._writable_tokens() <= self._budget.answer_tokens:
            return "money budget"
        if self._deadline.remaining_s() < self._reserve_s:
            return "time"
        return None

    def _writable_tokens(self) -> int:
        """Tokens that the coming turn may write at most, by tokens and by money."""
        if self._budget.limits.max_cost_usd is None:
            return self._budget.tokens_left
        return self._budget.affordable_tokens(prompt_tokens_about(self._messages, self._brief.schemas))

    async def _generate_with_retry(self, turn: int, send: Send[RolloutOutput], *, final: bool) -> ParsedTurn:
        """Generate a turn, and again if the engine is lost in the middle of it: its earlier events are void then."""
        try:
            return await self._generate(turn, send, final=final)
        except ModelError as lost:
            if not lost.fields.get("transient"):
                raise
        await send(RolloutResumed(rollout_id=self._id, from_turn=turn - 1))
        return await self._generate(turn, send, final=final)

    async def _generate(self, turn: int, send: Send[RolloutOutput], *, final: bool) -> ParsedTurn:
        """One generation: stream its text, parse it, keep it in the conversation."""
        if self._group.may_begin is not None:
            await self._group.may_begin()
        reserved_tokens = 0 if final or self._dialect.paper_mode else self._budget.answer_tokens
        request = ModelRequest(
            context=self._current_context(),
            session_id=f"{self._group.context.id}/{self._id}",
            messages=tuple(self._messages),
            sampling=self._dialect.sampling(
                rollout_id=self._id,
                n=self._group.n_total,
                seed=self._task.seed,
                turn=turn,
                max_tokens=max(1, self._writable_tokens() - reserved_tokens),
            ),
            photos=self._group.photos,
            files=self._files,
            tools=() if final else self._brief.schemas,
            listed_tools=self._dialect.tools_to_list(self._brief.schemas),
            pictures=self._dialect.pictures,
            readings=self._group.readings,
            options=self._group.options,
            testing=self._group.testing,
            money_usd=self._budget.money_left_usd,
            sibling=self._id,
            siblings=self._group.n_total if self._group.diverse_first_calls else 1,
        )
        text: list[str] = []
        calls: list[ToolCall] = []
        token_ids: list[int] = []
        usage, truncated = NO_USAGE, False
        provider_fields: ProviderFields | None = None
        coalescer = TextCoalescer(self._id, turn, send)
        is_complete = False
        try:
            with boundary(ModelError, f"engine {self._agent.model.name}"):
                async with closing(traced_generation(self._agent.model, request)) as deltas:
                    async for delta in deltas:
                        self._answer_drawing.observe(delta, request, self._budget, last=final)
                        for description in delta.described:
                            await send(description)
                            coalescer.pause()
                        if delta.spent is not None:
                            self._budget = self._budget.spend(delta.spent)
                        if delta.text:
                            text.append(delta.text)
                            await coalescer.append(delta.text)
                        calls += delta.tool_calls
                        token_ids += delta.token_ids
                        usage = delta.usage or usage
                        truncated = truncated or delta.finish_reason == "length"
                        provider_fields = delta.provider_fields or provider_fields
            is_complete = True
        finally:
            if not is_complete and text:  # cut off: the engine had no time to say what it was
                cost = usage_about(self._messages, self._brief.schemas, "".join(text), self._budget.price)
                self._budget = self._budget.spend(cost)
        self._was_truncated = truncated
        self._budget = self._budget.spend(usage + _ONE_TURN)
        if self._dialect.counts_observations:
            self._budget = self._budget.observe(usage)
        full_text = "".join(text)
        self._messages.append(
            Message(
                role="assistant",
                parts=(TextPart(text=full_text),) if full_text else (),
                tool_calls=tuple(calls),
                token_ids=tuple(token_ids) or None,
                provider_fields=provider_fields,
            )
        )
        return self._dialect.parse(Completion(full_text, tuple(calls), truncated), turn=turn)

    async def _act(self, turn: int, parsed: ParsedTurn, send: Send[RolloutOutput], *, final: bool) -> StopReason | None:
        """Do what the turn asks for; returns why the rollout ends, or None when it goes on."""
        await self._record_hypothesis(turn, parsed, send)
        if parsed.answer is not None:
            return StopReason.ANSWERED
        if self._dialect.released:
            return await self._act_as_released(turn, parsed, send)
        if final:
            return StopReason.BUDGET
        if parsed.calls and self._brief.schemas:
            self._messages += self._dialect.observation(tuple(await self._call_tools(turn, parsed.calls, send)))
            return None
        problem = self._problem(parsed)
        self._corrections += 1
        if self._corrections > _MAX_CORRECTIONS or self._dialect.paper_mode:
            if is_abstention(self._messages[-1].text):
                await self._record_hypothesis(turn, ParsedTurn(answer=StatedAnswer(level=Level.NONE)), send)
                return StopReason.ANSWERED
            raise ModelError(f"{self._corrections} turns could not be used: {problem}", mend=_REMEDY)
        self._append_user_message(self._dialect.correction(problem))
        return None

    async def _act_as_released(self, turn: int, parsed: ParsedTurn, send: Send[RolloutOutput]) -> StopReason | None:
        """The authors' loop: run what it runs, say what it says, stop where it stops."""
        if parsed.stored_text is not None:
            self._messages[-1] = self._messages[-1].model_copy(update={"parts": (TextPart(text=parsed.stored_text),)})
        is_last = self._budget.spent_limit() is not None
        if is_last and not self._dialect.runs_last_calls:
            return StopReason.BUDGET
        outcomes = await self._call_tools(turn, parsed.calls, send) if parsed.calls else []
        finished_turn = FinishedTurn(
            turn, self._budget.limits.max_turns, parsed, tuple(outcomes), tuple(self._messages)
        )
        continuation = self._dialect.continue_after(finished_turn)
        if continuation.ends:
            return StopReason.ANSWERED
        if is_last or self._exceeds_token_limit(continuation.messages):
            return StopReason.BUDGET
        self._messages += continuation.messages
        return None

    def _exceeds_token_limit(self, added: Sequence[Message]) -> bool:
        """Whether the text to be added would reach the token limit, if the limit counts such text."""
        if not self._dialect.counts_observations:
            return False
        count = getattr(self._agent.model, "count_tokens", tokens_about)
        return bool(count(added) >= self._budget.tokens_left)

    def _append_user_message(self, message: Message) -> None:
        """Append a message of the user. After a correction it joins that, as some templates want turns to alternate."""
        last_message = self._messages[-1]
        if self._corrections and last_message.role == "user" and last_message.result is None:
            parts = (*last_message.parts, TextPart(text="\n"), *message.parts)
            self._messages[-1] = last_message.model_copy(update={"parts": parts})
        else:
            self._messages.append(message)

    async def _record_hypothesis(self, turn: int, parsed: ParsedTurn, send: Send[RolloutOutput]) -> None:
        """Emit the hypothesis of the turn, with details from the conversation; keep it if it is the best so far."""
        stated = parsed.answer or parsed.hypothesis
        if stated is None:
            return
        hypothesis = self._dialect.to_hypothesis(
            await self._locate_answer(turn, stated, parsed.lookups, send), self._messages
        )
        if parsed.answer is None and hypothesis.abstains and not hypothesis.claims:
            return
        self._best = hypothesis if parsed.answer is not None or not hypothesis.abstains else self._best
        await send(Hypothesised(rollout_id=self._id, turn=turn, hypothesis=hypothesis))

    async def _locate_answer(
        self, turn: int, stated: StatedAnswer, lookups: tuple[ToolCall, ...], send: Send[RolloutOutput]
    ) -> StatedAnswer:
        """An answer that only names its place, with the point of the first lookup that finds it."""
        for call in lookups:
            await send(ToolCalled(rollout_id=self._id, turn=turn, call=call))
            result = (await self._tool_runner.look_up(call, self._current_context)).result
            await send(ToolResulted(rollout_id=self._id, turn=turn, result=result))
            self._budget = self._budget.spend(Usage(tool_calls=1, tool_errors=not result.ok))
            if (found := answer_at_place(stated, result)) is not None:
                return found
        return stated

    async def _call_tools(self, turn: int, calls: tuple[ToolCall, ...], send: Send[RolloutOutput]) -> list[ToolOutcome]:
        """Run calls side by side; those beyond what a turn may have are refused."""
        for call in calls:
            await send(ToolCalled(rollout_id=self._id, turn=turn, call=as_plain_call(call)))
        allowed = min(self._dialect.calls_per_turn, self._budget.calls_left)
        outcomes = await self._tool_runner.run_all(calls, allowed, self._messages, self._current_context)
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
        return outcomes

    def _current_context(self) -> RequestContext:
        before, remaining_s = self._group.context, self._deadline.remaining_s()
        return before.model_copy(update={"remaining_s": remaining_s, "trace": current_trace() or before.trace})
