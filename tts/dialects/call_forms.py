"""Tool calls in the forms that other model families were trained on, rewritten as hermes calls, which one reader reads.

Endpoints without a parser for their model leave these forms in the text. The arguments of a call that is not seen as
one would be taken for an answer.

* Llama: `<function=name>{…}</function>`, `<|python_tag|>{"name": …}<|eom_id|>`
* Qwen3-Coder, Qwen3.5: `<function=name><parameter=key>…</parameter></function>`
* GLM: `<tool_call>name<arg_key>key</arg_key><arg_value>…</arg_value></tool_call>`
* Mistral: `[TOOL_CALLS][{"name": …}]`, `[TOOL_CALLS]name[ARGS]{…}`
* gpt-oss: `to=functions.name <|constrain|>json<|message|>{…}<|call|>`
* ReAct: `Action: name`, and on the next line `Action Input: {…}`
* Kimi: `<|tool_call_begin|>functions.name:0<|tool_call_argument_begin|>{…}<|tool_call_end|>`
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from tts.dialects.hermes_tool_parser import FoundCalls, call_from
from tts.dialects.json_answer_parser import json_objects
from tts.domain.tooling import ToolCall

_MARK: Final = re.compile(
    r"<tool_call>|<function=(?=[\w.-])|\[TOOL_CALLS\]|<\|python_tag\|>|<\|tool_call_begin\|>"
    r"|to=functions\.|\bAction:(?=[ \t]*[\w.-]{1,100}\s{1,9}Action Input:)",
    re.IGNORECASE,
)
_RESPONSE: Final = re.compile(r"<tool_response>.*?(?:</tool_response>|\Z)", re.IGNORECASE | re.DOTALL)
_SPOKEN_OF: Final = re.compile(r"`<tool_call>`(?!``)", re.IGNORECASE)
_END: Final = {
    "<tool_call>": re.compile(r"</tool_call>", re.IGNORECASE),
    "<function=": re.compile(r"</function>", re.IGNORECASE),
    "[tool_calls]": re.compile(r"\Z"),
    "<|python_tag|>": re.compile(r"<\|eom_id\|>|\Z"),
    "<|tool_call_begin|>": re.compile(r"<\|tool_call_end\|>"),
    "to=functions.": re.compile(r"<\|call\|>|\Z"),
    "action:": re.compile(r"\n\s*Observation:|\Z"),
}
_HEAD: Final = re.compile(
    r"\s*(?:functions\.)?([\w.-]{1,100})(?::\d+)?\s*(?:\[CALL_ID\][\w-]*\s*)?"
    r"(?:>|\[ARGS\]|<\|tool_call_argument_begin\|>|(?=<arg_key>)|Action Input:|[^\n{}]{0,60}<\|message\|>)"
)
_NAMES: Final = ("name", "function", "tool", "tool_name", "action")
_ARGUMENTS: Final = ("arguments", "parameters", "args", "input", "tool_input", "action_input")
_NO_ARGUMENTS: Final = (*_NAMES, "type", "id", "thought")
_MAX_CALLS: Final = 32


def as_hermes(text: str) -> str:
    """The text with every call between `<tool_call>` tags, one a tag; what cannot be read stays, between its tags.

    A response that the model makes up for a call is left out.
    """
    text = _RESPONSE.sub("", _SPOKEN_OF.sub("`tool_call`", text))
    marks = list(_MARK.finditer(text))
    written = [text[: marks[0].start()] if marks else text]
    for i, mark in enumerate(marks):
        piece = text[mark.end() : marks[i + 1].start() if i + 1 < len(marks) else len(text)]
        end = _END[mark[0].lower()].search(piece)
        body = piece[: end.start()] if end else piece
        calls = list(_calls_in(mark[0].lower(), body, closed=end is not None))
        if calls:
            written += map(_hermes_text, calls)
        elif body.strip() or end or i + 1 == len(marks):  # not the tag around a call with tags of its own
            written.append(f"<tool_call>{body}{'</tool_call>' if end else ''}")
        written.append(piece[end.end() :] if end else "")
    return "".join(written)


def bare_calls_in(text: str, *, turn: int) -> FoundCalls:
    """Calls written without any tags: objects with a name and arguments, or a `function`, and nothing else."""
    found = [call for value in json_objects(text) if _is_bare_call(value) and (call := _call_of(value)) is not None]
    named = (call.model_copy(update={"id": f"call_{turn}_{i}"}) for i, call in enumerate(found[:_MAX_CALLS]))
    return FoundCalls(tuple(named))


def _is_bare_call(value: dict[str, Any]) -> bool:
    has_arguments = any(key in value for key in _ARGUMENTS) or isinstance(value.get("function"), dict)
    return has_arguments and value.keys() <= {*_NO_ARGUMENTS, *_ARGUMENTS}


def _calls_in(mark: str, body: str, *, closed: bool) -> Iterator[ToolCall]:
    head = _HEAD.match(body)
    if head is not None and (mark != "<tool_call>" or "<arg_key>" in body):
        arguments = _arguments_in(body[head.end() :]) if closed else None
        read = [{"name": head[1], "arguments": arguments}] if arguments is not None else []
    else:
        read = list(json_objects(body)) or (list(json_objects(body + "}")) if closed else [])  # one brace short
    for value in read:
        if (call := _call_of(value)) is not None:
            yield call


def _call_of(value: dict[str, Any]) -> ToolCall | None:
    """A call under the names that models give its parts; arguments may stand beside its name."""
    inner = value.get("function")
    value = inner if isinstance(inner, dict) else value
    name = next((value[key] for key in _NAMES if key in value), None)
    beside = {key: item for key, item in value.items() if key not in _NO_ARGUMENTS}
    arguments = next((value[key] for key in _ARGUMENTS if key in value), beside)
    return call_from({"name": name, "arguments": {} if arguments is None else arguments}, "")


def _arguments_in(written: str) -> dict[str, Any] | None:
    """Parameters between tags, else one object, else nothing; None where none of these can be read."""
    for key, key_end, value, value_end in (
        ("<parameter=", ">", "", "</parameter>"),
        ("<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"),
    ):
        if key in written:
            return _tagged_arguments(written.split(key)[1:], key_end, value, value_end)
    return next(json_objects(written), None) if written.strip() else {}


def _tagged_arguments(pieces: list[str], key_end: str, value: str, value_end: str) -> dict[str, Any] | None:
    found: dict[str, Any] = {}
    for piece in pieces:
        key, is_named, rest = piece.partition(key_end)
        text, is_closed, _ = rest.partition(value_end)
        if not (is_named and is_closed):
            return None
        found[key.strip()] = _typed(text.strip().removeprefix(value).strip())
    return found


def _typed(written: str) -> Any:
    """A number, a list and the like as JSON has them; a text stands there without quotes, or with its own."""
    try:
        value = json.loads(written)
    except (ValueError, RecursionError):
        return written
    return written if isinstance(value, str) else value


def _hermes_text(call: ToolCall) -> str:
    return f"<tool_call>{json.dumps({'name': call.name, 'arguments': call.arguments}, ensure_ascii=False)}</tool_call>"
