"""Whether a turn of a model could be used."""

from __future__ import annotations

from tts.dialects.base import ParsedTurn


def problem_of(parsed: ParsedTurn, *, has_tools: bool, released: bool) -> str:
    """Why a turn could not be used; empty for one that answers or calls tools.

    A released loop goes on whatever a turn says: there a turn only has the problem that its reader names.
    """
    if released or parsed.answer is not None:
        return parsed.problem or ""
    if parsed.calls and has_tools:
        return ""
    return parsed.problem or ("there are no tools here" if parsed.calls else "nothing usable was in it")
