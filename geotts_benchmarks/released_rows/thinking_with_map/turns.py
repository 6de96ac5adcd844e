"""`turns.jsonl` of Thinking with Map: what is read in an output, what runs, what is appended, whether the run ends.

Of the notebook a row may be a whole request: the conversation before it is played and the last request compared, texts
that stand together joined.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from geotts_benchmarks.released_rows.corpus import Corpus, Row
from geotts_benchmarks.released_rows.played_rollout import PlayedRollout, made_photo, played_rollout
from geotts_benchmarks.released_rows.played_tools import played_toolbox
from geotts_benchmarks.released_rows.played_transport import PlayedTransport
from geotts_benchmarks.released_rows.row_result import RowResult, compare_pairs, excluded_row
from geotts_benchmarks.released_rows.thinking_with_map.subject import (
    PHOTO,
    dialect_for,
    schemas_for,
    set_of,
    system_for,
)
from geotts_benchmarks.released_rows.values import with_words
from tts.dialects.hermes_tool_parser import as_plain_chat
from tts.dialects.released.thinking_with_map.demo_tool_parser import CallMessage, Piece, parse_message
from tts.dialects.released.thinking_with_map.tool_parser import calls_found
from tts.domain.messages import ImagePart, Message

# The reply that the rows of `verl` have in mind: their results show these two places.
_TIPS_REPLY: Final[dict[str, Any]] = {
    "status": "1",
    "tips": [
        {"id": "B0TEST0001", "name": "柳湾茶社", "address": "柳湾路12号", "typecode": "050000", "city": []},
        {"id": "B0TEST0002", "name": "柳湾茶社(东门店)", "address": "东门街3号1层", "typecode": "050500", "city": []},
    ],
}
_NO_PLACE: Final[dict[str, Any]] = {"status": "1", "pois": []}


async def judge(row: Row, corpus: Corpus) -> RowResult:
    """Play the row by its path and form; a whole request is declared where the texts are missing."""
    if "request" in row and not corpus.texts("thinking_with_map"):
        return excluded_row("the texts of the prompt are not in the corpus")
    if row["path"] == "demo":
        return await (_compare_request(row, corpus) if "request" in row else _compare_demo(row, corpus))
    return await _compare_verl(row, corpus)


async def _compare_verl(row: Row, corpus: Corpus) -> RowResult:
    before = row["before"]
    found = calls_found(row["assistant"], turn=0)
    played = await _play_outputs(
        row,
        corpus,
        [row["assistant"]],
        _TIPS_REPLY,
        turns_before=before["assistant_turns"],
        tokens_before=before["response_tokens"],
    )
    limits = dialect_for("verl", "amap", corpus).limits
    written = before["response_tokens"] + len(row["assistant"])
    # a limit that the output itself reaches ends the run before the parser is asked, so what it would find says nothing
    unasked = before["assistant_turns"] + 1 >= limits.max_turns or written >= limits.max_tokens
    states = [
        *(["processing_tools"] if played.calls else []),
        "generating" if played.appended_messages() else "terminated",
    ]
    return compare_pairs(
        calls=([], []) if unasked else (row["calls"], [_call(call.name, call.written) for call in found]),
        run=(row["run"], [_call(call.name, getattr(call, "written", call.arguments)) for call in played.calls]),
        states=(row["states"], states),
        stop=(row["stop"], not played.appended_messages()),
        appended=(row["appended"], [_verl_message(message) for message in played.appended_messages()[1:]]),
    )


async def _compare_demo(row: Row, corpus: Corpus) -> RowResult:
    pieces = parse_message(row["assistant"])
    called = [piece for piece in pieces if isinstance(piece, CallMessage)]
    played = await _play_outputs(row, corpus, [row["assistant"]], _NO_PLACE)
    return compare_pairs(
        calls=(row["calls"], [{"name": call.name, "arguments": call.arguments} for call in called]),
        run=(row["run"], [call.name for call in played.calls]),
        messages=(row["messages"], _demo_messages(pieces)),
        stop=(row["stop"], not played.appended_messages()),
    )


async def _compare_request(row: Row, corpus: Corpus) -> RowResult:
    """A whole request: the outputs in it are said again, and what the engine is asked next is compared."""
    outputs = [_join_items(message) for message in row["request"] if message["role"] == "assistant"]
    played = await _play_outputs(row, corpus, outputs, _NO_PLACE)
    messages = as_plain_chat(played.requests[-1].messages, ())
    question = corpus.texts("thinking_with_map")["demo"]["user"]["text"]
    made = [{"role": message.role, "content": _items(message, question)} for message in messages[1:]]
    wanted = [{"role": message["role"], "content": _wanted_items(message)} for message in row["request"][1:]]
    return compare_pairs(messages=(wanted, made), system=(_system_text(row), _with_one_tool(messages[0].text)))


async def _play_outputs(row: Row, corpus: Corpus, outputs: Sequence[str], reply: Any, **before: Any) -> PlayedRollout:
    path = row["path"]
    first = _first_called(outputs[0], path) if outputs else ""
    dialect = dialect_for(path, set_of(first, path) if first.startswith("google") else "amap", corpus)
    transport = PlayedTransport({"status": 200, "reply": reply})
    async with played_toolbox(system_for(path), transport, schemas_for(path, corpus)) as toolbox:
        return await played_rollout(dialect, toolbox, made_photo(*PHOTO[path]), outputs, **before)


def _first_called(output: str, path: str) -> str:
    """The tool that an output calls first, which decides the set that the run must have had; empty for none."""
    if path == "demo":
        return next((piece.name for piece in parse_message(output) if isinstance(piece, CallMessage)), "")
    return next((call.name for call in calls_found(output, turn=0)), "")


def _call(name: str, arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": with_words(arguments)}


def _verl_message(message: Message) -> dict[str, Any]:
    """A string, or a list with the pictures named only."""
    if not message.images:
        return {"role": message.role, "content": message.text}
    content = [
        {"type": "image"} if isinstance(part, ImagePart) else {"type": "text", "text": part.text}
        for part in message.parts
    ]
    return {"role": message.role, "content": content}


def _demo_messages(pieces: Sequence[Piece]) -> list[dict[str, Any]]:
    """As the agent keeps them: calls are numbered from 1."""
    messages: list[dict[str, Any]] = []
    number = 0
    for piece in pieces:
        if isinstance(piece, CallMessage):
            number += 1
            call = {"name": piece.name, "arguments": piece.arguments}
            messages.append(
                {"role": "assistant", "content": [], "function_call": call, "extra": {"function_id": str(number)}}
            )
        else:
            messages.append({"role": "assistant", "content": [{"text": text} for text in piece.texts], "extra": {}})
    return messages


def _join_items(message: dict[str, Any]) -> str:
    return "".join(item["text"] for item in message["content"])


def _items(message: Message, question: str) -> list[str]:
    """Texts joined where they stand together; pictures and the question as marks."""
    texts = ["<picture>" if isinstance(part, ImagePart) else part.text for part in message.parts]
    return _join_neighbours(["<question>" if text == question else text for text in texts])


def _wanted_items(message: dict[str, Any]) -> list[str]:
    return _join_neighbours(["<picture>" if "image" in item else item["text"] for item in message["content"]])


def _join_neighbours(texts: Sequence[str]) -> list[str]:
    joined: list[str] = []
    for text in texts:
        if joined and text != "<picture>" and joined[-1] != "<picture>":
            joined[-1] += text
        else:
            joined.append(text)
    return joined


def _system_text(row: Row) -> str:
    return _with_one_tool(_join_items(row["request"][0]))


def _with_one_tool(system: str) -> str:
    """The system text with one of its tools only: the rows list one for brevity."""
    lines = system.split("\n")
    tools = [line for line in lines if line.startswith('{"type": "function"')]
    kept = [line for line in tools if json.loads(line)["function"]["name"] == "amap_poi_detail"]
    return "\n".join(line for line in lines if line not in tools or line in kept)
