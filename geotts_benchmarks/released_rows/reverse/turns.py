"""`turns.jsonl` of REVERSE: what is read in an output, what is appended, whether the run ends; whole conversations.

How many messages a conversation may have stands in its `why`. Where its last output calls a tool or only thinks, it had
no room for another: the row gives none. The log of the evaluation (`record`) and the distance to a truth that the row
does not state are not compared.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from pydantic import JsonValue

from geotts_benchmarks.released_rows.corpus import Corpus, Row
from geotts_benchmarks.released_rows.played_rollout import PlayedRollout, made_photo
from geotts_benchmarks.released_rows.reverse.played_conversation import (
    eval_message,
    eval_tools,
    play,
    rl_message,
    rl_tools,
)
from geotts_benchmarks.released_rows.reverse.recordings import recorded_cache
from geotts_benchmarks.released_rows.reverse.services import MadeUpLens, MadeUpPages
from geotts_benchmarks.released_rows.reverse.subject import LARGE_PHOTO, PHOTO, dialect_for, nudge_of
from geotts_benchmarks.released_rows.row_result import RowResult, compare_pairs, excluded_row
from geotts_benchmarks.released_rows.values import with_words
from tts.dialects.released.reverse.eval_tool_parser import IMAGE_SEARCH, TEXT_SEARCH, ZOOM, calls_written
from tts.dialects.released.reverse.marks import marks_in
from tts.dialects.released.thinking_with_map.tool_parser import calls_found
from tts.domain.messages import text_message
from tts.domain.tooling import ToolResult
from tts.domain.trajectory import Turn
from tts.eval.rewarding.process_reward import tool_rewards
from tts.rewards.released.reverse_reward import read_for_tables
from tts.toolkit.reverse_cache.recorded_searches import ReverseCache

_MAX_TURNS_NOTE: Final = re.compile(r"max_turns (\d+)")
_LARGE_PHOTO_NOTE: Final = "above 2,097,152 pixels"
_COUNTED_TOOLS: Final = {"zoom": ZOOM, "image_search": IMAGE_SEARCH, "text_search": TEXT_SEARCH}
_PHOTO_PATH: Final = "images/part00/photo_0.jpg"  # the photo of the rows of training


async def judge(row: Row, corpus: Corpus) -> RowResult:
    """Play one output or a whole conversation; declared where it needs a reminder that nobody supplied."""
    if row["path"] == "rl":
        return await _compare_rl(row, corpus)
    if nudge_of(corpus) is None and (row.get("nudged") or row.get("nudges")):
        return excluded_row("nobody supplied the reminder")
    return await (
        _compare_turn(row, corpus) if isinstance(row["assistant"], str) else _compare_conversation(row, corpus)
    )


async def _compare_turn(row: Row, corpus: Corpus) -> RowResult:
    played = await _play_outputs(row, corpus, [row["assistant"]])
    answer = with_words(read_for_tables(row["assistant"]))
    appended = played.appended_messages()
    nudge = nudge_of(corpus)
    return compare_pairs(
        calls=(row["calls"], [call.whole for call in calls_written(row["assistant"], turn=0)]),
        answer=(row["answer"], answer),
        stop=(row["stop"], not appended),
        nudged=(row["nudged"], bool(appended) and appended[-1].role == "user" and appended[-1].text == nudge),
        counted=(row["counted"], {name: _count_successes(played, tool) for name, tool in _COUNTED_TOOLS.items()}),
        appended=(row["appended"], [eval_message(message, played) for message in appended]),
        prediction_if_last=(row["prediction_if_last"], answer),
    )


async def _compare_conversation(row: Row, corpus: Corpus) -> RowResult:
    outputs: Sequence[str] = row["assistant"]
    played = await _play_outputs(row, corpus, outputs, messages=_max_messages(row))
    last = played.requests[-1]
    messages = [*last.messages, *_final_message(played, outputs)]
    tool_names = {schema.name for schema in last.tools}
    nudges = sum(message.role == "user" and message.text == nudge_of(corpus) for message in last.messages)
    useful = [{"turn": m.turn, "tool": m.result.name, "indices": m.indices} for m in marks_in(messages)]
    return compare_pairs(
        requests=(row["requests"], len(played.requests)),
        last_request=(row["last_request"], [eval_message(message, played) for message in last.messages]),
        tools_sent=(sorted(row["tools_sent"]), sorted(tool_names)),
        stop_words=(row["stop_words"], [*last.sampling.stop]),
        prediction=(
            row["prediction"],
            with_words(read_for_tables(outputs[min(len(outputs), len(played.requests)) - 1])),
        ),
        served=(row["prediction"], _served_point(played)),
        calls=(row["calls"], sum(_count_successes(played, tool) for tool in _COUNTED_TOOLS.values())),
        nudges=(row["nudges"], nudges),
        max_turns_exceeded=(row["max_turns_exceeded"], _calls_at_the_end(played, outputs)),
        useful=(row["useful"], useful),
    )


async def _compare_rl(row: Row, corpus: Corpus) -> RowResult:
    photo = made_photo(*PHOTO)
    before = row["before"]
    played = await play(
        dialect_for("rl", corpus),
        "rl",
        rl_tools(recorded_cache(corpus.folder), _PHOTO_PATH, photo.sha256),
        PHOTO,
        [row["assistant"]],
        turns_before=before.get("assistant_turns", 0),
        tokens_before=before.get("used", 0),
    )
    appended = played.appended_messages()
    found = calls_found(row["assistant"], turn=0) if played.calls else ()
    states = [*(["processing_tools"] if played.calls else []), "generating" if appended else "terminated"]
    return compare_pairs(
        calls=(row["calls"], [{"name": call.name, "arguments": with_words(call.written)} for call in found]),
        states=(row["states"], states),
        stop=(row["stop"], not appended),
        appended=(row["appended"], [rl_message(message) for message in appended[1:]]),
        tool_rewards=(row["tool_rewards"], [*_rewards(row, played, corpus, photo.sha256)]),
    )


async def _play_outputs(
    row: Row, corpus: Corpus, outputs: Sequence[str], *, messages: int | None = None
) -> PlayedRollout:
    tools = eval_tools(MadeUpPages(None, corpus), MadeUpLens(None, corpus))
    size = LARGE_PHOTO if _LARGE_PHOTO_NOTE in row["why"] else PHOTO
    return await play(dialect_for("eval", corpus, messages=messages), "eval", tools, size, outputs)


def _max_messages(row: Row) -> int | None:
    """None for the system's own."""
    stated = _MAX_TURNS_NOTE.search(row["why"])
    if stated is not None:
        return int(stated[1]) + 1
    last = row["assistant"][-1]
    goes_on = calls_written(last, turn=0) or ("</think>" in last and "<answer>" not in last)
    return len(row["assistant"]) if goes_on else None


def _calls_at_the_end(played: PlayedRollout, outputs: Sequence[str]) -> bool:
    last = len(played.requests) - 1
    return last < len(outputs) and bool(calls_written(outputs[last], turn=0))


def _final_message(played: PlayedRollout, outputs: Sequence[str]) -> list[Any]:
    """The last output as a message, which no request holds any more."""
    return (
        [text_message("assistant", outputs[len(played.requests) - 1])] if len(played.requests) <= len(outputs) else []
    )


def _served_point(played: PlayedRollout) -> JsonValue:
    answer = None if played.finished is None else played.finished.answer
    return None if answer is None or answer.point is None else [answer.point.lat, answer.point.lon]


def _count_successes(played: PlayedRollout, tool: str) -> int:
    return sum(result.ok and result.name == tool for result in played.results)


def _rewards(row: Row, played: PlayedRollout, corpus: Corpus, photo: str) -> list[float]:
    known = recorded_cache(corpus.folder)
    cache = ReverseCache(known.pictures, known.texts, {photo: _PHOTO_PATH})
    results: tuple[ToolResult, ...] = tuple(played.results)
    turn = Turn(index=0, text=row["assistant"], calls=tuple(played.calls), results=results)
    return tool_rewards([turn], cache, photo)
