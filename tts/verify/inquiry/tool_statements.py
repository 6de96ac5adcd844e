"""What tools stated in a request, and which lines of the photo each statement repeats.

A statement *repeats* a line if it contains the line word for word. Only lines count that perception or a tool read in
the photo.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from tts.decision_weights import weights
from tts.domain.geo import LatLon, distance_km
from tts.domain.reading import Reading
from tts.domain.tooling import Fact, PlaceFact, TextFact, WebFact
from tts.domain.trajectory import Trajectory
from tts.geodata.names import normalise
from tts.verify.evidence.evidence_sources import Source, is_distinctive, read_lines, sources_of, statement_of
from tts.verify.evidence.grounding import NEAR_KM

_W = weights("inquiry")
_MAX_CHARS = int(_W["line_characters"])
_MAX_LINES = 40
_MIN_READING_CONFIDENCE = _W["legible"]


@dataclass(frozen=True, slots=True)
class ToolStatement:
    """What a tool said in a rollout. It repeats the `lines` of the photo; the tool was asked for `searched_lines`."""

    rollout_id: int
    source: Source
    words: str
    lines: frozenset[str]
    searched_lines: frozenset[str]

    @property
    def fact(self) -> Fact:
        """The fact itself."""
        return self.source.fact

    def is_about(self, point: LatLon, city: str) -> bool:
        """Whether it states a place within 25 km of a point, or is a page that names the town there."""
        fact = self.fact
        if isinstance(fact, PlaceFact):
            return fact.point is not None and distance_km(fact.point, point) <= NEAR_KM
        return isinstance(fact, WebFact) and is_distinctive(normalise(city)) and contains_phrase(self.words, city)


IsAbout = Callable[[ToolStatement], bool]  # whether a statement is about a place


def contains_phrase(words: str, phrase: str) -> bool:
    """Whether normalised words hold a phrase as whole words."""
    wanted = normalise(phrase)
    return bool(wanted) and f" {wanted} " in f" {words} "


@dataclass(frozen=True)
class ToolStatements:
    """All statements of some rollouts, without those about a point that a rollout put in itself."""

    statements: tuple[ToolStatement, ...]
    lines: tuple[str, ...]

    @classmethod
    def from_trajectories(cls, trajectories: Sequence[Trajectory], readings: Iterable[Reading]) -> ToolStatements:
        """The lines in an order that does not depend on that of the rollouts."""
        sources = [(t.rollout_id, source) for t in trajectories for source in sources_of(t)]
        readings = tuple(readings)
        faint = {line.text for one in readings for line in one.lines if line.confidence < _MIN_READING_CONFIDENCE}
        read = [line for line in read_lines([source for _, source in sources], readings) if line not in faint]
        lines = sorted(line for line in read if is_distinctive(normalise(line)) and len(line) <= _MAX_CHARS)[
            :_MAX_LINES
        ]
        return cls(
            tuple(make_tool_statement(i, source, lines) for i, source in sources if _is_statement(source)), tuple(lines)
        )

    def lines_leading_to(self, name: str, is_about: IsAbout) -> frozenset[str]:
        """The lines that led to a place: a tool was asked for them when it stated the place, or they name it."""
        named = frozenset(line for line in self.lines if contains_phrase(normalise(line), name))
        return named.union(*(one.searched_lines for one in self.statements if is_about(one)))

    def repeated_lines(self, is_about: IsAbout) -> frozenset[str]:
        """The lines that statements about a place repeat."""
        return frozenset().union(*(one.lines for one in self.statements if is_about(one)))

    @cached_property
    def asker_counts(self) -> dict[str, int]:
        """How many rollouts asked a tool for a line."""
        by_line: dict[str, set[int]] = {line: set() for line in self.lines}
        for one in self.statements:
            for line in one.searched_lines:
                if one.rollout_id >= 0:
                    by_line[line].add(one.rollout_id)
        return {line: len(rollouts) for line, rollouts in by_line.items()}


def make_tool_statement(rollout_id: int, source: Source, lines: Iterable[str]) -> ToolStatement:
    """A statement with the lines that it repeats."""
    lines, words = tuple(lines), normalise(statement_of(source.fact))
    repeated = frozenset(line for line in lines if contains_phrase(words, line))
    return ToolStatement(
        rollout_id, source, words, repeated, frozenset(line for line in lines if contains_phrase(source.query, line))
    )


def _is_statement(source: Source) -> bool:
    return not source.is_echo and not isinstance(source.fact, TextFact)
