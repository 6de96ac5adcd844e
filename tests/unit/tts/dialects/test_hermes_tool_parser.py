"""Hermes text is byte-equal to what the published Qwen chat templates give, and is read back however it is mangled.

The golden prompts were rendered from the published template of Qwen3-VL-Instruct. To render them again, point
`GEOTTS_QWEN_TEMPLATE` at a checkpoint's `chat_template.jinja` (jinja2 is in the test environment): the template then
speaks for itself, and the golden file has to agree with it.
"""

import json
import os
from pathlib import Path

import pytest
from support.basics import golden

from tts.dialects.call_forms import bare_calls_in
from tts.dialects.hermes_tool_parser import as_plain_chat, calls_in, wire_schema, without_calls
from tts.domain.messages import ImagePart, Message, TextPart, text_message
from tts.domain.tooling import ImageRef, ToolCall, ToolResult
from tts.ports.toolbox import ToolSchema

TOOLS = (
    ToolSchema(
        name="image_zoom_in_tool",
        description='Vergrößert einen Teil: "Box" <b> & more',
        parameters={"type": "object", "properties": {"bbox_2d": {"type": "array"}}, "required": ["bbox_2d"]},
    ),
    ToolSchema(name="search", description="Sucht 東京.", parameters={"type": "object", "properties": {}}),
)
PICTURE = ImagePart(image=ImageRef(sha256="0" * 64, width=10, height=10))
ZOOM = ToolCall(id="c1", name="image_zoom_in_tool", arguments={"bbox_2d": [0, 0.5, 10, 20], "label": "Straße <x>'"})
SEARCH = ToolCall(id="c2", name="search", arguments={})


def observation_of(call, *parts):
    return Message(role="tool", parts=parts, result=ToolResult(call_id=call.id, name=call.name, text=""))


def assistant_message(text, *calls):
    return Message(role="assistant", parts=(TextPart(text=text),) if text else (), tool_calls=calls)


CONVERSATIONS = {
    "one call with a picture": (
        TOOLS,
        text_message("system", "You look."),
        Message(role="user", parts=(PICTURE, TextPart(text="Where?"))),
        assistant_message("A sign.", ZOOM),
        observation_of(ZOOM, TextPart(text="the region"), PICTURE),
    ),
    "two calls at once, without words and without a system text": (
        TOOLS,
        text_message("user", "Where?"),
        assistant_message("", ZOOM, SEARCH),
        observation_of(ZOOM, TextPart(text="a")),
        observation_of(SEARCH, TextPart(text="b\n")),
        assistant_message("Hm."),
        text_message("user", "Go on."),
    ),
    "no tools": ((), text_message("system", "You look."), text_message("user", "Where?"), assistant_message("Here.")),
}


def chatml(messages):
    """What an engine's template makes of a conversation without tool roles."""
    return "".join(f"<|im_start|>{m.role}\n{''.join(map(part_text, m.parts))}<|im_end|>\n" for m in messages)


def part_text(part):
    return part.text if isinstance(part, TextPart) else "<|vision_start|><|image_pad|><|vision_end|>"


def by_template(template, tools, messages):
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)  # as transformers has it
    wire = [
        {
            "role": m.role,
            "content": [
                {"type": "text", "text": p.text} if isinstance(p, TextPart) else {"type": "image"} for p in m.parts
            ],
            "tool_calls": [{"function": {"name": c.name, "arguments": c.arguments}} for c in m.tool_calls],
        }
        for m in messages
    ]
    rendered = environment.from_string(template).render(messages=wire, tools=list(map(wire_schema, tools)) or None)
    return str(rendered)


def test_rendering_is_byte_equal_to_the_published_template():
    ours = {name: chatml(as_plain_chat(messages, tools)) for name, (tools, *messages) in CONVERSATIONS.items()}
    path = os.environ.get("GEOTTS_QWEN_TEMPLATE")
    if path:
        template = Path(path).read_text()
        theirs = {name: by_template(template, tools, messages) for name, (tools, *messages) in CONVERSATIONS.items()}
        golden("hermes_prompts.json", json.dumps(theirs, indent=1, ensure_ascii=False) + "\n")
    assert (
        json.dumps(ours, indent=1, ensure_ascii=False) + "\n"
        == (Path(__file__).parents[3] / "golden" / "hermes_prompts.json").read_text()
    )


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name": "look", "arguments": {"q": "a"}}\n</tool_call>',
        '<tool_call>{"name": "look", "arguments": {"q": "a"}}',
        "<tool_call>{'name': 'look', 'arguments': {'q': 'a'}}</tool_call>",
        '<tool_call>```json\n{"name": "look", "arguments": {"q": "a",},}\n```</tool_call>',
        '<tool_call>{"name": "look", "parameters": {"q": "a"}}</tool_call>',
        '<tool_call>{"name": "look", "arguments": "{\\"q\\": \\"a\\"}"}</tool_call>',
        '<TOOL_CALL>{"function": {"name": "look", "arguments": {"q": "a"}}}</TOOL_CALL> and more',
        "<tool_call>｛“name”：“look”，“arguments”：｛“q”：“a”｝｝</tool_call>",
    ],
)
def test_a_call_is_read_in_many_forms(text):
    found = calls_in(text, turn=3)
    assert [(call.id, call.name, call.arguments) for call in found.calls] == [("call_3_0", "look", {"q": "a"})]
    assert not found.problem


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('<tool_call>{"name": "look", "arguments": {"q": ', "cut off"),
        ("<tool_call>look(q)</tool_call>", "cannot be read"),
        ('<tool_call>{"arguments": {"q": 1}}</tool_call>', "cannot be read"),
        ('<tool_call>{"name": "look", "arguments": [1]}</tool_call>', "cannot be read"),
        ("no call at all", ""),
    ],
)
def test_a_tool_call_that_cannot_be_read_gives_a_reason(text, problem):
    found = calls_in(text, turn=0)
    assert found.calls == ()
    assert problem in found.problem


def test_several_calls_keep_their_order_and_arguments_are_never_text():
    text = 'a<tool_call>{"name": "x", "arguments": {}}</tool_call>b<tool_call>{"name": "y"}</tool_call>c'
    assert [call.name for call in calls_in(text, turn=0).calls] == ["x", "y"]
    assert without_calls(text + '<tool_call>{"lat": 1, "lon"') == "abc"
    assert [call.name for call in bare_calls_in('{"name": "x", "arguments": {"a": 1}}', turn=0).calls] == ["x"]
    assert bare_calls_in('{"name": "Otaru", "lat": 1, "lon": 2}', turn=0).calls == ()
