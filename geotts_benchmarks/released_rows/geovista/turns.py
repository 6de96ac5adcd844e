"""`turns.jsonl` of GeoVista: one output, or a whole run whose last request is compared."""

from __future__ import annotations

from typing import Any, Final

from geotts_benchmarks.released_rows.corpus import Corpus, Row
from geotts_benchmarks.released_rows.geovista.subject import SYSTEM, as_tavily, dialect_for, row_of_message
from geotts_benchmarks.released_rows.played_rollout import PlayedRollout, made_photo, played_rollout
from geotts_benchmarks.released_rows.played_tools import played_toolbox
from geotts_benchmarks.released_rows.played_transport import PlayedTransport
from geotts_benchmarks.released_rows.row_result import RowResult, compare_pairs, excluded_row
from geotts_benchmarks.released_rows.values import with_words
from tts.dialects.released.geovista.tool_parser import calls_written

_PHOTO_SIZE: Final = (1008, 756)
# The reply that the rows have in mind: their results show this page.
_PAGES: Final = [{"title": "The crane", "href": "https://w1.example", "body": "It stands."}]


async def judge(row: Row, corpus: Corpus) -> RowResult:
    """Play the outputs; compare calls, stop and appended messages, or of a whole run its last request."""
    whole = isinstance(row["assistant"], list)
    if whole and not corpus.texts(SYSTEM):
        return excluded_row("the texts of the loop are not in the corpus")
    played = await _play_outputs(row["assistant"] if whole else [row["assistant"]], corpus)
    if whole:
        wanted = _without_system(row["last_request"])
        made = _without_system([row_of_message(message) for message in played.requests[-1].messages])
        return compare_pairs(requests=(row["requests"], len(played.requests)), last_request=(wanted, made))
    calls = calls_written(row["assistant"])
    stop = not played.appended_messages()
    return compare_pairs(
        calls=(row["calls"], with_words(calls)),
        run=(row["run"], with_words(calls[:1])),
        stop=(row["stop"], stop),
        appended=(row["appended"], [row_of_message(message) for message in played.appended_messages()]),
    )


async def _play_outputs(outputs: list[str], corpus: Corpus) -> PlayedRollout:
    transport = PlayedTransport(as_tavily({"status": 200, "reply": _PAGES}))
    async with played_toolbox(SYSTEM, transport) as toolbox:
        return await played_rollout(dialect_for(corpus), toolbox, made_photo(*_PHOTO_SIZE), outputs)


def _without_system(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows leave the system text out."""
    return [message | {"content": "<system>"} if message["role"] == "system" else message for message in messages]
