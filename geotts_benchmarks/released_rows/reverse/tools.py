"""`tools.jsonl` of REVERSE: a call in a turn over the made-up services; what the model then reads.

Calls that come before in the same run stand in a note only: that it is the sixth, or comes after five that failed.
Hosts that are excluded stand in a note, or in the requests that went out. What was recorded for the photos of training
is what the other rows show of it (`recordings`).
"""

from __future__ import annotations

import json
import random
import re
from http import HTTPStatus
from typing import Any, Final

from pydantic import JsonValue

from geotts_benchmarks.released_rows.corpus import Corpus, Row
from geotts_benchmarks.released_rows.played_rollout import PlayedRollout, made_photo
from geotts_benchmarks.released_rows.reverse.played_conversation import (
    eval_message,
    eval_tools,
    pictures_of,
    play,
    rl_tools,
)
from geotts_benchmarks.released_rows.reverse.recordings import is_known, recorded_cache
from geotts_benchmarks.released_rows.reverse.services import MadeUpLens, MadeUpPages
from geotts_benchmarks.released_rows.reverse.subject import PHOTO, dialect_for
from geotts_benchmarks.released_rows.row_result import RowResult, compare_pairs, excluded_row
from tools.released.reverse.recorded_results import RecordedResult, recorded_pages, recorded_pictures
from tts.errors import ToolError
from tts.toolkit.reverse_cache.recorded_searches import ReverseCache

_ORDINALS: Final = {"second": 1, "third": 2, "fourth": 3, "fifth": 4, "sixth": 5}
_NUMBER_WORDS: Final = {"two": 2, "three": 3, "four": 4, "five": 5}
_AFTER_GOOD_CALL: Final = re.compile(rf"\bThe ({'|'.join(_ORDINALS)}) ")
_AFTER_FAILED_CALLS: Final = re.compile(rf"After ({'|'.join(_NUMBER_WORDS)}) that failed")
_EXCLUDED_DOMAIN: Final = re.compile(r"--exclude_domains (\S+?):?(?:\s|$)")
_NO_KEY: Final = "no key"
_CACHED_MARK: Final = "cached"
_STATUS_OK: Final = 200
_FAILED_UPLOAD: Final = "upload of the crop fails"
_BAD_ARGUMENTS_REWARD: Final = -0.05
_GOOD_ARGUMENTS: Final = {
    "image_zoom_in_tool": {"bbox_2d": [100, 200, 600, 700]},
    "image_search_tool": {"bbox_2d": [300, 300, 900, 900]},
    "text_search_tool": {"query": "earlier"},
}


async def judge(row: Row, corpus: Corpus) -> RowResult:
    """Play the call; compare what the model reads, of the evaluation also requests, of training reward and meta."""
    return await (_compare_rl(row, corpus) if row["path"] == "rl" else _compare_eval(row, corpus))


async def _compare_eval(row: Row, corpus: Corpus) -> RowResult:
    if _FAILED_UPLOAD in row.get("note", ""):
        return excluded_row("why the upload failed is not in the row")
    if "fails" in (row.get("provider") or {}):
        return excluded_row("the words of a failing connection are not in the row")
    excluded = _excluded_domains(row)
    pages, lens = MadeUpPages(row, corpus), MadeUpLens(row, corpus, excluded)
    if _CACHED_MARK in row.get("note", "") and row["tool"] == "image_search_tool":
        lens.remember_first(row["arguments"])
    tools = eval_tools(None if _has_no_key(row) else pages, lens, excluded)
    outputs = [*_earlier_outputs(row), _call_output(row["tool"], row["arguments"])]
    if (same := _same_query(row, corpus)) is not None:
        outputs.insert(0, _call_output(row["tool"], {"query": same}))
    played = await play(dialect_for("eval", corpus), "eval", tools, PHOTO, outputs, hide_photo_hosts=bool(excluded))
    pairs: dict[str, tuple[JsonValue, JsonValue]] = {
        "messages": (row["messages"], _last_messages(played, len(outputs)))
    }
    if row["tool"] == "text_search_tool" and "requests" in row and len(outputs) == 1:
        wanted = [_without_key(request["json"]) for request in row["requests"]]
        pairs["requests"] = ([*wanted], [*pages.requests])
    repeated = (row.get("provider") or {}).get("status", _STATUS_OK) >= HTTPStatus.INTERNAL_SERVER_ERROR
    if row["tool"] == "image_search_tool" and len(outputs) == 1 and not repeated:
        pairs["request_count"] = (row.get("request_count", 0), lens.asked)
    return compare_pairs(**pairs)


async def _compare_rl(row: Row, corpus: Corpus) -> RowResult:
    known = recorded_cache(corpus.folder, row["id"])
    if not is_known(row, known):
        return excluded_row("no other row shows what was recorded for the photo")
    photo = made_photo(*PHOTO)
    tools = rl_tools(known, row["image"], photo.sha256)
    output = _call_output(row["tool"], row["arguments"])
    played = await play(dialect_for("rl", corpus), "rl", tools, PHOTO, [output])
    answer = played.appended_messages()[1]
    wanted, found = row["returned"], _recorded_result(row, known)
    meta: dict[str, Any] = {}
    if row["tool"] in _GOOD_ARGUMENTS:
        meta = found.meta if found is not None else {"success": not answer.text.startswith("Error")}
    reward = (
        found.reward if found is not None else 0.0 if not answer.text.startswith("Error: ") else _BAD_ARGUMENTS_REWARD
    )
    return compare_pairs(
        text=(wanted["text"], answer.text),
        images=(wanted["images"], [*pictures_of(played)]),
        reward=(wanted["reward"], reward),
        meta=(row["meta"], meta),
    )


def _recorded_result(row: Row, known: ReverseCache) -> RecordedResult | None:
    """What the search of a row gives its loop; None for other tools and for refusals."""
    search = {"image_search_tool": recorded_pictures, "text_search_tool": recorded_pages}.get(row["tool"])
    if search is None:
        return None
    key, otherwise = ("bbox_2d", None) if row["tool"] == "image_search_tool" else ("query", "")
    asked = row["arguments"].get(key, otherwise)
    try:
        return search(known, row["image"], asked, lambda: random.Random(0))
    except ToolError:
        return None


def _earlier_outputs(row: Row) -> list[str]:
    """Outputs of the turns before, as the note counts them."""
    note = row.get("note", "")
    if (good := _AFTER_GOOD_CALL.search(note)) is not None and row["tool"] in _GOOD_ARGUMENTS:
        return [_earlier_output(row["tool"], number) for number in range(_ORDINALS[good[1]])]
    if (bad := _AFTER_FAILED_CALLS.search(note)) is not None:
        return [_call_output(row["tool"], {})] * _NUMBER_WORDS[bad[1]]
    return []


def _earlier_output(tool: str, number: int) -> str:
    if tool == "text_search_tool":
        return _call_output(tool, {"query": f"q{number}"})
    return _call_output(tool, {"bbox_2d": [100 + number, 200, 600, 700]})


def _last_messages(played: PlayedRollout, turns: int) -> list[JsonValue]:
    """The messages after the last output; nothing where the run ended with it."""
    if len(played.requests) <= turns:
        return []
    after = played.requests[turns].messages[len(played.requests[turns - 1].messages) + 1 :]
    return [eval_message(message, played) for message in after]


def _call_output(tool: str, arguments: Any) -> str:
    return f"<tool_call>{json.dumps({'name': tool, 'arguments': arguments}, ensure_ascii=False)}</tool_call>"


def _excluded_domains(row: Row) -> tuple[str, ...]:
    listed = [domain for request in row.get("requests", ()) for domain in request["json"].get("exclude_domains", ())]
    noted = _EXCLUDED_DOMAIN.search(row.get("note", ""))
    return tuple(dict.fromkeys([*listed, *([noted[1]] if noted is not None else [])]))


def _same_query(row: Row, corpus: Corpus) -> str | None:
    """The query of an earlier row that differs in case and outer blanks at most: its reply is in the cache."""
    asked = row["arguments"].get("query") if isinstance(row["arguments"], dict) else None
    if row["tool"] != "text_search_tool" or not isinstance(asked, str):
        return None
    for earlier in corpus.rows("reverse", "tools"):
        if earlier["id"] == row["id"]:
            return None
        query = earlier["arguments"].get("query") if isinstance(earlier["arguments"], dict) else None
        answered = earlier["path"] == "eval" and (earlier.get("provider") or {}).get("status", _STATUS_OK) == _STATUS_OK
        if answered and isinstance(query, str) and query.strip() and query.strip().lower() == asked.strip().lower():
            return query
    return None


def _has_no_key(row: Row) -> bool:
    """The query of the row in which the service has no key says so."""
    arguments = row["arguments"]
    return isinstance(arguments, dict) and arguments.get("query") == _NO_KEY


def _without_key(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name != "api_key"}
