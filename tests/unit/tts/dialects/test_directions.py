"""What a leader is asked for its siblings, and how its reply is read."""

import pytest

from tts.dialects import DIALECTS
from tts.dialects.base import Task
from tts.dialects.directions import ask_for_directions, directions_in, give_direction


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<directions>\n1. the plate\n2) the tram\n</directions>\nI zoom.", ("the plate", "the tram")),
        ("<directions>\n- the plate\n* the plate\n\n• 3 flags\n</directions>", ("the plate", "3 flags")),
        ("<directions>the plate", ("the plate",)),
        ("I zoom into the plate.", ()),
        ("<directions></directions>", ()),
        ("Inside <directions></directions>:\n<directions>the plate</directions>", ("the plate",)),
        ("<think><directions>a draft</directions></think><directions>the plate</directions>", ("the plate",)),
        (f"<directions>{'x' * 500}</directions>", ("x" * 200,)),
    ],
)
def test_directions_are_read_from_the_lines_of_the_directions_block(text, found):
    assert directions_in(text, 8) == found


def test_no_more_directions_are_read_than_were_asked_for():
    assert directions_in("<directions>\na\nb\nc\n</directions>", 2) == ("a", "b")
    assert directions_in("<directions>\na\n</directions>", 0) == ()


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_text_about_directions_is_appended_to_the_prompt_of_every_dialect(name, blank_photo):
    opening = DIALECTS[name].opening(Task((blank_photo,)))
    for changed in (ask_for_directions(opening, 4), give_direction(opening, "the plate", ("the tram",))):
        assert changed[:-1] == opening[:-1]
        assert changed[-1].role == "user"
        assert changed[-1].parts[: len(opening[-1].parts)] == opening[-1].parts
        assert len(changed[-1].parts) == len(opening[-1].parts) + 1


def test_a_sibling_is_told_its_direction_and_those_of_the_others(blank_photo):
    opening = DIALECTS["generic"].opening(Task((blank_photo,)))
    text = give_direction(opening, "the plate", ("the tram", "the flag"))[-1].text
    assert "- the tram\n- the flag\nLeave these to them. Begin with this line of enquiry: 'the plate'." in text
    assert "Begin with something else." in give_direction(opening, "", ("the tram",))[-1].text
