"""Chooses the next question of the verifier, and combines all answers for each candidate.

This module calls no tool: its caller gets the calls from `next_calls` and passes the results to `take`. The same
trajectories and results give the same calls, so that a recorded inquiry can be repeated (`geotts bundle replay`).

A line comes first if it is known at some candidates and not at others. A line for which no rollout searched is searched
once without naming a candidate: a place that is found may become a candidate, but gets no gain from this.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import orjson
from pydantic import JsonValue

from tts.domain.geo import distance_km
from tts.domain.tooling import ToolCall, ToolResult
from tts.domain.trajectory import Trajectory, Turn
from tts.verify.consensus.clusters import Cluster
from tts.verify.evidence.grounding import NEAR_KM
from tts.verify.evidence.small_print import is_small_print
from tts.verify.inquiry.candidates import MOST, Candidate, Scene, answers, passed_by
from tts.verify.inquiry.question import ASKER, Question, forms_for
from tts.verify.inquiry.rounds import ADMITS, PASSED_BY, Outcome, Round, gains_of
from tts.verify.inquiry.statements import Statements
from tts.weights import weights

_DECIDED = weights("inquiry")["decided"]
_FEWEST = 2  # candidates that a question separates


@dataclass(frozen=True, slots=True)
class _PendingCalls:
    """Calls that are under way: of each candidate by its number, or openly."""

    question: Question
    calls: tuple[ToolCall, ...]
    of: dict[int, ToolCall]


class Inquiry:
    """One request's questions. `offered` are the tools that may be called, `budget` is how many calls there may be."""

    def __init__(self, scene: Scene, clusters: Sequence[Cluster], offered: Sequence[str], budget: int) -> None:
        self._scene, self._rollouts, self._offered, self._calls_left = scene, scene.trajectories, offered, budget
        self._stated = Statements.of(scene.trajectories, scene.readings)
        self._finals = answers(clusters, self._stated, scene.world)
        beside = passed_by(scene, self._stated, self._finals)
        self.candidates: list[Candidate] = [*self._finals[: MOST - len(beside)], *beside]
        self.rounds: list[Round] = []
        self._open: list[Turn] = []
        self._tried: set[Question] = set()
        self._pending: _PendingCalls | None = None

    def next_calls(self) -> tuple[ToolCall, ...]:
        """The calls of the next round, at most what is left; none when the inquiry has ended."""
        self._pending = None if self._decided() else next(self._possible(), None)
        if self._pending is None:
            return ()
        self._tried.add(self._pending.question)
        self._calls_left -= len(self._pending.calls)
        return self._pending.calls

    def take(self, results: Mapping[str, ToolResult]) -> None:
        """The results by the ids of the calls; one that is missing counts as a call that failed. The calls that the
        results name stand in the ledgers."""
        pending = self._pending
        assert pending is not None
        if not pending.of:
            self._learn(pending, [(call, results[call.id]) for call in pending.calls if call.id in results])
            return
        outcomes = {i: self._outcome(i, pending.question, call, results.get(call.id)) for i, call in pending.of.items()}
        self.rounds.append(Round(pending.question, outcomes))

    def counted(self) -> list[frozenset[int]]:
        """For each round the candidates that count in it."""
        return [frozenset(i for i in one.outcomes if self._counts(i, one.question.line)) for one in self.rounds]

    def gains(self) -> dict[int, float]:
        """The log-likelihood ratio of each candidate that questions said something about, in nats."""
        return gains_of(self.rounds, self.counted())

    def admitted(self) -> frozenset[int]:
        """The places that were passed by and that questions make likelier by far than each answer asked about."""
        gains = self.gains()
        rival = max((nats for i, nats in gains.items() if not self.candidates[i].passed_by), default=math.inf)
        return frozenset(i for i in gains if self.candidates[i].passed_by and gains[i] - rival >= ADMITS)

    def _decided(self) -> bool:
        gains, admitted = self.gains(), self.admitted()
        if not gains:
            return False
        ranked = sorted(
            math.log(sum(vote.weight for vote in one.votes)) + gains.get(i, 0.0) + PASSED_BY * one.passed_by
            for i, one in enumerate(self.candidates)
            if not one.passed_by or i in admitted
        )
        return len(ranked) < _FEWEST or ranked[-1] - ranked[-2] >= _DECIDED

    def _possible(self) -> Iterator[_PendingCalls]:
        """What may be asked next, the best first."""
        settled = {one.question.line for one in self.rounds if not one.void}
        lines = [line for line in self._ordered() if line not in settled]
        separating = [line for line in lines if 0 < self._bearers(line) < len(self.candidates)]
        untouched = [line for line in lines if not self._stated.askers[line] and not self._bearers(line)]
        for line in separating:
            yield from self._of_each(line)
        if self._calls_left > _FEWEST:
            for line in untouched:
                yield from self._openly(line)
        for line in lines:
            yield from self._of_each(line)

    def _of_each(self, line: str) -> Iterator[_PendingCalls]:
        """The question of as many candidates as calls are left for: the leader, then those that bear the line."""
        bearing = [i for i in range(1, len(self.candidates)) if line in self._borne(i)]
        others = [i for i in range(1, len(self.candidates)) if i not in bearing]
        for form in forms_for(line, self._offered):
            question = Question(line=line, form=form)
            if question in self._tried:
                continue
            pending = self._calls(question, [0, *bearing, *others])
            if pending is not None:
                yield pending

    def _calls(self, question: Question, numbers: Sequence[int]) -> _PendingCalls | None:
        made: dict[bytes, ToolCall] = {}
        of: dict[int, ToolCall] = {}
        for i in numbers:
            arguments = question.about(self.candidates[i])
            if arguments is None or len(of) == MOST or not self._counts(i, question.line):
                continue
            key = orjson.dumps(arguments, option=orjson.OPT_SORT_KEYS)
            if key in made or len(made) < self._calls_left:
                of[i] = made.setdefault(key, self._call(question, arguments, len(made)))
        return _PendingCalls(question, tuple(made.values()), of) if len(of) >= _FEWEST and 0 in of else None

    def _openly(self, line: str) -> Iterator[_PendingCalls]:
        for form in forms_for(line, self._offered):
            question = Question(line=line, form=form)
            if all(turn.text != question.json_bytes().decode() for turn in self._open):
                yield _PendingCalls(question, (self._call(question, question.openly(), 0),), {})

    def _call(self, question: Question, arguments: dict[str, JsonValue], number: int) -> ToolCall:
        made = len(self.rounds) + len(self._open)
        return ToolCall(id=f"verifier_{made}_{number}", name=question.form, arguments=arguments)

    def _learn(self, pending: _PendingCalls, replies: Sequence[tuple[ToolCall, ToolResult]]) -> None:
        """Take the places that an open question found for candidates. The question may still be asked of each."""
        self._tried.discard(pending.question)
        text = pending.question.json_bytes().decode()
        calls = tuple(call.model_copy(update={"id": result.call_id}) for call, result in replies)
        results = tuple(result for _, result in replies)
        self._open.append(Turn(index=len(self._open), text=text, calls=calls, results=results))
        own = Trajectory(rollout_id=ASKER, turns=tuple(self._open))
        self._scene = replace(self._scene, trajectories=(*self._rollouts, own))
        self._stated = Statements.of(self._scene.trajectories, self._scene.readings)
        for new in passed_by(self._scene, self._stated, self._finals):
            if all(distance_km(new.point, known.point) > NEAR_KM for known in self.candidates):
                self.candidates.append(new)

    def _outcome(self, i: int, question: Question, call: ToolCall, result: ToolResult | None) -> Outcome:
        if result is None:
            return Outcome(None, "")
        statements, candidate = question.statements(call, result, self._stated.lines), self.candidates[i]
        found = question.found(statements, candidate)
        bearing = [
            one for one in statements if question.line in one.lines and one.is_about(candidate.point, candidate.city)
        ]
        url = getattr(bearing[0].fact, "url", None) if bearing else None
        return Outcome(found, result.call_id, url, result.retrieved_at)

    def _ordered(self) -> list[str]:
        """Lines that fewest rollouts asked for first, then small print, then the longest."""
        askers = self._stated.askers
        return sorted(self._stated.lines, key=lambda line: (askers[line], not is_small_print(line), -len(line), line))

    def _counts(self, i: int, line: str) -> bool:
        """Whether a line that is found at a candidate, or not, says something about it. A place that nothing but this
        line led to was chosen because the line stands there."""
        return line not in self.candidates[i].found_by or bool(self._borne(i) - {line})

    def _bearers(self, line: str) -> int:
        return sum(line in self._borne(i) for i in range(len(self.candidates)))

    def _borne(self, i: int) -> frozenset[str]:
        """Lines that are known to stand at a candidate, by what was stated and by valid rounds."""
        one = self.candidates[i]
        found = {r.question.line for r in self.rounds if not r.void and i in r.outcomes and r.outcomes[i].found}
        return self._stated.borne_at(one.point, one.city) | found
