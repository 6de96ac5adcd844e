"""The belief from the text in a photo, without the caller's area and hint.

Constraints, hints and the other photos of a request are compared with it. Lines count as in the pooled vote. A lookup
counts only if its query was read in the photo, so that words of the caller never become evidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tts.clues.belief import Belief
from tts.clues.clue_reader import ClueReader, Leads
from tts.clues.conclusion import conclusion, is_worth_a_point
from tts.clues.lookups import Lookup, pair_lookups
from tts.domain.geo import LatLon
from tts.domain.hypothesis import Hypothesis
from tts.domain.reading import Reading, TextLine, line_of_fact
from tts.domain.tooling import TextFact, ToolResult
from tts.domain.trajectory import Trajectory, Turn
from tts.geodata.names import normalise
from tts.verify.evidence.prompt_injection import line_speaks_to_the_model


@dataclass(frozen=True, slots=True)
class ReadBelief:
    """The belief, the leads it rests on, and the answer that it supports by itself, if any."""

    leads: Leads
    belief: Belief
    hypothesis: Hypothesis | None

    def names(self, point: LatLon) -> bool:
        """Whether a name of a place at this point was read."""
        return self.leads.names(point)


def read_belief(
    trajectories: Sequence[Trajectory], readings: Sequence[Reading], reader: ClueReader
) -> ReadBelief | None:
    """The belief from all lines and lookups; None where nothing was read that says anything."""
    lines = list(_distinct_lines(trajectories, readings))
    if not lines:
        return None
    looked_up = _lookups_of_lines(lines, trajectories)
    leads = reader.leads(reader.lines.texts(lines), looked_up, beside=reader.lines.neighbours_of_lines(lines))
    if not leads.clues and not leads.mentions:
        return None
    belief = reader.weigher.weigh(leads.clues, sorted(leads.mentions, key=lambda mention: mention.name))
    found = conclusion(belief, reader.countries) if is_worth_a_point(belief, leads) else None
    return ReadBelief(leads, belief, found)


def turns_of_photo(trajectories: Iterable[Trajectory], number: int) -> tuple[Turn, ...]:
    """The turns of some rollouts without the text that was read in other photos than this one."""
    return tuple(
        turn.model_copy(update={"results": tuple(_result_of_photo(result, number) for result in turn.results)})
        for trajectory in trajectories
        for turn in trajectory.turns
    )


def about_photo(trajectories: Sequence[Trajectory], readings: Sequence[Reading], number: int) -> tuple[Turn, ...]:
    """As `turns_of_photo`, without lookups of something that was read in another photo and not in this one: what was
    found for another photo is no evidence for this one."""
    turns = turns_of_photo(trajectories, number)
    own_text = _shown_text([Trajectory(rollout_id=0, turns=turns)], readings[number : number + 1])
    all_text = _shown_text(trajectories, readings)
    return tuple(_turn_of_photo(turn, own_text, all_text) for turn in turns)


def text_facts(trajectories: Iterable[Trajectory]) -> Iterator[TextFact]:
    """What the tools of some rollouts read."""
    facts = (fact for trajectory in trajectories for result in trajectory.results for fact in result.facts)
    return (fact for fact in facts if isinstance(fact, TextFact))


def _shown_text(trajectories: Iterable[Trajectory], readings: Iterable[Reading]) -> str:
    return normalise(
        "\n".join(t for line in _distinct_lines(trajectories, readings) for t in (line.text, *line.alternatives))
    )


def _turn_of_photo(turn: Turn, own_text: str, all_text: str) -> Turn:
    words = {call.id: _lookup_words(call.arguments) for call in turn.calls}
    foreign_call_ids = {
        call_id for call_id, asked in words.items() if asked and asked in all_text and asked not in own_text
    }
    kept = tuple(result for result in turn.results if result.call_id not in foreign_call_ids)
    return turn if len(kept) == len(turn.results) else turn.model_copy(update={"results": kept})


def _result_of_photo(result: ToolResult, number: int) -> ToolResult:
    kept = tuple(f for f in result.facts if not isinstance(f, TextFact) or f.box.photo == number)
    return result if len(kept) == len(result.facts) else result.model_copy(update={"facts": kept, "text": ""})


def _distinct_lines(trajectories: Iterable[Trajectory], readings: Iterable[Reading]) -> Iterator[TextLine]:
    """Each line that perception or a tool read, once, in an order that does not depend on that of the rollouts."""
    lines = [line for reading in readings for line in reading.lines]
    zoomed = {line_of_fact(fact) for fact in text_facts(trajectories)}
    lines += sorted(zoomed, key=lambda line: line.model_dump_json())
    for line in dict.fromkeys(lines):
        if not line_speaks_to_the_model(line):
            yield line


def _lookups_of_lines(lines: Sequence[TextLine], trajectories: Iterable[Trajectory]) -> list[Lookup]:
    """Lookups of something that was read."""
    shown_text = normalise("\n".join(text for line in lines for text in (line.text, *line.alternatives)))
    return [
        (call, result)
        for trajectory in trajectories
        for turn in trajectory.turns
        for call, result in pair_lookups(turn.calls, turn.results)
        if _lookup_words(call.arguments) in shown_text
    ]


def _lookup_words(arguments: object) -> str:
    """The words of a lookup; a lookup of a point has none."""
    words = arguments if isinstance(arguments, dict) else {}
    return normalise(str(words.get("query") or words.get("address") or ""))
