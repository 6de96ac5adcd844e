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
from tts.dialects.json_answer_parser import ARGUMENT_KEYS, CALL_KEYS, json_objects, placed_objects
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
    "<function=": re.compile(r"</function>|(?=<answer>)", re.IGNORECASE),
    "[tool_calls]": re.compile(r"(?=<answer>)|\Z"),
    "<|python_tag|>": re.compile(r"<\|eom_id\|>|(?=<answer>)|\Z"),
    "<|tool_call_begin|>": re.compile(r"<\|tool_call_end\|>|(?=<answer>)"),
    "to=functions.": re.compile(r"<\|call\|>|(?=<answer>)|\Z"),
    "action:": re.compile(r"\n\s{0,60}Observation:|(?=<answer>)|\Z"),
}
_IN_OBJECT: Final = re.compile(
    r"(?<!\\)(?:</?(?:tool_call|tool_response|function)\b|\[TOOL_CALLS\]|to=functions\.|\b(?:Action|Observation):"
    r"|<\|(?:python_tag|eom_id|tool_call_begin|tool_call_end|call)\|>)",
    re.IGNORECASE,
)
_HEAD: Final = re.compile(
    r"\s{0,60}(?:functions\.)?([\w.-]{1,100})(?::\d+)?\s{0,60}(?:\[CALL_ID\][\w-]*\s{0,60})?"
    r"(?:>|\[ARGS\]|<\|tool_call_argument_begin\|>|(?=<arg_key>)|Action Input:|[^\n{}]{0,60}<\|message\|>)"
)
_NAMES: Final = ("name", "function", *CALL_KEYS)
_NO_ARGUMENTS: Final = (*_NAMES, "type", "id", "thought")
_MAX_CALLS: Final = 32
_MAX_MARKS: Final = 500  # what stands behind more of them is not read


def as_hermes(text: str) -> str:
    """The text with every call between `<tool_call>` tags, one a tag; what cannot be read stays, between its tags.

    A response that the model makes up for a call is left out.
    """
    text = _RESPONSE.sub("", _SPOKEN_OF.sub("`tool_call`", _escape_marks_in_objects(text)))
    marks = list(_MARK.finditer(text))
    written = [text[: marks[0].start()] if marks else text]
    for i, mark in enumerate(marks):
        piece = text[mark.end() : marks[i + 1].start() if i + 1 < len(marks) else len(text)]
        end = _END[mark[0].lower()].search(piece)
        body = piece[: end.start()] if end else piece
        calls = list(_calls_in(mark[0].lower(), body, end=end[0] if end else None)) if i < _MAX_MARKS else []
        if calls:
            written += map(_hermes_text, calls)
        elif body.strip() or end or i + 1 == len(marks):  # not the tag around a call with tags of its own
            written.append(f"<tool_call>{body}{'</tool_call>' if end else ''}")
        written.append(piece[end.end() :] if end else "")
    return "".join(written)


def _escape_marks_in_objects(text: str) -> str:
    """Marks that an argument or an answer only speaks of, as escapes of JSON, which mean the same and mark nothing."""
    written, at = [], 0
    for _, start, end in placed_objects(text):
        written += [text[at:start], _with_escaped_marks(text[start:end])]
        at = end
    return "".join([*written, text[at:]])


def _with_escaped_marks(json_text: str) -> str:
    return _IN_OBJECT.sub(lambda mark: f"\\u{ord(mark[0][0]):04x}{mark[0][1:]}", json_text)


def bare_calls_in(text: str, *, turn: int) -> FoundCalls:
    """Calls written without any tags: objects with a name and arguments, or a `function`, and nothing else."""
    found = [call for value in json_objects(text) if _is_bare_call(value) and (call := _call_of(value)) is not None]
    named = (call.model_copy(update={"id": f"call_{turn}_{i}"}) for i, call in enumerate(found[:_MAX_CALLS]))
    return FoundCalls(tuple(named))


def _is_bare_call(value: dict[str, Any]) -> bool:
    """A description of a tool, as the prompt lists them, has more parts."""
    inner = value.get("function")
    parts = value.keys() | (inner.keys() if isinstance(inner, dict) else set())
    has_arguments = not parts.isdisjoint(ARGUMENT_KEYS) or isinstance(inner, dict)
    return has_arguments and parts <= {*_NO_ARGUMENTS, *ARGUMENT_KEYS}


def _calls_in(mark: str, body: str, *, end: str | None) -> Iterator[ToolCall]:
    """`end` is the mark behind the call, empty for a form that may go without, None where the call is cut off."""
    head = _HEAD.match(body)
    if head is not None and (mark != "<tool_call>" or "<arg_key>" in body):
        arguments = None if end is None else _arguments_in(body[head.end() :], may_be_none=bool(end))
        read = [{"name": head[1], "arguments": arguments}] if arguments is not None else []
    else:
        read = list(json_objects(body)) or (list(json_objects(body + "}")) if end else [])  # one brace short
    for value in read:
        if (call := _call_of(value)) is not None:
            yield call


def _call_of(value: dict[str, Any]) -> ToolCall | None:
    """A call under the names that models give its parts; arguments may stand beside its name."""
    inner = value.get("function")
    value = inner if isinstance(inner, dict) else value
    name = next((value[key] for key in _NAMES if key in value), None)
    beside = {key: item for key, item in value.items() if key not in _NO_ARGUMENTS}
    arguments = next((value[key] for key in ARGUMENT_KEYS if key in value), beside)
    return call_from({"name": name, "arguments": {} if arguments is None else arguments}, "")


def _arguments_in(written: str, *, may_be_none: bool) -> dict[str, Any] | None:
    """Parameters between tags, else one object, else none if they may be; None where none of these can be read."""
    for key, key_end, value, value_end in (
        ("<parameter=", ">", "", "</parameter>"),
        ("<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"),
    ):
        if key in written:
            return _tagged_arguments(written.split(key)[1:], key_end, value, value_end)
    return {} if may_be_none and not written.strip() else next(json_objects(written), None)


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
    written = json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False)
    return f"<tool_call>{_with_escaped_marks(written)}</tool_call>"
