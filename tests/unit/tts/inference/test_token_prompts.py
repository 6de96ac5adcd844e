"""A conversation as token ids: what the model said comes back as it was, and every prompt extends the one before."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tts.domain.messages import ImagePart, Message, TextPart, text_message
from tts.domain.tooling import ImageRef, ToolCall
from tts.inference.token_prompts import TokenPrompts
from tts.ports.toolbox import ToolSchema

END = 999
LOOK = ToolSchema(name="look", description="Look closer.", parameters={"type": "object"})
PHOTO = ImagePart(image=ImageRef(sha256="ab", width=4, height=3))


class Letters:
    """A tokenizer whose tokens are letters; `<end>` is one token. The template writes role, content and `<end>`."""

    end_of_turn = END

    def __init__(self, lists_tools=True):
        self.lists_tools = lists_tools
        self.encoded = []

    def render(self, messages, tools):
        listed = f"tools={json.dumps([tool['function']['name'] for tool in tools])}|" if tools else ""
        return listed + "".join(f"{m['role']}:{self._content(m)}<end>|" for m in messages) + "assistant:"

    def encode(self, text):
        self.encoded.append(text)
        pieces = text.split("<end>")
        ids = [ord(letter) for letter in pieces[0]]
        for piece in pieces[1:]:
            ids += [END, *map(ord, piece)]
        return ids

    @staticmethod
    def _content(message):
        content = message["content"]
        return content if isinstance(content, str) else "".join(part.get("text", "<pic>") for part in content)


def text_of_ids(ids):
    return "".join("<end>" if i == END else chr(i) for i in ids)


def assistant_message(*ids, text=""):
    return Message(role="assistant", parts=(TextPart(text=text),) if text else (), token_ids=ids)


def test_earlier_turns_of_the_model_keep_their_token_ids_in_the_prompt():
    odd = (70000, 70001, END)  # ids that no text encodes to
    opening = (text_message("system", "s"), Message(role="user", parts=(PHOTO, TextPart(text="where?"))))
    prompt = TokenPrompts(Letters()).prompt(
        "a/0", (*opening, assistant_message(*odd), text_message("user", "go on")), ()
    )
    ids = prompt.token_ids
    at = ids.index(70000)
    assert ids[at : at + 3] == list(odd)
    assert text_of_ids(ids[:at]) == "system:s<end>|user:<pic>where?<end>|assistant:"
    assert text_of_ids(ids[at + 2 :]) == "<end>|user:go on<end>|assistant:"
    assert prompt.images == (PHOTO.image,)


def test_an_earlier_turn_that_was_cut_off_gets_an_end_token():
    prompt = TokenPrompts(Letters()).prompt(
        "a/0", (text_message("user", "x"), assistant_message(65), text_message("user", "y")), ()
    )
    assert text_of_ids(prompt.token_ids) == "user:x<end>|assistant:A<end>|user:y<end>|assistant:"


def test_a_message_of_another_engine_is_written_with_its_calls():
    foreign = Message(role="assistant", tool_calls=(ToolCall(id="1", name="look", arguments={"q": "ü"}),))
    prompt = TokenPrompts(Letters()).prompt("a/0", (text_message("user", "x"), foreign), (LOOK,))
    assert '<tool_call>\n{"name": "look", "arguments": {"q": "ü"}}\n</tool_call>' in text_of_ids(prompt.token_ids)


@pytest.mark.parametrize(("native", "start"), [(True, 'tools=["look"]|'), (False, "system:# Tools")])
def test_tools_are_described_natively_or_in_the_system_text_as_the_template_needs(native, start):
    prompt = TokenPrompts(Letters(lists_tools=native)).prompt("a/0", (text_message("user", "x"),), (LOOK,))
    assert text_of_ids(prompt.token_ids).startswith(start)


def test_only_new_messages_of_a_conversation_are_tokenised():
    letters = Letters()
    conversations = TokenPrompts(letters)
    opening = (text_message("system", "a long system text"), text_message("user", "x"))
    conversations.prompt("a/0", opening, ())
    letters.encoded.clear()
    conversations.prompt("a/0", (*opening, assistant_message(65, END), text_message("user", "y")), ())
    assert letters.encoded == ["<end>|user:y<end>|assistant:"]


@given(
    turns=st.lists(
        st.tuples(st.lists(st.integers(65, 90), max_size=5), st.booleans(), st.text("abc ", max_size=8)), max_size=6
    ),
    forgets=st.booleans(),
)
def test_every_prompt_extends_the_one_before_and_what_was_generated(turns, forgets):
    conversations = TokenPrompts(Letters())
    messages: tuple[Message, ...] = (text_message("system", "s"), text_message("user", "where?"))
    before = conversations.prompt("a/0", messages, (LOOK,)).token_ids
    for generated, ended, reply in turns:
        ids = [*generated, END] if ended else generated
        messages = (*messages, assistant_message(*ids), text_message("tool", reply))
        if forgets:
            conversations = TokenPrompts(Letters())
        prompt = conversations.prompt("a/0", messages, (LOOK,)).token_ids
        assert prompt[: len(before) + len(ids)] == before + ids
        before = prompt
