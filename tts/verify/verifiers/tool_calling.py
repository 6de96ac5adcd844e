"""The verifier with an inquiry: it makes tool calls that distinguish the leading places, then the consensus decides.

Without a budget of calls, the verdict is that of the consensus. Each call is an event with the verifier as its asker,
goes through the same broker as those of rollouts, and counts in the usage of the request. A call that was recorded
before, in an earlier look at the same request or in a bundle, is not made again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from tts.aio import Deadline, Send, run_all, stream
from tts.clues.ruled_out_places import RuledOut
from tts.config import VerifierConfig
from tts.decision_weights import weights
from tts.dialects.released.tool_name import ability_of
from tts.domain.call_key import call_key
from tts.domain.events import ToolCalled, ToolResulted
from tts.domain.request import LocateOptions
from tts.domain.tooling import ToolCall, ToolErrorKind, ToolResult
from tts.domain.trajectory import Turn
from tts.domain.usage import Usage
from tts.errors import GeoTTSError, ToolError
from tts.ports.toolbox import Toolbox, ToolContext
from tts.ports.verification import VerdictText, VerifierItem, VerifyRequest
from tts.toolkit.toolbox import failure_outcome
from tts.verify.evidence.world import World
from tts.verify.inquiry.candidates import CandidateInputs
from tts.verify.inquiry.comparison import Comparison, PlaceT
from tts.verify.inquiry.ledger_entries import with_entries, with_undecided
from tts.verify.inquiry.question import FORMS
from tts.verify.inquiry.question_choice import Inquiry
from tts.verify.inquiry.reweighing import reweigh_votes
from tts.verify.inquiry.tool_statements import ToolStatements
from tts.verify.verifiers.consensus import ConsensusVerifier, Judgement, weigh_votes

_INQUIRY_TIME_SHARE = weights("inquiry")["time_share"]  # of the verifier's time
_CHECK_ID_PREFIX = "check"  # how the ids of calls begin that a check asked for
Tools = Toolbox | Callable[[], Awaitable[Toolbox]]


@dataclass(frozen=True, eq=False)
class Questioner:
    """Asks about a judgement. `tools` may be something that is asked for them when they are needed."""

    tools: Tools | None
    world: World
    config: VerifierConfig

    def budget(self, request: VerifyRequest) -> int:
        """How many calls the verifier may make about the answer of a request."""
        return self._count_allowed_calls(request, sum(one.usage.tool_calls for one in request.trajectories))

    def _count_allowed_calls(self, request: VerifyRequest, other_calls: int) -> int:
        """How many calls one inquiry may make; `other_calls` were made in the request beside it."""
        options, most = request.options, most_questions(request.options, self.config)
        if options.max_tool_calls is not None:
            most = min(most, options.max_tool_calls - other_calls)
        return max(0, most)

    async def ask_open_questions(
        self, request: VerifyRequest, judgement: Judgement, send: Send[VerifierItem]
    ) -> Judgement:
        """The judgement after the questions that it leaves open; the same where there are none."""
        if not self.budget(request) or judgement.spread is None:
            return judgement
        toolbox = await self._get_toolbox()
        if toolbox is None:
            return self.apply_recorded_calls(request, judgement)
        inquiry = self._make_inquiry(request, judgement, _offered_tools(toolbox, request))
        calls_left = self.budget(request) - _count_calls(request.inquiry)
        await _Asker(toolbox, request, calls_left, send, "verifier").ask_all(inquiry)
        return _judgement_after(inquiry, request, judgement, self.world)

    def apply_recorded_calls(self, request: VerifyRequest, judgement: Judgement) -> Judgement:
        """The judgement after the calls that were recorded for a request (`VerifyRequest.inquiry`), without others."""
        if not request.inquiry or not self.budget(request) or judgement.spread is None:
            return judgement
        inquiry = self._make_inquiry(request, judgement, _used_tools(request))
        _replay_recorded_calls(inquiry, request)
        return _judgement_after(inquiry, request, judgement, self.world)

    async def compare_places(
        self, request: VerifyRequest, places: Sequence[PlaceT], stated: ToolStatements, send: Send[VerifierItem]
    ) -> Comparison[PlaceT]:
        """The same questions of the places of a check, after those about the answer, with as many calls again at most.

        Calls that `request.inquiry` has are not made again. Without tools no other calls are made.
        """
        own_turns = [
            turn for turn in request.inquiry if any(call.id.startswith(_CHECK_ID_PREFIX) for call in turn.calls)
        ]
        own_calls = _count_calls(own_turns)
        answer_calls = _count_calls(request.inquiry) - own_calls
        rollout_calls = sum(one.usage.tool_calls for one in (*request.trajectories, *request.testing))
        budget = self._count_allowed_calls(request, rollout_calls + answer_calls)
        toolbox = await self._get_toolbox() if budget else None
        if toolbox is None:
            comparison = Comparison(places, stated, _used_tools(request), budget)
            _replay_recorded_calls(comparison, request)
        else:
            comparison = Comparison(places, stated, _offered_tools(toolbox, request), budget)
            await _Asker(toolbox, request, budget - own_calls, send, _CHECK_ID_PREFIX).ask_all(comparison)
        return comparison

    def _make_inquiry(self, request: VerifyRequest, judgement: Judgement, offered: Sequence[str]) -> Inquiry:
        options = request.options
        ruled_out = RuledOut.from_options(options)
        inputs = CandidateInputs(request.trajectories, request.readings, self.world, options.within, ruled_out)
        return Inquiry(inputs, judgement.clusters, offered, self.budget(request))

    async def _get_toolbox(self) -> Toolbox | None:
        """None where there are no tools, or where they cannot be reached."""
        try:
            return await self.tools() if callable(self.tools) else self.tools
        except GeoTTSError:
            return None


@dataclass(frozen=True, eq=False)
class InquiryVerifier:
    """The `Verifier` port: the consensus, after the verifier's own questions."""

    consensus: ConsensusVerifier
    questioner: Questioner

    def verify(self, request: VerifyRequest) -> AsyncIterator[VerifierItem]:
        """Yields each call and its result, then the explanation and the verdict. Closing it ends a call under way."""
        if not self.questioner.budget(request):
            return self.consensus.verify(request)
        return stream(partial(self._decide, request))

    async def _decide(self, request: VerifyRequest, send: Send[VerifierItem]) -> None:
        judgement = await asyncio.to_thread(self.consensus.judge, request)
        judgement = await self.questioner.ask_open_questions(request, judgement, send)
        verdict = await asyncio.to_thread(self.consensus.decide, request, judgement)
        await send(VerdictText(text=verdict.explanation))
        await send(verdict)


class _Asker:
    """Makes the calls of one inquiry, and tells of each."""

    def __init__(
        self, toolbox: Toolbox, request: VerifyRequest, calls_left: int, send: Send[VerifierItem], id_prefix: str
    ) -> None:
        """`id_prefix` is how the ids of its calls begin."""
        self._toolbox = toolbox
        self._request = request
        self._send = send
        self._id_prefix = id_prefix
        self._results_by_call = recorded_results(request.inquiry)
        self._calls_left = calls_left
        self._next_turn = len(request.inquiry)
        rollouts = (*request.trajectories, *request.testing)
        self._rollout_id = 1 + max((one.rollout_id for one in rollouts), default=-1)
        self._deadline = Deadline(_INQUIRY_TIME_SHARE * request.context.remaining_s)

    async def ask_all(self, comparison: Comparison[PlaceT]) -> None:
        """Ask the questions of a comparison until it has no more, or there is no more time."""
        while self._deadline.remaining_s() > 0 and (calls := comparison.next_calls()):
            comparison.take(await self.ask(calls))

    async def ask(self, calls: Sequence[ToolCall]) -> dict[str, ToolResult]:
        """Results by the ids of the calls, side by side; without those that there are no calls left for."""
        new = [call for call in calls if call_key(call) not in self._results_by_call]
        if new and len(new) <= self._calls_left:
            await self._make_calls(new)
        return {
            call.id: self._results_by_call[key] for call in calls if (key := call_key(call)) in self._results_by_call
        }

    async def _make_calls(self, calls: Sequence[ToolCall]) -> None:
        turn, numbered = self._next_turn, []
        for k, call in enumerate(calls):
            numbered.append(call.model_copy(update={"id": f"{self._id_prefix}_{turn}_{k}"}))
            await self._send(ToolCalled(rollout_id=self._rollout_id, turn=turn, call=numbered[-1], asker="verifier"))
        self._next_turn += 1
        self._calls_left -= len(calls)
        await self._send(Usage(tool_calls=len(calls)))
        await run_all(self._make_call(call, turn) for call in numbered)

    async def _make_call(self, call: ToolCall, turn: int) -> None:
        remaining_s = max(0.05, self._deadline.remaining_s())
        context = self._request.context.model_copy(update={"remaining_s": remaining_s})
        tool_context = ToolContext(context, self._request.photos, self._request.options)
        try:
            async with asyncio.timeout(remaining_s):
                outcome = await self._toolbox.call(call, tool_context)
        except TimeoutError:
            outcome = failure_outcome(call, ToolError("the verifier had no more time", kind=ToolErrorKind.TIMEOUT))
        except GeoTTSError as error:
            outcome = failure_outcome(call, ToolError(error.detail, kind=ToolErrorKind.UNAVAILABLE))
        self._results_by_call[call_key(call)] = outcome.result
        await self._send(ToolResulted(rollout_id=self._rollout_id, turn=turn, result=outcome.result, asker="verifier"))


def most_questions(options: LocateOptions, config: VerifierConfig) -> int:
    """How many calls the verifier may make for a request, within what the operator allows."""
    wanted = config.questions if options.verifier_questions is None else options.verifier_questions
    return min(wanted, config.max_questions)


def _count_calls(turns: Sequence[Turn]) -> int:
    return sum(len(turn.calls) for turn in turns)


def recorded_results(turns: Sequence[Turn]) -> dict[bytes, ToolResult]:
    """The results of earlier calls by tool and arguments."""
    results = {result.call_id: result for turn in turns for result in turn.results}
    calls = (call for turn in turns for call in turn.calls)
    return {call_key(call): results[call.id] for call in calls if call.id in results}


def _replay_recorded_calls(comparison: Comparison[PlaceT], request: VerifyRequest) -> None:
    """Answer the questions of a comparison from the calls that were recorded for a request."""
    results = recorded_results(request.inquiry)
    while calls := comparison.next_calls():
        comparison.take({call.id: results[key] for call in calls if (key := call_key(call)) in results})


def _used_tools(request: VerifyRequest) -> list[str]:
    used = {call.name for turn in request.inquiry for call in turn.calls}
    return [name for name in FORMS if name in used]


def _offered_tools(toolbox: Toolbox, request: VerifyRequest) -> list[str]:
    available = {schema.name for schema in toolbox.schemas()}
    return [name for name in FORMS if name in available and _is_tool_allowed(name, request)]


def _is_tool_allowed(name: str, request: VerifyRequest) -> bool:
    return request.options.tools is None or ability_of(name) in request.options.tools


def _judgement_after(inquiry: Inquiry, request: VerifyRequest, judgement: Judgement, world: World) -> Judgement:
    """The judgement with what the inquiry found. Where that changes no vote, only its ledgers have more entries."""
    votes = reweigh_votes(inquiry, judgement.votes)
    ledgers = with_undecided(judgement.ledgers, inquiry, votes)
    if all(new is old for new, old in zip(votes, judgement.votes, strict=False)) and len(votes) == len(judgement.votes):
        return replace(judgement, ledgers=ledgers)
    found = weigh_votes(with_entries(ledgers, votes), votes, None, len(request.trajectories), world)
    changed = {name: getattr(found, name) for name in ("ledgers", "votes", "clusters", "spread")}
    return replace(judgement, **changed, lines=None)  # the belief from the lines knows nothing of the questions
