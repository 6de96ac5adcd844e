"""`tools.jsonl` of GeoVista: a call in a turn and the message that the loop appends.

Which photo, and what came before the call, only a row's note says: a size, "Fourth zoom", "The third search".
"""

from __future__ import annotations

import json
import re
from typing import Final

from geotts_benchmarks.released_rows.corpus import Corpus, Row
from geotts_benchmarks.released_rows.geovista.subject import (
    SYSTEM,
    as_tavily,
    dialect_for,
    is_beyond_the_service,
    row_of_message,
)
from geotts_benchmarks.released_rows.made_result import made_result
from geotts_benchmarks.released_rows.played_rollout import made_photo, played_rollout
from geotts_benchmarks.released_rows.played_tools import played_toolbox
from geotts_benchmarks.released_rows.played_transport import PlayedTransport
from geotts_benchmarks.released_rows.row_result import RowResult, compare_pairs, excluded_row
from geotts_benchmarks.released_rows.values import with_numbers
from tts.domain.messages import Message, TextPart, text_message

_PHOTO_SIZE_NOTE: Final = re.compile(r"[Pp]hoto of (\d+)x(\d+)")
_ORDINAL: Final = re.compile(r"\b(second|third|fourth|fifth|sixth|seventh)\b", re.IGNORECASE)
_ORDINAL_WORDS: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")
_DEFAULT_PHOTO_SIZE: Final = (1008, 756)
_LAST_ROUND: Final = 5


async def judge(row: Row, corpus: Corpus) -> RowResult:
    """Play the call against the row's reply and compare the user messages that follow it."""
    note = row.get("note") or ""
    if is_beyond_the_service(row.get("provider")):
        return excluded_row(
            "the authors' search worker is not public, and what it gives here no other service can give"
        )
    if not corpus.texts(SYSTEM) and _has_text_after_tool(row):
        return excluded_row("what the loop says after the round is not in the corpus")
    call = {"name": row["tool"], "arguments": with_numbers(row["arguments"])}
    if "arguments" not in row:
        del call["arguments"]
    output = f"<tool_call>\n{json.dumps(call, ensure_ascii=False)}\n</tool_call>"
    size = _PHOTO_SIZE_NOTE.search(note)
    photo = made_photo(int(size[1]), int(size[2])) if size else made_photo(*_DEFAULT_PHOTO_SIZE)
    earlier = _earlier_rounds(row["tool"], note)
    transport = PlayedTransport(as_tavily(row.get("provider") or {"fails": "lost"}))
    async with played_toolbox(SYSTEM, transport) as toolbox:
        played = await played_rollout(
            dialect_for(corpus), toolbox, photo, [output], earlier=earlier, turns_before=_count_rounds(earlier)
        )
    made = [row_of_message(message) for message in played.appended_messages() if message.role == "user"]
    return compare_pairs(messages=(row["messages"], made))


def _has_text_after_tool(row: Row) -> bool:
    """Whether a text of the loop follows the tool's response."""
    return any(not message["content"][-1]["text"].endswith("</tool_response>") for message in row["messages"])


def _count_rounds(earlier: list[Message]) -> int:
    """Rounds before the call. What follows the last round is never sent, so it is looked at as in the first."""
    rounds = len(earlier) // 2
    return rounds if rounds < _LAST_ROUND else 0


def _earlier_rounds(tool: str, note: str) -> list[Message]:
    """Rounds in which the same tool went well, as many as the note speaks of."""
    found = _ORDINAL.search(note)
    rounds: list[Message] = []
    for i in range(_ORDINAL_WORDS.index(found[1].lower()) if found else 0):
        result = made_result("", name=tool, call_id=f"earlier_{i}").result
        rounds.append(text_message("assistant", "earlier"))
        rounds.append(Message(role="user", parts=(TextPart(text="earlier"),), result=result))
    return rounds
