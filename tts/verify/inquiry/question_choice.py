"""Chooses the next question of the verifier, and combines all answers for each candidate.

The same trajectories and results give the same calls, so that a recorded inquiry can be repeated (`geotts bundle
replay`). A line for which no rollout searched is searched once without naming a candidate: a place that is found may
become a candidate, but gets no gain from this.
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
from tts.verify.inquiry.candidates import Candidate, Scene, answers, passed_by
from tts.verify.inquiry.comparison import FEWEST_PLACES, Comparison, PendingCalls, key_of
from tts.verify.inquiry.question import ASKER, MOST_PLACES, Question, forms_for
from tts.verify.inquiry.rounds import ADMITS, PASSED_BY
from tts.verify.inquiry.statements import Statements

_DECIDED = weights("inquiry")["decided"]


@dataclass(frozen=True, slots=True)
class OpenSearch:
    """A call that named no place, and the places that became candidates because of it."""

    question: Question
    call_id: str
    retrieved_at: str
    found: tuple[str, ...]


class Inquiry(Comparison[Candidate]):
    """One request's questions. `offered` are the tools that may be called, `budget` is how many calls there may be."""

    def __init__(self, scene: Scene, clusters: Sequence[Cluster], offered: Sequence[str], budget: int) -> None:
        self._scene = scene
        self._rollouts = scene.trajectories
        stated = Statements.from_trajectories(scene.trajectories, scene.readings)
        self._finals = answers(clusters, stated, scene.world)
        beside = passed_by(scene, stated, self._finals)
        super().__init__([*self._finals[: MOST_PLACES - len(beside)], *beside], stated, offered, budget)
        self._open: list[Turn] = []
        self.open_searches: list[OpenSearch] = []

    def take(self, results: Mapping[str, ToolResult]) -> None:
        """The results by the ids of the calls; one that is missing counts as a call that failed. The calls that the
        results name stand in the ledgers."""
        pending = self._pending
        if pending is not None and not pending.of:
            self._learn(pending, [(call, results[call.id]) for call in pending.calls if call.id in results])
        else:
            super().take(results)

    def admitted_places(self) -> frozenset[int]:
        """The places that were passed by and that questions make likelier by far than each answer asked about."""
        gains = self.gains()
        rival = max((nats for i, nats in gains.items() if not self.candidates[i].passed_by), default=math.inf)
        return frozenset(i for i in gains if self.candidates[i].passed_by and gains[i] - rival >= ADMITS)

    def _is_decided(self) -> bool:
        gains, admitted = self.gains(), self.admitted_places()
        if not gains:
            return False
        ranked = sorted(
            math.log(sum(vote.weight for vote in one.votes)) + gains.get(i, 0.0) + PASSED_BY * one.passed_by
            for i, one in enumerate(self.candidates)
            if not one.passed_by or i in admitted
        )
        return len(ranked) < FEWEST_PLACES or ranked[-1] - ranked[-2] >= _DECIDED

    def _possible(self) -> Iterator[PendingCalls]:
        """What may be asked next, the best first."""
        lines = self._open_lines()
        for line in filter(self._separates, lines):
            yield from self._of_each(line)
        if self._calls_left > FEWEST_PLACES:
            for line in lines:
                if not self._stated.asker_counts[line] and not self._bearers(line):
                    yield from self._open_question(line)
        for line in lines:
            yield from self._of_each(line)

    def _has_to_be_asked(self, i: int) -> bool:
        """An answer. A place that was passed by has no vote, and without being asked it gets none."""
        return not self.candidates[i].passed_by

    def _open_question(self, line: str) -> Iterator[PendingCalls]:
        """The question that names no place, if the calls that remain are then enough for all answers."""
        finals = [one for one in self.candidates if not one.passed_by]
        for form in forms_for(line, self._offered):
            question = Question(line=line, form=form)
            calls = {key_of(about) for one in finals if (about := question.arguments_about(one)) is not None}
            if len(finals) == MOST_PLACES or len(calls) >= self._calls_left:
                continue
            if all(turn.text != question.json_bytes().decode() for turn in self._open):
                yield PendingCalls(question, (self._call(question, question.open_arguments(), 0),), {})

    def _call(self, question: Question, arguments: dict[str, JsonValue], number: int) -> ToolCall:
        made = len(self.rounds) + len(self._open)
        return ToolCall(id=f"verifier_{made}_{number}", name=question.form, arguments=arguments)

    def _learn(self, pending: PendingCalls, replies: Sequence[tuple[ToolCall, ToolResult]]) -> None:
        """Take the places that an open question found for candidates. The question may still be asked of each."""
        self._tried.discard(pending.question)
        text = pending.question.json_bytes().decode()
        calls = tuple(call.model_copy(update={"id": result.call_id}) for call, result in replies)
        results = tuple(result for _, result in replies)
        self._open.append(Turn(index=len(self._open), text=text, calls=calls, results=results))
        own = Trajectory(rollout_id=ASKER, turns=tuple(self._open))
        self._scene = replace(self._scene, trajectories=(*self._rollouts, own))
        self._stated = Statements.from_trajectories(self._scene.trajectories, self._scene.readings)
        before = len(self.candidates)
        for new in passed_by(self._scene, self._stated, self._finals):
            if all(distance_km(new.point, known.point) > NEAR_KM for known in self.candidates):
                self.candidates.append(new)
        found = tuple(one.name for one in self.candidates[before:])
        for one in results:
            self.open_searches.append(OpenSearch(pending.question, one.call_id, one.retrieved_at, found))
