"""The results that a message marks as useful, for each search of the previous turn, as in the log of the evaluation."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from tts.dialects.released.released_dialect import messages_after_prompt
from tts.dialects.released.reverse.eval_tool_parser import IMAGE_SEARCH, TEXT_SEARCH
from tts.domain.hypothesis import Claim
from tts.domain.messages import Message
from tts.domain.text_between_marks import value_between_tags
from tts.domain.tooling import ToolResult, WebFact

_USEFUL_MARK = value_between_tags("useful", "[]")
_SEARCH_TOOLS = (IMAGE_SEARCH, TEXT_SEARCH)


class MarkedResult(NamedTuple):
    """`turn` counts messages of the model from 0; `indices` are JSON values as written, none when they are no list."""

    turn: int
    result: ToolResult
    indices: list[Any]


def marks_in(messages: Sequence[Message]) -> list[MarkedResult]:
    """Marks of a conversation. A mark that follows no search is not kept."""
    found: list[MarkedResult] = []
    searched: list[ToolResult] = []
    turn = -1
    for message in messages_after_prompt(messages):
        if message.role == "assistant":
            turn += 1
            mark = _USEFUL_MARK.search(message.text)
            found += [MarkedResult(turn, result, _indices(mark.text)) for result in searched if mark is not None]
            searched = []
        elif message.result is not None and message.result.name in _SEARCH_TOOLS:
            searched.append(message.result)
    return found


def marked_claims(messages: Sequence[Message]) -> tuple[Claim, ...]:
    """Every result that was marked, as a claim of the answer."""
    claims: dict[tuple[str, str], Claim] = {}
    for mark in marks_in(messages):
        trusted = {index for index in mark.indices if isinstance(index, int)}
        claims.update(claims_of_trusted(mark.result, trusted))
    return tuple(claims.values())


def claims_of_trusted(result: ToolResult, numbers: Collection[int]) -> Iterator[tuple[tuple[str, str], Claim]]:
    """The hits of a search with these numbers as claims, by the call and the page."""
    for fact in result.facts:
        if isinstance(fact, WebFact) and fact.number in numbers:
            text = f"a search result was trusted: {fact.title}"[:500]
            yield (result.call_id, fact.url), Claim(text=text, call_id=result.call_id, quote=fact.title[:300])


def _indices(written: str) -> list[Any]:
    try:
        listed = json.loads(written)
    except (ValueError, RecursionError):
        return []
    return listed if isinstance(listed, list) else []
