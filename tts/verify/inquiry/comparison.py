"""Asks the same questions of several places, line by line, and keeps what each place got for an answer.

This module calls no tool: its caller gets the calls from `next_calls` and passes the results to `take`. The same
places, statements and results give the same calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import orjson
from pydantic import JsonValue

from tts.domain.tooling import ToolCall, ToolResult
from tts.verify.evidence.small_print import is_small_print
from tts.verify.inquiry.question import MOST_PLACES, AskedPlace, Question, forms_for
from tts.verify.inquiry.rounds import Outcome, Round, weight_changes_of
from tts.verify.inquiry.tool_statements import ToolStatements

FEWEST_PLACES = 2  # that a question separates
PlaceT = TypeVar("PlaceT", bound=AskedPlace)


@dataclass(frozen=True, slots=True)
class PendingCalls:
    """Calls that are under way: of each place by its number, or without naming a place."""

    question: Question
    calls: tuple[ToolCall, ...]
    of: dict[int, ToolCall]


class Comparison(Generic[PlaceT]):
    """The questions about some places. A round asks about each of them, or it does not take place. `offered` are the
    tools that may be called, `budget` is how many calls there may be.
    """

    def __init__(self, places: Sequence[PlaceT], stated: ToolStatements, offered: Sequence[str], budget: int) -> None:
        self.candidates: list[PlaceT] = list(places)
        self.rounds: list[Round] = []
        self._statements = stated
        self._offered_tools = offered
        self._calls_left = budget
        self._tried_questions: set[Question] = set()
        self._pending: PendingCalls | None = None

    def next_calls(self) -> tuple[ToolCall, ...]:
        """The calls of the next round, at most what is left; none when there is nothing more to ask."""
        self._pending = None if self._is_decided() else next(self._possible_calls(), None)
        if self._pending is None:
            return ()
        self._tried_questions.add(self._pending.question)
        self._calls_left -= len(self._pending.calls)
        return self._pending.calls

    def take(self, results: Mapping[str, ToolResult]) -> None:
        """The results by the ids of the calls; one that is missing counts as a call that failed."""
        pending = self._pending
        assert pending is not None
        outcomes = {i: self._outcome(i, pending.question, call, results.get(call.id)) for i, call in pending.of.items()}
        self.rounds.append(Round(pending.question, outcomes))

    def counted_places(self) -> list[frozenset[int]]:
        """For each round the places that count in it."""
        return [frozenset(i for i in one.outcomes if self._is_informative(i, one.question.line)) for one in self.rounds]

    def weight_changes(self) -> dict[int, float]:
        """The log-likelihood ratio of each place after rounds that said something, in nats."""
        return weight_changes_of(self.rounds, self.counted_places(), range(len(self.candidates)))

    def weight_change_of_others(self) -> float:
        """What an answer gains that is none of the candidates: nothing, or as much as a candidate lost at which a line
        was found, so that it does not overtake this candidate."""
        weight_changes = self.weight_changes()
        deciding = (
            (one, each)
            for one, each in zip(self.rounds, self.counted_places(), strict=True)
            if one.weight_changes(each)
        )
        return min([0.0, *(weight_changes[i] for one, counted in deciding for i in counted if one.outcomes[i].found)])

    def _is_decided(self) -> bool:
        """Whether no question is needed any more."""
        return False

    def _possible_calls(self) -> Iterator[PendingCalls]:
        """What may be asked next, the best first: a line that is known at some places and not at others."""
        lines = self._unasked_lines()
        for line in [*(line for line in lines if self._distinguishes_places(line)), *lines]:
            yield from self._calls_for_each_place(line)

    def _unasked_lines(self) -> list[str]:
        """Lines without a valid round. Those that fewest rollouts asked for come first, then small print, then the
        longest."""
        askers = self._statements.asker_counts
        settled = {one.question.line for one in self.rounds if not one.is_void}
        unsettled = [line for line in self._statements.lines if line not in settled]
        return sorted(unsettled, key=lambda line: (askers[line], not is_small_print(line), -len(line), line))

    def _calls_for_each_place(self, line: str) -> Iterator[PendingCalls]:
        """The question for the first place, then for the places where a tool stated the line, then for the others."""
        with_line = [i for i in range(1, len(self.candidates)) if line in self._known_lines_at(i)]
        others = [i for i in range(1, len(self.candidates)) if i not in with_line]
        for form in forms_for(line, self._offered_tools):
            question = Question(line=line, form=form)
            if question in self._tried_questions:
                continue
            pending = self._pending_calls(question, [0, *with_line, *others])
            if pending is not None:
                yield pending

    def _pending_calls(self, question: Question, numbers: Sequence[int]) -> PendingCalls | None:
        """One call for each place; None if not each place that has to be asked can be, with the calls that are left."""
        arguments = {i: given for i in numbers if (given := self._arguments(question, i)) is not None}
        keys = {i: key_of(given) for i, given in arguments.items()}
        chosen = self._choose_places(keys, {i for i in numbers if self._must_be_asked(i)})
        if len(chosen) < FEWEST_PLACES:
            return None
        calls_by_key: dict[bytes, ToolCall] = {}
        calls_by_place = {
            i: calls_by_key.setdefault(keys[i], self._make_call(question, arguments[i], len(calls_by_key)))
            for i in arguments
            if i in chosen
        }
        return PendingCalls(question, tuple(calls_by_key.values()), calls_by_place)

    def _choose_places(self, keys: Mapping[int, bytes], required: set[int]) -> set[int]:
        """The required places, and others as far as calls and places allow; none where a required one has to be left
        out. `keys` has those that can be asked, the most telling first."""
        chosen = set(required)
        if not chosen <= keys.keys() or not self._is_within_limits({keys[i] for i in chosen}, chosen):
            return set()
        for i in keys:
            if self._is_within_limits({keys[j] for j in (*chosen, i)}, {*chosen, i}):
                chosen.add(i)
        return chosen

    def _is_within_limits(self, calls: set[bytes], places: set[int]) -> bool:
        return len(calls) <= self._calls_left and len(places) <= MOST_PLACES

    def _arguments(self, question: Question, i: int) -> dict[str, JsonValue] | None:
        """Those of the call about a place; None where the question cannot be asked of it, or would say nothing."""
        return question.arguments_about(self.candidates[i]) if self._is_informative(i, question.line) else None

    def _must_be_asked(self, i: int) -> bool:
        """Whether no round takes place without this place. It is so for each that could win without being asked."""
        return True

    def _make_call(self, question: Question, arguments: dict[str, JsonValue], number: int) -> ToolCall:
        return ToolCall(id=f"verifier_{len(self.rounds)}_{number}", name=question.form, arguments=arguments)

    def _outcome(self, i: int, question: Question, call: ToolCall, result: ToolResult | None) -> Outcome:
        if result is None:
            return Outcome(None, "")
        statements, place = question.statements(call, result, self._statements.lines), self.candidates[i]
        found = question.line_was_found(statements, place)
        bearing = [one for one in statements if question.line in one.lines and place.is_named_in(one)]
        url = getattr(bearing[0].fact, "url", None) if bearing else None
        return Outcome(found, result.call_id, url, result.retrieved_at)

    def _is_informative(self, i: int, line: str) -> bool:
        """Whether a line that is found at a place, or not, says something about it. A place that nothing but this
        line led to was chosen because the line stands there."""
        return line not in self.candidates[i].searched_lines or bool(self._known_lines_at(i) - {line})

    def _distinguishes_places(self, line: str) -> bool:
        return 0 < self._count_places_with(line) < len(self.candidates)

    def _count_places_with(self, line: str) -> int:
        return sum(line in self._known_lines_at(i) for i in range(len(self.candidates)))

    def _known_lines_at(self, i: int) -> frozenset[str]:
        """Lines that are known to stand at a place, by what was stated and by valid rounds."""
        found = {r.question.line for r in self.rounds if not r.is_void and i in r.outcomes and r.outcomes[i].found}
        return self._statements.repeated_lines(self.candidates[i].is_named_in) | found


def key_of(arguments: dict[str, JsonValue]) -> bytes:
    """Two places with the same key share a call."""
    return orjson.dumps(arguments, option=orjson.OPT_SORT_KEYS)
