"""The possible sources of evidence: statements of tools in a rollout, and text that was read in the photo."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tts.decision_weights import weights
from tts.domain.reading import Reading
from tts.domain.tooling import Fact, PlaceFact, TextFact, ToolCall, ToolResult, ViewFact, WebFact
from tts.domain.trajectory import Trajectory
from tts.geodata.names import normalise
from tts.verify.evidence.ledger import About, Finding, LedgerEntry
from tts.verify.evidence.prompt_injection import speaks_to_the_model, trustworthy_facts

_W = weights("grounding")
_SCORE_TOLERANCE = _W["same_score"]
_MIN_NAME_LETTERS = int(_W["name_letters"])
_OWN_POINT_ARGUMENTS = frozenset({"latitude", "longitude", "lat", "lon", "lng", "center", "location"})

_USEFUL_HITS_TAG = re.compile(r"<useful>\s*\[([^\]]{0,400})\]\s*</useful>")


@dataclass(frozen=True, slots=True)
class Source:
    """A trustworthy statement of a tool, with the call that asked for it."""

    fact: Fact
    result: ToolResult
    call: ToolCall | None
    rivals: int

    @property
    def is_echo(self) -> bool:
        """Derived from a point the rollout itself put in."""
        return self.call is not None and bool(_OWN_POINT_ARGUMENTS & set(self.call.arguments))

    @property
    def is_about_own_point(self) -> bool:
        """Whether it only says what lies at a point the rollout itself put in; a picture of the place shows more."""
        return self.is_echo and not isinstance(self.fact, ViewFact)

    @property
    def query(self) -> str:
        """All texts among the arguments of the call, normalised, in one line; empty when the call is not known."""
        if self.call is None:
            return ""
        return normalise(" ".join(str(v) for v in self.call.arguments.values() if isinstance(v, str)))

    def repeats(self, hint: str, read: Iterable[str]) -> bool:
        """Whether it was asked for in words of the caller that nobody read in the photo."""
        words = self.query.split()
        seen = f" {normalise(' '.join(read))} "
        repeats_hint = bool(words) and set(words) <= set(normalise(hint).split())
        return repeats_hint and not any(f" {word} " in seen for word in words)

    def entry(self, about: About, claim: str, finding: Finding, quote: str) -> LedgerEntry:
        """A ledger entry that rests on this statement; the quote is cut to 300 characters."""
        url = self.fact.url if isinstance(self.fact, PlaceFact | WebFact) else None
        return LedgerEntry(
            about=about,
            claim=claim,
            finding=finding,
            call_id=self.result.call_id,
            tool=self.result.name,
            quote=quote[:300],
            url=url,
            retrieved_at=self.result.retrieved_at,
            of_own_point=self.is_about_own_point,
        )


def sources_of(trajectory: Trajectory) -> Iterator[Source]:
    """Trustworthy statements in order. Search hits that the rollout itself marked as useless support nothing."""
    for turn, later in itertools.zip_longest(trajectory.turns, trajectory.turns[1:]):
        calls = {call.id: call for call in turn.calls}
        useful = _useful_numbers(later.text if later is not None else "")
        for result in turn.results:
            facts = trustworthy_facts(result)
            for fact in facts:
                if useful is not None and isinstance(fact, WebFact) and fact.number not in useful:
                    continue
                yield Source(fact, result, calls.get(result.call_id), _count_rivals(fact, facts))


def _useful_numbers(text: str) -> frozenset[int] | None:
    """The hits that a turn marks as useful (`<useful>[1, 3]</useful>`, REVERSE); None when it marks nothing."""
    marked = _USEFUL_HITS_TAG.findall(text)
    return frozenset(int(number) for marks in marked for number in re.findall(r"\d{1,6}", marks)) if marked else None


def _count_rivals(fact: Fact, facts: tuple[Fact, ...]) -> int:
    """How many places of one result match the query as well as this one, itself included."""
    if not isinstance(fact, PlaceFact) or fact.score is None:
        return 1
    scores = [other.score for other in facts if isinstance(other, PlaceFact) and other.score is not None]
    return sum(score >= fact.score - _SCORE_TOLERANCE for score in scores)


def read_lines(sources: list[Source], readings: Iterable[Reading]) -> list[str]:
    """Every line that was read off the photo, by perception or by a tool."""
    lines = [line.text for reading in readings for line in reading.lines]
    for source in sources:
        lines += (source.fact.text, *source.fact.alternatives) if isinstance(source.fact, TextFact) else ()
    return [line for line in dict.fromkeys(lines) if not speaks_to_the_model(line)]


def statement_of(fact: Fact) -> str:
    """What a fact says, in words: a place and its address, a page, a line that was read, a country; may be empty."""
    if isinstance(fact, PlaceFact):
        return ", ".join(part for part in (fact.name, fact.address, fact.admin1, fact.country_code) if part)
    if isinstance(fact, WebFact):
        return f"{fact.title}: {fact.snippet}"
    if isinstance(fact, TextFact):
        return fact.text
    return getattr(fact, "country", "") or ""


def is_distinctive(key: str) -> bool:
    """Whether a normalised name is long enough to be found by chance seldom; two signs do in scripts of syllables."""
    return len(key) >= _MIN_NAME_LETTERS or (len(key) == 2 and not key.isascii())
