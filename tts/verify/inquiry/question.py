"""One question about a line of the photo: for each candidate in the same words, or open, without a candidate.

A search of the web names the line and the town of the candidate, a search for places names the line and is restricted
to the candidate's country. The tool, the line and the form are the same for all candidates of a round.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from pydantic import JsonValue

from tts.decision_weights import weights
from tts.domain.tooling import ToolCall, ToolResult
from tts.domain.value import Value
from tts.verify.evidence.evidence_sources import Source
from tts.verify.evidence.prompt_injection import trustworthy_facts
from tts.verify.evidence.small_print import is_small_print
from tts.verify.inquiry.tool_statements import ToolStatement, make_tool_statement

Form = Literal["web_search", "poi_keyword_search"]
ASKER = -3  # in place of a rollout's number, for results of the verifier's own calls
FORMS: tuple[Form, ...] = ("poi_keyword_search", "web_search")
MOST_PLACES = int(weights("inquiry")["most_places"])


class AskedPlace(Protocol):
    """A place that questions are asked about. `city` and `country_code` (ISO 3166-1 alpha-2) are empty where a question
    that needs them cannot be asked."""

    @property
    def name(self) -> str:
        """As people read it."""

    @property
    def city(self) -> str:
        """What a search of the web names."""

    @property
    def country_code(self) -> str:
        """Where a search for places looks."""

    @property
    def searched_lines(self) -> frozenset[str]:
        """The lines that led to it."""

    def is_named_in(self, statement: ToolStatement) -> bool:
        """Whether a statement is about this place."""


class Question(Value):
    """A line, and the tool that is asked for it."""

    line: str
    form: Form

    def arguments_about(self, candidate: AskedPlace) -> dict[str, JsonValue] | None:
        """The arguments of the call about a candidate; None where it cannot be asked of it."""
        if self.form == "web_search":
            return {"query": f"{self.line} {candidate.city}"} if candidate.city else None
        return {"query": self.line, "country": candidate.country_code} if candidate.country_code else None

    def open_arguments(self) -> dict[str, JsonValue]:
        """The arguments of the call that names no candidate."""
        return {"query": self.line}

    def statements(self, call: ToolCall, result: ToolResult, lines: Sequence[str]) -> tuple[ToolStatement, ...]:
        """What the tool answered; nothing when the call failed."""
        facts = trustworthy_facts(result)
        return tuple(make_tool_statement(ASKER, Source(fact, result, call, 1), lines) for fact in facts)

    def line_was_found(self, statements: Sequence[ToolStatement], candidate: AskedPlace) -> bool | None:
        """Whether the result about a candidate repeats the line there; None without a result."""
        if not statements:
            return None
        return any(self.line in one.lines and candidate.is_named_in(one) for one in statements)


def forms_for(line: str, offered: Sequence[str]) -> tuple[Form, ...]:
    """The forms in which a line may be asked for, the better one first: small print stands on pages, names on maps."""
    ordered = reversed(FORMS) if is_small_print(line) else FORMS
    return tuple(form for form in ordered if form in offered)
