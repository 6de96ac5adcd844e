"""Chooses the next question of the verifier, and combines all answers for each candidate.

The same trajectories and results give the same calls, so that a recorded inquiry can be repeated (`geotts bundle
replay`). A line for which no rollout searched is searched once without naming a candidate: a place that is found may
become a candidate, but gains nothing from this.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import JsonValue

from tts.decision_weights import weights
from tts.domain.geo import distance_km
from tts.domain.tooling import ToolCall, ToolResult
from tts.domain.trajectory import Trajectory, Turn
from tts.verify.consensus.clusters import Cluster
from tts.verify.evidence.grounding import NEAR_KM
from tts.verify.inquiry.candidates import Candidate, CandidateInputs, final_candidates, unchosen_candidates
from tts.verify.inquiry.comparison import FEWEST_PLACES, Comparison, PendingCalls, key_of
from tts.verify.inquiry.question import ASKER, MOST_PLACES, Question, forms_for
from tts.verify.inquiry.rounds import ADMITS, UNCHOSEN
from tts.verify.inquiry.tool_statements import ToolStatements

_DECIDED_LEAD_NATS = weights("inquiry")["decided"]


@dataclass(frozen=True, slots=True)
class OpenSearch:
    """A call that named no place, and the places that became candidates because of it."""

    question: Question
    call_id: str
    retrieved_at: str
    found: tuple[str, ...]


class Inquiry(Comparison[Candidate]):
    """One request's questions. `offered` are the tools that may be called, `budget` is how many calls there may be."""

    def __init__(
        self, inputs: CandidateInputs, clusters: Sequence[Cluster], offered: Sequence[str], budget: int
    ) -> None:
        self._inputs = inputs
        self._rollouts = inputs.trajectories
        stated = ToolStatements.from_trajectories(inputs.trajectories, inputs.readings)
        self._final_answers = final_candidates(clusters, stated, inputs.world)
        unchosen = unchosen_candidates(inputs, stated, self._final_answers)
        super().__init__([*self._final_answers[: MOST_PLACES - len(unchosen)], *unchosen], stated, offered, budget)
        self._open_turns: list[Turn] = []
        self.open_searches: list[OpenSearch] = []

    def take(self, results: Mapping[str, ToolResult]) -> None:
        """The results by the ids of the calls; one that is missing counts as a call that failed. The calls that the
        results name stand in the ledgers."""
        pending = self._pending
        if pending is not None and not pending.of:
            self._add_found_places(pending, [(call, results[call.id]) for call in pending.calls if call.id in results])
        else:
            super().take(results)

    def admitted_places(self) -> frozenset[int]:
        """The unchosen places that questions make likelier by far than each answer asked about."""
        weight_changes = self.weight_changes()
        rival = max(
            (nats for i, nats in weight_changes.items() if not self.candidates[i].is_unchosen), default=math.inf
        )
        return frozenset(
            i for i in weight_changes if self.candidates[i].is_unchosen and weight_changes[i] - rival >= ADMITS
        )

    def _is_decided(self) -> bool:
        weight_changes, admitted = self.weight_changes(), self.admitted_places()
        if not weight_changes:
            return False
        ranked = sorted(
            math.log(sum(vote.weight for vote in one.votes)) + weight_changes.get(i, 0.0) + UNCHOSEN * one.is_unchosen
            for i, one in enumerate(self.candidates)
            if not one.is_unchosen or i in admitted
        )
        return len(ranked) < FEWEST_PLACES or ranked[-1] - ranked[-2] >= _DECIDED_LEAD_NATS

    def _possible_calls(self) -> Iterator[PendingCalls]:
        """What may be asked next, the best first."""
        lines = self._unasked_lines()
        for line in filter(self._distinguishes_places, lines):
            yield from self._calls_for_each_place(line)
        if self._calls_left > FEWEST_PLACES:
            for line in lines:
                if not self._statements.asker_counts[line] and not self._count_places_with(line):
                    yield from self._open_search_calls(line)
        for line in lines:
            yield from self._calls_for_each_place(line)

    def _must_be_asked(self, i: int) -> bool:
        """An answer. An unchosen place has no vote, and without being asked it gets none."""
        return not self.candidates[i].is_unchosen

    def _open_search_calls(self, line: str) -> Iterator[PendingCalls]:
        """The question that names no place, if the calls that remain are then enough for all answers."""
        final_answers = [one for one in self.candidates if not one.is_unchosen]
        for form in forms_for(line, self._offered_tools):
            question = Question(line=line, form=form)
            calls = {key_of(about) for one in final_answers if (about := question.arguments_about(one)) is not None}
            if len(final_answers) == MOST_PLACES or len(calls) >= self._calls_left:
                continue
            if all(turn.text != question.json_bytes().decode() for turn in self._open_turns):
                yield PendingCalls(question, (self._make_call(question, question.open_arguments(), 0),), {})

    def _make_call(self, question: Question, arguments: dict[str, JsonValue], number: int) -> ToolCall:
        made = len(self.rounds) + len(self._open_turns)
        return ToolCall(id=f"verifier_{made}_{number}", name=question.form, arguments=arguments)

    def _add_found_places(self, pending: PendingCalls, replies: Sequence[tuple[ToolCall, ToolResult]]) -> None:
        """Take the places that an open question found for candidates. The question may still be asked of each."""
        self._tried_questions.discard(pending.question)
        text = pending.question.json_bytes().decode()
        calls = tuple(call.model_copy(update={"id": result.call_id}) for call, result in replies)
        results = tuple(result for _, result in replies)
        self._open_turns.append(Turn(index=len(self._open_turns), text=text, calls=calls, results=results))
        open_trajectory = Trajectory(rollout_id=ASKER, turns=tuple(self._open_turns))
        self._inputs = replace(self._inputs, trajectories=(*self._rollouts, open_trajectory))
        self._statements = ToolStatements.from_trajectories(self._inputs.trajectories, self._inputs.readings)
        known_count = len(self.candidates)
        for new in unchosen_candidates(self._inputs, self._statements, self._final_answers):
            if all(distance_km(new.point, known.point) > NEAR_KM for known in self.candidates):
                self.candidates.append(new)
        found = tuple(one.name for one in self.candidates[known_count:])
        for one in results:
            self.open_searches.append(OpenSearch(pending.question, one.call_id, one.retrieved_at, found))
